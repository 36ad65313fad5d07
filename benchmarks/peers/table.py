"""The tables, in Markdown, made from the records: `python benchmarks/peers/table.py OUT DOCS`."""

import math
import sys
from pathlib import Path

import caveats
import plan
import plots
from claims import claims
from libraries import FIXED, LIBRARIES
from report import Claim
from summary import Summary, geometric_mean

MIB, KIB = 2**20, 2**10
FILE = "benchmarks.md"


def write(out: Path, docs: Path) -> list[Claim]:
    """Write the tables and the plots; return the claims."""
    found = Summary(out)
    kept = claims(found)
    docs.mkdir(parents=True, exist_ok=True)
    drawn = plots.draw(found, docs)
    (docs / FILE).write_text(text(found, kept, drawn))
    return kept


def text(found: Summary, kept: list[Claim], drawn: list[str]) -> str:
    parts = [
        "# marginboost and other libraries",
        caveats.how(found),
        "## Claims",
        _claims(kept),
        "## Accuracy",
        *_picture(plots.ERROR, "Test error by set, and mean ranks", drawn),
        *_metric(found, "Test error, %", "error", 100, 2, ranks=True),
        *_metric(found, "Log loss, nats", "log_loss", 1, 4, ranks=True),
        "## Time",
        *_picture(plots.FIT, f"Time to fit over that of {LIBRARIES[FIXED].title}, by set", drawn),
        *_metric(found, "Fit, seconds", "fit_seconds", 1, 3),
        *_ratios(found, "Fit: time", "fit_seconds"),
        *_metric(found, "Prediction of all test rows, µs per row", "batch_microseconds", 1, 2),
        *_ratios(found, "Prediction of all test rows: time", "batch_microseconds"),
        *_metric(found, "Prediction of one row from Python, µs", "row_microseconds", 1, 1),
        "## Memory",
        *_metric(found, "Peak memory of a fit beside the data, MiB", "peak_bytes", 1 / MIB, 1),
        *_ratios(found, "Peak memory of a fit", "peak_bytes"),
        *_metric(found, "Saved model, KiB", "model_bytes", 1 / KIB, 0),
        "## Growth",
        *_picture(plots.CLASSES, "Time to fit against the number of classes", drawn),
        *[part for axis in plan.AXES for part in _axis(found, axis)],
        "## The sets",
        _sets(found),
    ]
    return "\n\n".join(parts) + "\n"


def status_words(found: dict) -> str:
    if found["status"] == "limit":
        return f"> {found['limit']:g} s"
    return f"{found['status']}: {found.get('message', '')}"


def _grid(columns: list[str], rows: list[list[str]]) -> str:
    line = "|" + "---|" + "---:|" * (len(columns) - 1)
    return "\n".join([_row(columns), line, *map(_row, rows)])


def _row(cells):
    return "| " + " | ".join(cells) + " |"


def _picture(name, words, drawn):
    return [f"![{words}]({name})"] if name in drawn else []


def _claims(kept):
    rows = []
    for claim in kept:
        bound = "at least" if claim.at_least else "at most"
        measured = "not measured" if math.isnan(claim.measured) else _short(claim.measured)
        holds = "yes" if claim.holds else "**no**"
        rows.append([claim.text, measured, f"{bound} {_short(claim.limit)}", holds])
    return _grid(["claim", "measured", "bound", "holds"], rows)


def _titles(libraries):
    return [LIBRARIES[library].title for library in libraries]


def _metric(found, title, metric, scale, digits, *, ranks=False):
    """Return a table of a metric, sets by libraries, with the lowest in bold."""
    rows = []
    for name in found.sets:
        values = [found.value(name, library, metric) for library in found.libraries]
        least = min((v for v in values if math.isfinite(v)), default=math.nan)
        cells = [
            _cell(found, name, library, metric, (scale, digits), least)
            for library in found.libraries
        ]
        rows.append([name, *cells])
    if ranks:
        mean = found.mean_ranks(metric)
        rows.append(
            [
                f"mean rank ({len(found.complete)} sets)",
                *[f"{mean[library]:.2f}" for library in found.libraries],
            ]
        )
    return [f"### {title}", _grid(["set", *_titles(found.libraries)], rows)]


def _cell(found, name, library, metric, form, least):
    cell = found.cells.get((name, library))
    if cell is None:
        return "-"
    value = cell.means.get(metric)
    if cell.status == "limit" and value is None:
        return f"> {cell.limit:g} s"
    if value is None:
        return "failed" if cell.status == "failed" else "-"
    scale, digits = form
    shown = f"{'> ' if cell.status == 'limit' else ''}{scale * value:,.{digits}f}"
    return f"**{shown}**" if value <= least else shown


def _ratios(found, title, metric):
    """Return a table of each library's value over ours with as many rounds."""
    if FIXED not in found.libraries or not found.peers:
        return []
    others = [library for library in found.libraries if library != FIXED]
    by_library = {library: found.ratios(library, metric, FIXED) for library in others}
    best = found.ratios_to_best(metric, FIXED)
    rows = []
    for name in found.sets:
        cells = []
        for library, ratios in by_library.items():
            cut = metric == "fit_seconds" and found.is_cut(name, library)
            cells.append((">" if cut else "") + _short(ratios[name]) if name in ratios else "-")
        rows.append([name, *cells, _short(best[name]) if name in best else "-"])
    means = [geometric_mean(ratios.values()) for ratios in (*by_library.values(), best)]
    rows.append(["geometric mean", *map(_short, means)])
    return [
        f"### {title}, over that of {LIBRARIES[FIXED].title}",
        _grid(["set", *_titles(others), "lowest of a peer"], rows),
    ]


def _axis(found, axis):
    """Return a table of the time along an axis, with growth factors."""
    if not found.axes[axis]:
        return []
    libraries = [library for library in found.libraries if library != FIXED]
    curves = {library: found.curve(axis, library) for library in libraries}
    places = sorted({point.at for points in curves.values() for point in points})
    rows = []
    for place in places:
        cells = []
        for points in curves.values():
            point = next((p for p in points if p.at == place), None)
            cells.append(_seconds(point))
        rows.append([f"{place:,}", *cells])
    factors = []
    for library in libraries:
        factor, bound = found.growth(axis, library)
        factors.append("-" if math.isnan(factor) else f"{'> ' if bound else ''}{factor:.3g}")
    rows.append(["last over first", *factors])
    still = [f"{n:,} {word}" for word, n in _fixed(found, axis).items()]
    title = f"### Seconds to fit {plan.GROWTH_ROUNDS} rounds against {axis}, {' and '.join(still)}"
    return [title, _grid([axis, *_titles(libraries)], rows)]


def _fixed(found, axis):
    request = found.axes[axis][0]["request"]
    return {word: request[word] for word in plan.PLACE if word != axis}


def _seconds(point):
    if point is None or math.isnan(point.seconds):
        return "-"
    return f"> {point.seconds:g}" if point.cut else f"{point.seconds:.3f}"


def _sets(found):
    rows = []
    for name in found.sets:
        records = [r for r in found.records if r["request"]["set"] == name]
        shape = next((r["found"] for r in records if "rows" in r["found"]), {})
        splits = len({r["request"]["split"] for r in records})
        counts = [shape.get(key) for key in ("rows", "test_rows", "features", "classes")]
        rows.append([name, *["-" if n is None else f"{n:,}" for n in counts], str(splits)])
    return _grid(["set", "rows to train", "rows to test", "features", "classes", "splits"], rows)


def _short(value):
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    for claim in write(Path(sys.argv[1]), Path(sys.argv[2])):
        print(claim)
