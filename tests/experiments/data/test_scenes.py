"""Photographs in a zip file."""

import io
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_sample_images

from experiments.data.errors import MissingData, WrongData
from experiments.data.scenes import FILE, SceneShelf, pixel_checksum

pytest.importorskip("PIL")
from PIL import Image

NAMES = ["train/Store/image_0002.jpg", "test/Store/image_0001.jpg", "train/Coast/image_0001.jpg"]


def photographs():
    """Return three parts of the sample images, as JPEG files."""
    china, flower = load_sample_images().images
    parts = (china[:60, :80], china[200:290, 300:350], flower[100:170, 200:280])
    return [np.asarray(Image.fromarray(part).convert("L")) for part in parts]


def archive(path, prefix="", progressive=False, photos=None):
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{prefix}README.md", "a course's copy")
        for name, photo in zip(NAMES, photos or photographs(), strict=True):
            content = io.BytesIO()
            Image.fromarray(photo).save(content, "jpeg", quality=95, progressive=progressive)
            file.writestr(prefix + name, content.getvalue())
    return path


def shelf(site, tmp_path, folder=None):
    """Return a shelf whose source is the site, which publishes the photographs in a folder."""
    archive(site.folder / "scenes.zip", "Scenes-57e584d/data/", progressive=True)
    pixels = pixel_checksum(archive(tmp_path / "made" / FILE))
    return SceneShelf(folder, tmp_path / "cache", f"{site.url}/scenes.zip", "0" * 64, pixels)


def assert_right(scenes):
    assert scenes.names.tolist() == sorted(NAMES)
    assert scenes.y.tolist() == ["Store", "Coast", "Store"]
    assert scenes.test.tolist() == [True, False, False]
    assert len(scenes) == 3
    with zipfile.ZipFile(scenes.archive) as file:
        expected = [Image.open(io.BytesIO(file.read(name))) for name in sorted(NAMES)]
    for number, (ours, theirs) in enumerate(zip(scenes.images(), expected, strict=True)):
        assert ours.dtype == np.uint8
        np.testing.assert_array_equal(ours, np.asarray(theirs))
        np.testing.assert_array_equal(scenes.image(number), ours)
    assert [image.shape for image in scenes.images([2, 0])] == [(60, 80), (90, 50)]


def test_photographs_are_fetched_once(site, tmp_path):
    places = shelf(site, tmp_path)
    assert places.find() is None
    for _ in range(2):
        assert_right(places.load())
    assert site.asked == ["/scenes.zip"]
    assert places.find() == "cache"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [FILE]


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_cache_is_filled_anew(site, tmp_path, damage):
    places = shelf(site, tmp_path)
    path = places.load().archive
    content = bytearray(path.read_bytes())
    content[200] ^= 255
    path.write_bytes(content if damage == "flipped" else content[:500])
    assert_right(places.load())
    assert site.asked == ["/scenes.zip"] * 2


def test_the_folder_comes_first(site, tmp_path):
    archive(tmp_path / FILE)
    assert_right(shelf(site, tmp_path, tmp_path).load())
    assert not site.asked


def test_a_wrong_file_in_the_folder(site, tmp_path):
    photos = photographs()
    photos[1] = photos[1].T
    archive(tmp_path / FILE, photos=photos)
    with pytest.raises(WrongData, match="must hold the photographs with checksum"):
        shelf(site, tmp_path, tmp_path).load()
    (tmp_path / FILE).write_text("no zip file")
    with pytest.raises(WrongData, match="must be a zip file"):
        shelf(site, tmp_path, tmp_path).load()


def test_other_photographs_at_the_source(site, tmp_path):
    places = shelf(site, tmp_path)
    archive(site.folder / "scenes.zip", photos=photographs()[::-1])
    with pytest.raises(
        MissingData, match=r"WrongData: its photographs must have(.|\n)*scene15_images"
    ):
        places.load()
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_server(tmp_path):
    with pytest.raises(MissingData, match="could not be fetched from http://127"):
        SceneShelf(None, tmp_path, "http://127.0.0.1:9/scenes.zip").load()
