"""The report in a real browser: it runs, fits a phone, and can be read in light and dark."""

import numpy as np
import pandas as pd
import pytest
from chromium import Chromium
from sklearn.metrics import accuracy_score, recall_score
from support import embedded

from marginboost import MarginBoostClassifier, MCBoostClassifier
from marginboost.report import write_report

LEAST_CONTRAST = 4.5

# For every piece of text: its colour, what is painted behind it, and how far apart they are.
CONTRASTS = """
(() => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.]+/g).map(Number);
    return [numbers[0], numbers[1], numbers[2], numbers.length > 3 ? numbers[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map((c) => top[c] * top[3] + below[c] * (1 - top[3])).concat(1);
  const light = (c) => {
    const linear = c.slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const page = parse(getComputedStyle(document.body).backgroundColor);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e !== null; e = e.parentElement) {
      layers.push(parse(getComputedStyle(e).backgroundColor));
      if (e.tagName === "svg" && element.tagName === "text" && element.previousElementSibling !== null
          && /on-(light|dark)/.test(element.getAttribute("class"))) {
        const style = getComputedStyle(element.previousElementSibling);
        const fill = parse(style.fill);
        layers.push([...fill.slice(0, 3), fill[3] * Number(style.fillOpacity)]);
      }
    }
    return layers.reverse().reduce((below, top) => over(top, below), page);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
    if (!own || ["SCRIPT", "STYLE", "OPTION", "title"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    if (style.display === "none" || element.getClientRects().length === 0) continue;
    const below = behind(element);
    const ink = over(parse(element.tagName === "text" ? style.fill : style.color), below);
    const [a, b] = [light(ink), light(below)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.tagName + ": " + element.textContent.slice(0, 40)]);
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(Chromium.find(), tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A report of a poor model, so that it has all parts."""
    X, y = embedded("digits")
    model = MarginBoostClassifier(6, random_state=0).fit(X[:500], y[:500])
    path = tmp_path_factory.mktemp("digits") / "report.html"
    write_report(model, path, X[500:], y[500:])
    return path, y[500:], model.predict(X[500:])


@pytest.fixture(scope="module")
def stumps(tmp_path_factory):
    """A report with long and hostile names, many classes and a chooser of classes."""
    X, y = embedded("digits")
    names = ["<script>document.title = 'hacked'</script>", "a_very_long_name_" * 10]
    names += [f"pixel {j}" for j in range(62)]
    frame = pd.DataFrame(X, columns=names)
    labels = np.array([f"a class with the rather long name {digit}" for digit in range(10)])[y]
    model = MCBoostClassifier(60).fit(frame[:500], labels[:500])
    path = tmp_path_factory.mktemp("stumps") / "report.html"
    write_report(model, path, frame[500:900], labels[500:900], title=names[0])
    return path


@pytest.mark.parametrize("which", ["digits", "stumps"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1100])
def test_it_runs_fits_and_can_be_read(browser, digits, stumps, which, dark, width):
    browser.open(digits[0] if which == "digits" else stumps, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.run("document.documentElement.className") == "scripted"
    assert browser.run("document.documentElement.scrollWidth") <= width
    contrasts = browser.run(CONTRASTS)
    assert len(contrasts) > 150
    assert [told for told in contrasts if told[0] < LEAST_CONTRAST] == []


def test_numbers_and_sorting(browser, digits):
    path, y, found = digits
    browser.open(path)
    value = browser.run("document.querySelector('.tile .value').textContent")
    assert value == f"{100 * accuracy_score(y, found):.1f}%"
    recall = recall_score(y, found, average=None)
    cells = "[...document.querySelector('.sortable').tBodies[0].rows].map((r) => r.cells[{}].textContent)"
    assert browser.run(cells.format(3)) == [f"{100 * share:.1f}%" for share in recall]
    click = "[...document.querySelectorAll('.sortable th button')].at(3).click()"
    browser.run(click)
    order = np.argsort(recall, kind="stable")
    assert browser.run(cells.format(0)) == [str(digit) for digit in order]
    browser.run(click)
    assert browser.run(cells.format(0))[0] == str(np.argmax(recall))


def test_hostile_names_do_not_run(browser, stumps):
    browser.open(stumps)
    assert browser.run("document.title").startswith("<script>")
    assert browser.run("document.querySelectorAll('script').length") == 1


def test_a_class_can_be_chosen(browser, stumps):
    browser.open(stumps)
    shown = "document.querySelectorAll('.of-class:not(.hidden)').length"
    assert browser.run(shown) == 6 * 6  # classes and charts
    choose = (
        "(() => {{ const c = document.getElementById('class-choice'); c.value = '{}'; "
        "c.dispatchEvent(new Event('change')); }})()"
    )
    browser.run(choose.format(3))
    assert browser.run(shown) == 6
    browser.run(choose.format(""))
    assert browser.run(shown) == 6 * 6


def test_long_tables_show_whole_rows_and_the_rest_on_demand(browser, digits):
    browser.open(digits[0])
    table = "document.querySelector('.sortable[data-limit]')"
    n_shown = f"[...{table}.tBodies[0].rows].filter((r) => r.getClientRects().length > 0).length"
    n_all = browser.run(f"{table}.tBodies[0].rows.length")
    assert n_all > 24
    assert browser.run(n_shown) == 20
    # Nothing scrolls inside the page from top to bottom, which would cut a row.
    cut = "(d) => d.scrollHeight > d.clientHeight + 1"
    assert not browser.run(f"[...document.querySelectorAll('.wide')].some({cut})")
    first = f"{table}.tBodies[0].rows[0].cells[0].textContent"
    before = browser.run(first)
    browser.run(f"{table}.querySelector('th button').click()")
    assert browser.run(n_shown) == 20
    assert browser.run(first) != before
    browser.run("document.querySelector('button.more-rows').click()")
    assert browser.run(n_shown) == n_all


def test_contents_lead_to_their_sections(browser, digits):
    browser.open(digits[0])
    assert browser.run("scrollY") == 0
    browser.run("[...document.querySelectorAll('nav a')].at(-1).click()")
    assert browser.run("scrollY") > 1000


def test_the_frame_of_a_notebook_shows_the_report(browser, tmp_path):
    X, y = embedded("iris")
    model = MCBoostClassifier(5).fit(X, y)
    report = write_report(model, tmp_path / "report.html", X, y, title="In a frame")
    page = tmp_path / "notebook.html"
    page.write_text(
        f"<!doctype html><title>Notebook</title>{report._repr_html_()}", encoding="utf-8"
    )
    browser.open(page)
    assert browser.complaints() == []
    # The sandbox: the notebook cannot be touched from inside, nor the frame from outside.
    assert browser.run("document.querySelector('iframe').contentDocument") is None
    assert browser.run("document.querySelector('iframe').getBoundingClientRect().height") > 500
