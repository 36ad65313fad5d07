"""The results page: numbers into words, Markdown and HTML."""

import html
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib.image
import pytest
from chromium import Chromium
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from experiments.page import summary
from experiments.page.beside import beside_paper
from experiments.page.chapter import Chapter
from experiments.page.headline import _today
from experiments.page.html import html_page, table_html
from experiments.page.markdown import markdown_page, plain, prose, table_markdown
from experiments.page.plots import png
from experiments.page.section import (
    FAILS,
    HOLDS,
    IN_PART,
    UNTESTED,
    Cell,
    Number,
    Plot,
    Section,
    Table,
    Verdict,
    cell_of,
)
from experiments.page.words import ABOVE, BELOW, number_words, slug, table_words
from experiments.page.write import write_markdown, write_page
from experiments.trial import Record, Records, Trial

EVIL = "<script>alert('x')</script> & | `a` *b* _c_ [d](javascript:alert(1)) \\"
PAPER = Number(9.0, 1.0, 50)


def words_of(*cells, **options):
    table = Table("Caption", ["data", *"abcdefgh"[: len(cells)]], [("iris", cells)], **options)
    return table_words(table)


def row_of(*cells, **options):
    return words_of(*cells, **options).rows[0][1]


@pytest.mark.parametrize(
    ("number", "digits", "expected"),
    [
        (Number(9.14, 2.36), 1, "9.1 ± 2.4"),
        (Number(1.03), 2, "1.03"),
        (Number(59820.4, 12), 0, "59,820 ± 12"),
        (Number(0.00031), 2, "0.00031"),
        (Number(0.0, 0.0), 1, "0.0 ± 0.0"),
        (Number(-1.25, 0.5), 2, "\N{MINUS SIGN}1.25 ± 0.50"),
        (Number(math.nan), 1, "no number"),
    ],
)
def test_numbers(number, digits, expected):
    assert number_words(number, digits) == expected


def test_marks_say_on_which_side_of_the_paper_ours_is():
    values = (9.1, 8.9, 10.0, 8.0)
    cells = row_of(*(Cell(Number(value, 1.0), 50, PAPER) for value in values))
    assert [cell.mark for cell in cells] == ["", "", f"{ABOVE} 1.0", f"{BELOW} 1.0"]


def test_nothing_is_marked_where_the_paper_tells_no_spread():
    assert row_of(Cell(Number(5.0), 1, Number(9.0)))[0].mark == ""


def test_the_best_of_ours_is_bold_and_so_is_what_looks_the_same():
    means = (5.21, 5.24, 5.4)
    cells = [Cell(Number(mean), 3, PAPER) for mean in means]
    assert [cell.best for cell in row_of(*cells)] == [True, True, False]
    assert [cell.best for cell in row_of(*cells, best="most")] == [False, False, True]
    assert not any(cell.best for cell in row_of(*cells, best=None))
    assert not row_of(cells[0])[0].best  # alone
    assert "Bold" not in words_of(cells[0]).note


def test_repeats_that_all_cells_share_are_said_once():
    words = words_of(cell_of([1, 2, 3]), cell_of([2, 3, 4]))
    assert [cell.more for cell in words.rows[0][1]] == ["", ""]
    assert "Mean ± standard deviation of 3 repeats." in words.note


def test_repeats_that_differ_are_said_in_the_cell():
    words = words_of(cell_of([1.0] * 50), cell_of([2.0] * 50), cell_of([3.0]))
    assert [cell.more for cell in words.rows[0][1]] == ["", "", "1 repeat"]
    assert "50 repeats unless a cell says otherwise." in words.note


def test_cells_that_were_not_run_say_so():
    words = words_of(Cell(None, 0, PAPER), Cell(None, 0, None, "needs 400 GB"), Cell())
    assert [cell.ours for cell in words.rows[0][1]] == ["not run", "needs 400 GB", "not run"]
    assert words.rows[0][1][0].paper == "9.0 ± 1.0"
    assert words.note.startswith("Nothing in it was run.")


def test_words_follow_numbers():
    words = row_of(cell_of([1.0], text="of 5"))[0]
    assert (words.ours, words.more) == ("1.0", "of 5")


def test_numbers_have_three_digits_or_fewer_decimals():
    cells = [cell_of([value]) for value in (0.1234, 1.234, 12.345, 123.45, 12345.6)]
    table = Table("", ["", *"abcde"], [("", cells)], digits=3)
    found = [cell.ours for cell in table_words(table).rows[0][1]]
    assert found == ["0.123", "1.23", "12.3", "123", "12,346"]


def test_slugs_are_those_of_code_hosts():
    assert slug("Table V and Figure 3: 14 sets, é") == "table-v-and-figure-3-14-sets-é"
    assert slug("Flowers & wines") == "flowers--wines"


def parsed(markdown):
    """Return the rows of all tables, as a reader of Markdown understands them."""
    rows, cell = [], None
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            cell = token
        elif token.type == "inline" and cell is not None:
            rows[-1].append(token)
        elif token.type in ("th_close", "td_close"):
            cell = None
    return rows


def text_of(token):
    return "".join(child.content for child in token.children if child.type == "text")


def test_a_table_is_read_as_it_was_meant():
    cells = [Cell(Number(5, 1), 9, PAPER), cell_of([7.0] * 9), Cell(None, 0, PAPER)]
    table = Table("C", ["data", "a|b", "c", "d"], [("x | y", cells), (EVIL, cells)])
    head, first, second = parsed(table_markdown(table))
    assert [text_of(token) for token in head] == ["data", "a|b", "c", "d"]
    assert len(first) == len(second) == 4
    assert text_of(first[0]) == "x | y"
    assert text_of(second[0]) == EVIL
    assert first[1].content == f"**5.0 ± 1.0** {BELOW} 4.0<br><sub>paper 9.0 ± 1.0</sub>"
    assert first[2].content == "7.0 ± 0.0"
    assert first[3].content == "not run<br><sub>paper 9.0 ± 1.0</sub>"


@pytest.mark.parametrize("text", [EVIL, "a\nb", "&lt; &amp;amp;", "__init__", "1 < 2 > 1", "~~x~~"])
def test_plain_words_stay_what_they_are(text):
    shown = MarkdownIt("commonmark").renderInline(plain(text))
    assert html.unescape(re.sub("<.*?>", "", shown)) == " ".join(text.split())
    assert "<" not in shown.replace("&lt;", "")


def test_prose_may_be_markdown_but_not_html():
    shown = MarkdownIt("commonmark").render(prose("*a* `<b>` <i>c</i> p<0.05"))
    assert "<em>a</em>" in shown
    assert "<code>&lt;b&gt;</code>" in shown
    assert "<i>" not in shown
    assert "p&lt;0.05" in shown


class Tags(HTMLParser):
    """Collects elements, and sees that they are closed."""

    VOID = ("meta", "img", "br", "hr")

    def __init__(self, text):
        super().__init__()
        self.found, self._open = [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def of(self, *kinds):
        return [attributes for kind, attributes in self.found if kind in kinds]


def record(repeat=0, data="iris", **origin):
    known = {"commit": "abc", "date": "2030-01-02", "cpu": "a CPU", "cpus": 2, "jobs": 2}
    return Record(Trial(data, "exp", repeat), {"wrong": 0, "n_test": 1}, known | origin)


@pytest.fixture
def chapters(tmp_path):
    def draw(figure):
        figure.subplots().plot([1, 2], [3, 4], label="a")

    odd = Section(
        title=f"Odd {EVIL}",
        protocol=EVIL,
        tables=[Table(EVIL, [EVIL, EVIL], [(EVIL, [Cell(text=EVIL)])])],
        plots=[Plot("odd", EVIL, draw, 3, 2)],
        verdicts=[
            Verdict(EVIL, FAILS, EVIL),
            Verdict("one", HOLDS, "1"),
            Verdict("two", IN_PART, "2"),
            Verdict("three", UNTESTED, "3"),
        ],
        findings=[EVIL],
    )
    even = Section("Even", "Words.", [Table("T", ["d", "m"], [("x", [cell_of([1.0, 2.0])])])])
    records = Records([record(0), record(1, date="2030-01-05"), record(2, "reuters52", cpu=EVIL)])
    return [
        Chapter("odd", odd, records, 50, tmp_path / "odd.json", (EVIL,)),
        Chapter("even", even, records[:1], 5),
    ]


def test_the_page_in_html_holds_no_script_whatever_the_words_are(chapters, tmp_path):
    pictures = {"odd": png(chapters[0].section.plots[0])}
    page = Tags(html_page(chapters, tmp_path, pictures))
    assert page.of("script", "iframe", "object", "link") == []
    assert not any(name.startswith("on") for _, a in page.found for name in a)
    hrefs = [a["href"] for a in page.of("a")]
    assert not any(href.startswith("javascript") for href in hrefs)
    assert [a["src"][:22] for a in page.of("img")] == ["data:image/png;base64,"]
    policy = next(a["content"] for a in page.of("meta") if "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    anchors = {a["id"] for a in page.of("h2") if "id" in a}
    assert {href[1:] for href in hrefs if href.startswith("#")} <= anchors


def test_tables_in_html(chapters):
    cells = [Cell(Number(5, 1), 9, PAPER), Cell(Number(7, 1), 8, PAPER), Cell(None, 0, PAPER)]
    text = table_html(Table("C", ["d", "a", "b", "c"], [("x", cells)]))
    Tags(text)
    assert '<span class="best">5.0 ± 1.0</span>' in text
    assert text.count('class="differs"') == 2
    assert '<span class="quiet">8 repeats</span>' in text
    assert '<span class="none">not run</span>' in text
    assert text.count("paper 9.0 ± 1.0") == 3


def test_the_page_in_markdown(chapters, tmp_path):
    text = markdown_page(chapters, tmp_path, "plots")
    shown = MarkdownIt("commonmark").enable("table").render(text)
    assert "<script" not in shown
    assert "javascript:" not in re.sub(r"\[d\]\(javascript", "", shown)
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[:3] == ["The paper's claims", "How to reproduce this page", "What was run"]
    assert "(odd.json)" in text
    assert "Even" in headings
    for link in re.findall(r"\]\(#([^)]*)\)", text):
        assert link in summary.anchors(chapters).values()


def test_the_page_begins_with_all_verdicts(chapters, tmp_path):
    rows = parsed(markdown_page(chapters, tmp_path, "plots"))
    assert [text_of(token) for token in rows[0]] == ["Claim", "Verdict", "Evidence", "See"]
    judgements = [text_of(row[1]) for row in rows[1:5]]
    assert judgements == ["✘ does not hold", "✔ holds", "◐ holds in part", "? not tested"]


def test_the_page_says_what_was_run(chapters, tmp_path):
    text = markdown_page(chapters, tmp_path, "plots")
    assert "| 1 to 2 | 50 | 3 | 2030-01-02 to 2030-01-05 | abc |" in text
    assert "| 1 | 5 | 1 | 2030-01-02 | abc |" in text
    assert "- a CPU, 2 cores" in text
    assert "reuters52: replaces the paper's rcv1" in text
    assert "Not all trials could be run here" in text


def test_titles_that_are_alike_have_anchors_of_their_own(chapters):
    twice = [chapters[1], Chapter("other", chapters[1].section, chapters[1].records, 5)]
    assert summary.anchors(twice) == {"even": "even", "other": "even-1"}


def test_pictures_are_png_of_the_size_asked_for_and_always_the_same(chapters, tmp_path):
    plot = chapters[0].section.plots[0]
    one, other = png(plot), png(plot)
    assert one == other
    (tmp_path / "p.png").write_bytes(one)
    height, width = matplotlib.image.imread(tmp_path / "p.png").shape[:2]
    assert width / height == pytest.approx(plot.width / plot.height, rel=0.01)


def test_files_of_the_page(chapters, tmp_path):
    page = write_page(chapters, tmp_path / "a" / "b")
    names = {str(path.relative_to(page.parent)) for path in page.parent.rglob("*.*")}
    assert {name.replace("\\", "/") for name in names} == {
        "results.md",
        "results.html",
        "results/odd.png",
    }
    assert "(results/odd.png)" in page.read_text("utf-8")
    assert "(../../odd.json)" in page.read_text("utf-8")


def test_the_page_in_markdown_alone(chapters, tmp_path):
    page = write_markdown(chapters, tmp_path / "docs")
    names = {path.relative_to(page.parent).as_posix() for path in page.parent.rglob("*.*")}
    pages = {f"results/{name}.md" for name in ("odd", "even", "runs")}
    assert names == pages | {"results.md", "results/odd.png", "results/summary.png"}
    text = page.read_text("utf-8")
    assert all(f"]({name})" in text for name in pages)
    assert "Of 4 claims, 1 holds, 1 holds in part, 1 does not, 1 is not tested." in text
    chapter = (page.parent / "results" / "odd.md").read_text("utf-8")
    assert chapter.startswith("# Odd")
    assert "](odd.png)" in chapter
    assert "](../results.md)" in chapter
    assert "(../../odd.json)" in chapter


def test_the_page_says_at_its_top_that_it_is_small(chapters, tmp_path):
    small = [replace(chapter, small=True) for chapter in chapters]
    pictures = {"odd": png(chapters[0].section.plots[0])}
    for held, expected in ((small, 1), (chapters, 0)):
        text = markdown_page(held, tmp_path, "results")
        assert text.count("This is the small version") == expected
        assert text.split("\n\n")[1].startswith("**This is") == expected
        text = html_page(held, tmp_path, pictures)
        Tags(text)
        assert text.count("<strong>This is the small version</strong>") == expected


def test_two_plots_of_one_name_are_refused(chapters, tmp_path):
    with pytest.raises(ValueError, match="a name of its own"):
        write_page([chapters[0], chapters[0]], tmp_path)


def test_in_a_browser(chapters, tmp_path, tmp_path_factory):
    program = Chromium.find()
    many = [(f"set {n}", [Cell(Number(n, 1), 3, PAPER)] * 8) for n in range(5)]
    wide = Section("Wide", "", [Table("T", ["data", *map(str, range(8))], many)])
    write_page([*chapters, Chapter("wide", wide, chapters[0].records, 5)], tmp_path)
    browser = Chromium(program, tmp_path_factory.mktemp("profile"))
    try:
        for width, dark in ((390, False), (1100, True)):
            browser.open(tmp_path / "results.html", width=width, dark=dark)
            asked = [url for url in browser.complaints() if not str(url).startswith("data:image")]
            assert asked == []
            # Wide tables scroll by themselves; the page does not.
            assert browser.run("document.documentElement.scrollWidth") <= width
            assert browser.run("document.images[0].naturalWidth") > 100
    finally:
        browser.close()


def test_a_table_is_drawn_beside_the_paper():
    rows = [
        (name, [cell_of({0: 5.0, 1: 7.0}, Number(6.0, 1.0, 50)), cell_of([])]) for name in "abcde"
    ]
    tables = [Table("", ["data", "one", "two"], rows)] * 2
    plot = beside_paper("beside", tables, labels=["first", "second"])
    figure = Figure(layout="constrained")
    plot.draw(figure)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left") or axes.get_title() for axes in panels] == list("abcde")
    # Headings only where no panel is below; ours and the paper's mark of each table.
    assert [bool(axes.get_xticklabels()[0].get_text()) for axes in panels] == [False, *[True] * 4]
    assert len(panels[0].containers) == 4
    assert "first, second" in plot.caption


def test_todays_defaults_are_compared_on_common_draws():
    def record(data, method, repeat, wrong):
        return Record(Trial(data, method, repeat), {"wrong": wrong, "n_test": 100}, {})

    records = [
        record(f"set {n}", method, repeat, wrong)
        for n in range(6)
        for method, wrong in (("marginboost", 5), ("log", 10), ("lightgbm", 4 if n else 10))
        for repeat in range(5)
    ]
    records += [record("set 0", "log", 9, 90)]  # a draw of one method alone
    (told,) = _today(Records(records))
    assert "0.50 times as often as MCBoost-log (less often on 6 of 6 sets)" in told
    assert "as LightGBM (less often on 1 of 6 sets)" in told
    assert _today(Records(records[:45])) == []
