import numpy as np

from experiments.features.block_pyramid import Block, membership, pyramid


def test_has_the_papers_number_of_blocks():
    blocks = pyramid((28, 28), (4, 7, 14))
    assert [sum(b.size == size for b in blocks) for size in (4, 7, 14)] == [133, 40, 8]
    assert len(blocks) * 12 == 2172
    assert len(set(blocks)) == len(blocks)


def test_blocks_lie_inside_and_half_a_block_apart():
    for block in pyramid((28, 28), (4, 7, 14)):
        assert 0 <= block.row <= 28 - block.size
        assert 0 <= block.column <= 28 - block.size
    of_seven = {(b.row, b.column) for b in pyramid((28, 28), (7,))}
    assert {(0, 0), (0, 4), (4, 0), (21, 18), (18, 21)} < of_seven
    assert (4, 4) not in of_seven  # none is moved both ways


def test_what_is_left_over_is_shared_by_both_sides():
    assert pyramid((6, 9), (5,)) == [Block(5, 0, 2)]  # no room for a moved one


def test_membership_sums_up_the_pixels_of_each_block():
    image = np.random.default_rng(0).random((9, 11), dtype=np.float32)
    blocks = pyramid(image.shape, (2, 3))
    sums = image.reshape(-1) @ membership(image.shape, blocks)
    brute = [image[r : r + n, c : c + n].sum() for n, r, c in blocks]
    np.testing.assert_allclose(sums, brute, rtol=1e-5)
