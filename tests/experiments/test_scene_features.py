import numpy as np
import pytest

from experiments import scene_features
from experiments.draws import Split
from experiments.scene_features import (
    CROPS,
    SCENES,
    crops,
    drawn_for_training,
    scene_split,
    within_training,
)


def test_draws_as_many_of_each_category():
    y = np.repeat(["a", "b", "c"], [9, 5, 7])
    train = drawn_for_training(y, 4, seed=1)
    assert [train[y == name].sum() for name in "abc"] == [4, 4, 4]
    assert not np.array_equal(train, drawn_for_training(y, 4, seed=2))


def test_choices_see_training_images_only():
    X = np.arange(20.0)[:, None]
    inner = within_training(Split(X, np.arange(20), X + 100, np.arange(20)), 0.75, seed=3)
    assert (len(inner.y), len(inner.y_test)) == (15, 5)
    assert sorted([*inner.y, *inner.y_test]) == list(range(20))
    for rows, labels in ((inner.X, inner.y), (inner.X_test, inner.y_test)):
        assert np.array_equal(rows[:, 0], labels)
    assert list(inner.y) != sorted(inner.y)  # images come by category


def test_crops_are_parts_of_four_halves():
    images, y = crops()
    assert {image.shape for image in images} == {(80, 80)}
    assert len(images) == len(y)
    assert len(np.unique(y)) == 4
    assert np.unique(y, return_counts=True)[1].min() >= 25


def test_shares_of_words_in_a_block_sum_to_one():
    split = scene_split(CROPS, 0, n_train=5, n_words=4)
    assert split.X.shape == (20, 31 * 4)
    assert split.X.dtype == np.float32
    sums = split.X.reshape(20, 31, 4).sum(axis=2)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
    counts = scene_split(CROPS, 0, "counts", n_train=5, n_words=4)
    assert np.array_equal(counts.y, split.y)
    assert pytest.approx(np.rint(counts.X)) == counts.X
    assert counts.X.max() > 1


def test_levels_can_be_weighted():
    counts = scene_split(CROPS, 0, "counts", n_train=5, n_words=4).X.reshape(20, 31, 4)
    weighted = scene_split(CROPS, 0, "weighted", n_train=5, n_words=4).X.reshape(20, 31, 4)
    assert np.array_equal(weighted[:, 0], counts[:, 0])
    assert np.array_equal(weighted[:, 1:6], 2 * counts[:, 1:6])
    assert np.array_equal(weighted[:, 6:], 4 * counts[:, 6:])


def test_another_draw_has_other_training_images():
    one, two = (scene_split(CROPS, repeat, "counts", n_train=5, n_words=4) for repeat in (0, 1))
    assert not np.array_equal(one.X, two.X)


def test_keeps_the_counts_of_the_scenes_on_disk(tmp_path, monkeypatch):
    described, y = scene_features._described(CROPS, 8, 1)
    asked = []

    def stand_in(data, step, n_jobs):
        asked.append(data)
        return described, y

    monkeypatch.setattr(scene_features, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(scene_features, "_described", stand_in)
    first = scene_features._counts.__wrapped__(SCENES, 0, 8, 5, 4, 1)
    again = scene_features._counts.__wrapped__(SCENES, 0, 8, 5, 4, 1)
    assert asked == [SCENES]
    for one, two in zip(first, again, strict=True):
        assert np.array_equal(one, two)
    scene_features._counts.__wrapped__(SCENES, 0, 4, 5, 4, 1)
    assert len(asked) == len(list(tmp_path.iterdir())) == 2
