"""The built documentation: links, clicks, and what a browser makes of it on a screen and on a phone."""

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
from chromium import Chromium
from page_support import ROOT

pytestmark = pytest.mark.long

PAGES = (
    "index.html",
    "first_model.html",
    "production.html",
    "research.html",
    "guide.html",
    "results.html",
    "results/table5.html",
    "benchmarks.html",
    "unfamiliar.html",
    "migrating.html",
    "api/index.html",
    "api/MarginBoostClassifier.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the built site; the examples of the gallery are not run."""
    for package in ("sphinx", "furo", "myst_parser", "sphinx_gallery", "sphinx_copybutton"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    folder = tmp_path_factory.mktemp("docs")
    for name in ("docs", "examples"):
        ignored = shutil.ignore_patterns("gallery", "api", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "-D", "plot_gallery=0"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    told = subprocess.run(
        [*command, "docs", "site"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Chromium(Chromium.find(), tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.mark.parametrize("tool", ["docs_links", "docs_clicks"])
def test_links_and_clicks(site, tool):
    command = [sys.executable, str(ROOT / "tools" / f"{tool}.py"), str(site)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_links_of_pages_in_folders(site):
    text = (site / "results" / "table5.html").read_text("utf-8")
    assert 'href="../results.html"><span class="std std-doc">All results</span></a>' in text
    assert ">experiments/results/table5.json</span></code> in the repository" in text


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_its_window(site, browser, width, dark):
    for page in PAGES:
        browser.open(site / page, width=width, dark=dark)
        assert browser.run("document.documentElement.scrollWidth") <= width, page
        # Nothing comes from the network, and nothing is missing or logged.
        found = browser.complaints()
        assert [x for x in found if not str(x).startswith(("file:", "data:"))] == [], page


def test_wide_tables_scroll_by_themselves(site, browser):
    browser.open(site / "results" / "table5.html", width=400)
    wide = "[...document.querySelectorAll('.table-wrapper')].filter(e => e.scrollWidth > e.clientWidth)"
    assert browser.run(f"{wide}.length") > 0
    assert browser.run(f"{wide}.every(e => getComputedStyle(e).overflowX === 'auto')")
    first = f"{wide}.map(e => e.querySelector('tbody td')).filter(e => !e.classList.contains('prose'))[0]"
    before = browser.run(f"{first}.getBoundingClientRect().left")
    browser.run(f"{first}.closest('.table-wrapper').scrollLeft = 100")
    after = browser.run(f"{first}.getBoundingClientRect().left")
    assert before - after < 50  # the first column stays in view


def test_every_block_of_code_can_be_copied(site, browser):
    for page in ("index.html", "guide.html", "serving.html"):
        browser.open(site / page)
        blocks = browser.run("document.querySelectorAll('div.highlight pre').length")
        assert blocks > 0
        assert browser.run("document.querySelectorAll('button.copybtn').length") == blocks


def test_the_contents_of_the_guide_are_there_once(site, browser):
    browser.open(site / "guide.html", width=1280)
    for title in ("Serving", "Memory", "Engines"):
        links = (
            f"[...document.querySelectorAll('a')].filter(a => a.textContent.trim() === '{title}')"
        )
        assert browser.run(f"{links}.length") == 1


def test_the_list_of_versions(site, browser, tmp_path):
    for name in ("0.2.0", "dev"):
        shutil.copytree(site, tmp_path / name)
    (tmp_path / "0.2.0" / "research.html").unlink()
    spec = importlib.util.spec_from_file_location("versions", ROOT / "tools" / "docs_versions.py")
    versions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(versions)
    versions.write_switcher(tmp_path, "0.2.0")

    def leaving(script):
        """Run a script; None where the page is just being left."""
        try:
            return browser.run(script)
        except RuntimeError as error:
            if "navigated or closed" not in str(error):
                raise
            return None

    def choose(page, place):
        browser.open(tmp_path / "dev" / page)
        select = "document.querySelector('.version-switcher select')"
        shown = browser.run(f"[...{select}.options].map(o => o.text).join() + ' ' + {select}.value")
        assert shown == "0.2.0,development dev"
        script = f"{select}.selectedIndex = {place}; {select}.dispatchEvent(new Event('change'))"
        leaving(f"{script}; 0")
        for _ in range(10_000):
            href = leaving("document.readyState === 'complete' ? location.href : ''")
            if href and "/dev/" not in href:
                return href
        pytest.fail(f"The list of versions did not leave {page}.")

    assert choose("api/Round.html", 0).endswith("/0.2.0/api/Round.html")
    assert choose("research.html", 0).endswith("/0.2.0/index.html")  # it has no such page


def test_without_versions_there_is_no_list(site, browser):
    browser.open(site / "index.html")
    assert browser.run("document.querySelector('.version-switcher') === null")
