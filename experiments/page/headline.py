"""The page that a reader finishes in two minutes: what held, what did not, what we found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.page.chapter import Chapter
from experiments.page.section import (
    FAILS,
    HOLDS,
    IN_PART,
    UNTESTED,
    Cell,
    Judgement,
    Number,
    Plot,
    Table,
)
from experiments.page.words import FEWEST
from experiments.paper import number
from experiments.rank_test import FEWEST_SETS
from experiments.trial import Records
from marginboost.plot.canvas import COLOURS, GREY

__all__ = ["counts", "found", "picture"]

ORDER: tuple[Judgement, ...] = (HOLDS, IN_PART, FAILS, UNTESTED)
SMALLEST_NU = 1e-8  # of MultiBoost, in the paper's grid


def counts(chapters: Sequence[Chapter]) -> str:
    """Return how many claims hold, and how many numbers agree, in two sentences."""
    judged = Counter(v.judgement for chapter in chapters for v in chapter.section.verdicts)
    verdicts = ", ".join(
        f"{judged[kind]} {_words(kind, judged[kind])}" for kind in ORDER if judged[kind]
    )
    cells = _compared(chapters)
    apart = [cell for cell in cells if cell.differs]
    above = sum(cell.gap is not None and cell.gap.effect > 0 for cell in apart)
    told = f"Of {sum(judged.values())} claims, {verdicts}." if judged else ""
    if cells:
        told += (
            f" Of {len(cells)} comparisons with an error or accuracy that the paper prints (some "
            f"with several of ours), {len(apart)} differ by more than chance (Welch's test, "
            f"p < 0.01): ours is higher in {above}, lower in {len(apart) - above}."
        )
    return told.strip()


def _words(kind: Judgement, n: int) -> str:
    one = {HOLDS: "holds", IN_PART: "holds in part", FAILS: "does not", UNTESTED: "is not tested"}
    more = {HOLDS: "hold", IN_PART: "hold in part", FAILS: "do not", UNTESTED: "are not tested"}
    return (one if n == 1 else more)[kind]


def _compared(chapters: Sequence[Chapter]) -> list[Cell]:
    """Return the cells of the paper's own tables that have a number of ours and one of the paper's."""
    return [
        cell
        for chapter in chapters
        if chapter.name.startswith("table")
        for table in chapter.section.tables
        if _is_percent(table)
        for _, row in table.rows
        for cell in row
        if cell.gap is not None
    ]


def _is_percent(table: Table) -> bool:
    return (
        "in %" in table.caption
        and "other" not in table.caption
        and "mean over" not in table.caption
    )


def found(chapters: Sequence[Chapter]) -> list[str]:
    """Return what we found beside the paper's claims, each with its numbers from the records."""
    held = {chapter.name: chapter.records for chapter in chapters}
    told = [
        "**The coefficients of a round are a balancing problem.** With the exponential loss they "
        "depend on the data only through a k x k matrix, and the best ones balance its row and column "
        "sums: no numerical solver is needed (`experiments/findings/balancing.py`)."
    ]
    told += _vowel(held.get("table5", Records([])), held.get("depth", Records([])))
    told += _untuned(held.get("table8", Records([])))
    told += _starting_point(held.get("table4", Records([])), held.get("choices", Records([])))
    told += _today(held.get("table5", Records([])))
    return told


def _vowel(records: Records, depths: Records) -> list[str]:
    deeper = depths.of("vowel", "log", depth=2)
    other = (
        f" Trees of depth 2 on the original rows give {_mean(deeper)} % too, but fit most other sets "
        "less."
        if len(deeper)
        else ""
    )
    once, twice = (records.of(data, "log") for data in ("vowel", "vowel-1452"))
    paper = number("table5", "vowel", "log")
    if not len(once) or not len(twice) or paper is None:
        return []
    return [
        "**The paper's vowel seems to hold its test points twice.** MCBoost-log errs on "
        f"{_mean(once)} % of the 990 original rows, on {_mean(twice)} % with the 462 test points "
        f"doubled, and in the paper on {paper.mean:g} % "
        f"(`experiments/findings/vowel.py`).{other}"
    ]


def _untuned(records: Records) -> list[str]:
    tuned = records.of("scene15", "svm-linear", n_components=1000, C=None)
    untuned = records.of("scene15", "svm-linear", n_components=1000, C=0.1)
    paper = number("table8", "scene15", "svm-linear", features=1000)
    if not len(tuned) or not len(untuned) or paper is None:
        return []
    return [
        "**The linear SVM that boosting beats seems not to be tuned.** With C cross-validated it "
        f"classifies {100 - float(_mean(tuned)):.1f} % of the scenes, with C = 0.1 on unscaled features "
        f"{100 - float(_mean(untuned)):.1f} %; the paper has {paper.mean:g} % "
        f"(`experiments/findings/untuned_svm.py`).{_weighted(records)}"
    ]


def _weighted(records: Records) -> str:
    """Return what the linear SVM with all features is on features that weigh by level."""
    of = records.of("scene15", "svm-linear", features="weighted", n_components=None)
    paper = number("table8", "scene15", "svm-linear", features=6200)
    if not len(of) or paper is None:
        return ""
    return (
        f" Weights by level would explain some of it too: {100 - float(_mean(of)):.1f} % with all "
        f"features, tuned (paper {paper.mean:g} %)."
    )


def _starting_point(records: Records, choices: Records) -> list[str]:
    """Return how MultiBoost's error depends on where its solver starts, and on nu."""
    starts = ("multiboost", "multiboost-zero")
    chosen = _mean_errors(records, (*starts, "log"))
    tiny = _mean_errors(choices, starts, regularization=SMALLEST_NU)
    if len(chosen) < FEWEST_SETS or not tiny:  # too few to say anything in general
        return []
    warm, zero, ours = np.mean(chosen, axis=0)
    last, none = np.mean(tiny, axis=0)
    return [
        "**Where MultiBoost's solver starts matters if nu is tiny**, and the paper does not say where. "
        f"With the smallest nu of its grid, the mean validation error over {len(tiny)} sets is "
        f"{last:.1f} % if a round starts where the last one ended, and {none:.1f} % from zero. With nu "
        f"cross-validated, the test errors over {len(chosen)} sets are {warm:.1f} and {zero:.1f} %, "
        f"MCBoost-log's {ours:.1f} % (`experiments/findings/starting_point.py`)."
    ]


def _today(records: Records) -> list[str]:
    """Return what today's defaults add on the sets of Table V: ours beside MCBoost and LightGBM."""
    told = []
    for rival, name in (("log", "MCBoost-log"), ("lightgbm", "LightGBM")):
        means = []
        for data in dict.fromkeys(record.trial.data for record in records):
            ours, theirs = (records.of(data, m).by_draw for m in ("marginboost", rival))
            common = ours.keys() & theirs.keys()
            if len(common) >= FEWEST and data != "vowel-1452":
                means.append([float(np.mean([of[n] for n in common])) for of in (ours, theirs)])
        if len(means) < FEWEST_SETS:
            return []
        lower = sum(ours < theirs for ours, theirs in means)
        ratio = float(np.exp(np.mean([np.log(ours / theirs) for ours, theirs in means])))
        told.append(
            f"{ratio:.2f} times as often as {name} (less often on {lower} of {len(means)} sets)"
        )
    return [
        "**What today's defaults add.** On common draws of Table V `MarginBoostClassifier()`, which is "
        f"not in the paper, errs {' and '.join(told)}, in geometric mean. Its defaults were "
        "[chosen](defaults.md) on rows of these sets too, which flatters it ([other "
        "sets](unfamiliar.md))."
    ]


def _mean_errors(records: Records, methods: Sequence[str], **settings: object) -> list[list[float]]:
    """Return, for every set that all methods have seen, their mean errors on common draws."""
    found = []
    for data in dict.fromkeys(record.trial.data for record in records):
        by_draw = [records.of(data, method, **settings).by_draw for method in methods]
        if common := set.intersection(*map(set, by_draw)):
            found.append([float(np.mean([errors[n] for n in common])) for errors in by_draw])
    return found


def _mean(records: Records) -> str:
    return f"{np.mean(records.errors):.1f}"


def picture(chapters: Sequence[Chapter]) -> Plot:
    """Return the one figure: our error against the paper's, for every number of Tables I to V."""
    points: dict[str, list[tuple[Number, Number, bool]]] = {}
    for chapter in chapters:
        if chapter.name not in ("table1", "table2", "table3", "table4", "table5"):
            continue
        for cell in _compared([chapter]):
            if cell.ours is not None and cell.paper is not None:
                name = chapter.section.title.split(":")[0].split(" and ")[0]
                points.setdefault(name, []).append((cell.paper, cell.ours, cell.differs))

    def draw(figure: Any) -> None:
        _scatter(figure, points)

    return Plot(
        "summary",
        "Our test error against the paper's in Tables I to V. Filled: differs by more than chance. "
        "Line: equal.",
        draw,
        6.5,
        5.0,
    )


def _scatter(figure: Any, points: Mapping[str, Sequence[tuple[Number, Number, bool]]]) -> None:
    axes = figure.subplots()
    axes.plot([1, 100], [1, 100], color=GREY, linewidth=1)
    for (name, cells), colour in zip(points.items(), COLOURS, strict=False):
        for differs in (False, True):
            chosen = [(p.mean, o.mean) for p, o, apart in cells if apart == differs]
            if chosen:
                x, y = zip(*chosen, strict=True)
                face = colour if differs else "none"
                label = name if differs == any(apart for *_, apart in cells) else None
                axes.scatter(x, y, s=22, facecolors=face, edgecolors=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="the paper's test error in %")
    axes.set(ylabel="our test error in %")
    if points:
        axes.legend(loc="lower right")
