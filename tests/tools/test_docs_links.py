"""The tools that read the built documentation: broken links, clicks, versions."""

import importlib.util
import json
import subprocess
import sys

import pytest
from page_support import ROOT

sys.path.insert(0, str(ROOT / "tools"))


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links, clicks, versions, pages = map(
    tool, ["docs_links", "docs_clicks", "docs_versions", "site_pages"]
)

INDEX = """<html><head><script src="a.js">not <b>text</b></script></head><body>
<a href="one.html#deep">To <b>deep</b>  water</a><img src="fish.png"><br>
<a href="https://example.org/x">out</a><a href="#top">top</a><p id="top">Top</p></body></html>"""
ONE = '<section id="all">Before <section id="deep">Fish <i>swim</i></section> after</section>'


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text(INDEX, "utf-8")
    (folder / "one.html").write_text(ONE, "utf-8")
    (folder / "a.js").touch()
    (folder / "fish.png").touch()
    return folder


def test_a_page_is_read(site):
    read = pages.read_site(site)
    assert [(link.target, link.text) for link in read["index.html"].links] == [
        ("a.js", ""),
        ("one.html#deep", "To deep water"),
        ("fish.png", ""),
        ("https://example.org/x", "out"),
        ("#top", "top"),
    ]
    assert read["one.html"].sections == {"all": "Before Fish swim after", "deep": "Fish swim"}


def test_links_that_hold(site):
    read = pages.read_site(site)
    assert list(links.broken_links(site, read)) == []
    assert links.external_links(read) == {"https://example.org/x": ["index.html"]}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("one.html#deep", "two.html", "must name a file of the site"),
        ("one.html#deep", "one.html#shallow", "one.html has no 'shallow'"),
        ("#top", "#bottom", "index.html has no 'bottom'"),
        ("fish.png", "bird.png", "must name a file of the site"),
    ],
)
def test_links_that_do_not(site, old, new, found):
    (site / "index.html").write_text(INDEX.replace(f'"{old}"', f'"{new}"'), "utf-8")
    (broken,) = links.broken_links(site, pages.read_site(site))
    assert broken.startswith(f"index.html: {new} ")
    assert found in broken


def test_the_command_fails_for_a_broken_link(site, capsys):
    links.main([str(site), "--external"])
    said = capsys.readouterr().out
    assert "https://example.org/x  (index.html)" in said
    assert "2 pages, 5 links, 0 of them broken; 1 other addresses" in said
    (site / "fish.png").unlink()
    with pytest.raises(SystemExit):
        links.main([str(site)])


def test_links_of_markdown(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "# Title\n[a](docs/a.md#the-bs) [no](docs/b.md) [no](docs/a.md#c)\n`[x](y)`\n", "utf-8"
    )
    (tmp_path / "docs" / "a.md").write_text(
        "# A\n## The `b`'s\n```sh\n# c\n```\n[g](gallery/index.rst)\n", "utf-8"
    )
    found = list(links.broken_markdown(tmp_path))
    assert [line.split(" must ")[0] for line in found] == [
        "README.md: docs/b.md",
        "README.md: docs/a.md#c",
    ]


def test_equal_headings_have_numbers():
    assert links.heading_anchors("# A b\n## A b\n### A, b?") == {"a-b", "a-b-1", "a-b-2"}


def test_the_repository_has_no_broken_links():
    assert list(links.broken_markdown(ROOT)) == []


def test_clicks(site):
    read = pages.read_site(site)
    task = clicks.Task("find fish", ("water",), ("Fish", "swim"))
    assert clicks.find(read, task) == ["To deep water"]
    assert clicks.find(read, task._replace(words=("land",))) is None  # no link says so
    assert clicks.find(read, task._replace(answers=("Before",))) is None  # it is in another section


def test_clicks_are_counted(site):
    (site / "index.html").write_text('<a href="one.html">first</a>', "utf-8")
    (site / "one.html").write_text('<a href="two.html">second</a>', "utf-8")
    (site / "two.html").write_text('<a href="three.html">the goal</a>', "utf-8")
    (site / "three.html").write_text('<p id="x">found</p>', "utf-8")
    read = pages.read_site(site)
    task = clicks.Task("", ("goal",), ("found",))
    assert clicks.find(read, task, most=3) == ["first", "second", "the goal"]
    assert clicks.find(read, task, most=2) is None


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    for tag in ("v0.9.0", "v0.10.0", "v1.0.0rc1", "vivid"):
        (root / "docs" / "index.html").write_text(tag, "utf-8")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", tag], check=True)
        subprocess.run([*git, "tag", tag], check=True)
    return root


def test_releases_are_tags_in_order_of_their_numbers(repository):
    assert versions.released(repository) == ["v0.10.0", "v0.9.0"]


def test_versions_are_built_once_and_know_each_other(repository, tmp_path):
    site = tmp_path / "site"

    def build(root, tag, target):
        versions.export(root, tag, tmp_path / tag)
        target.mkdir()
        for name in ("index.html", *(["new.html"] if tag == "v0.10.0" else [])):
            (target / name).write_text((tmp_path / tag / "docs" / "index.html").read_text("utf-8"))

    def build_checkout(root, target):
        target.mkdir(exist_ok=True)
        (target / "index.html").touch()

    assert versions.build_all(repository, site, build, build_checkout) == ["v0.10.0", "v0.9.0"]
    assert versions.build_all(repository, site, build, build_checkout) == []
    assert (site / "0.9.0" / "index.html").read_text("utf-8") == "v0.9.0"  # of its own time
    assert "0.10.0/index.html" in (site / "index.html").read_text("utf-8")
    told = json.loads((site / "versions.json").read_text("utf-8"))
    assert [entry["title"] for entry in told] == ["0.10.0", "0.9.0", "development"]
    assert [entry["pages"] for entry in told[:2]] == [["index.html", "new.html"], ["index.html"]]
    for folder in ("0.10.0", "0.9.0", "dev"):
        script = (site / folder / "_static" / "versions.js").read_text("utf-8")
        assert (
            json.loads(script.removeprefix("window.MARGINBOOST_VERSIONS = ").rstrip(";\n")) == told
        )
