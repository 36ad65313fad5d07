"""The page: docs/unfamiliar.md and its picture, made from the results alone."""

import math
from pathlib import Path

from benchmarks.report import Claim
from benchmarks.unfamiliar import catalogue, halves, picture, results
from benchmarks.unfamiliar.comparison import METRICS, Comparison
from benchmarks.unfamiliar.libraries import OURS, PEERS

FILE = "unfamiliar.md"
STATIC = f"{OURS}-static"  # an adapting default must beat the best fixed setting
TIMES = 20
WORDS = {
    "study": "study sets, on which defaults may be chosen",
    "fresh": "fresh sets, on which nothing was chosen",
    "fourteen": "dense sets of the [other comparison](benchmarks.md), on which the defaults of 0.1 "
    "were chosen",
}
HOW = """\
How accurate is the library on data that nobody tuned it on? Every library runs at its defaults,
on the same folds: five, stratified and shuffled by a fixed seed, or three from 3,000 rows on.
Classes of fewer than eight rows are left out, and of more than 15,000 rows a stratified sample is
taken. Categories are passed natively where a library takes them, as ordinal codes to ExtraTrees
and to XGBoost with vector leaves. A fit may take {limit:g} seconds of two threads; a library that
takes longer on a set, or fails, ranks last there and is left out of its ratios. An error counts
as (wrong + 1/2) / (rows + 1), and a log loss as (sum + 1/2) / (rows + 1), so that none is zero:
ChimeraBoost gives all rows of mushroom a probability of exactly 1, and a ratio to 0 would drown
the other 79 sets. Intervals are percentiles (95 %) of 10,000 resamples of the sets. A peer that
differs by more than chance has p < 0.05 (Wilcoxon's signed ranks, adjusted by Holm). Seconds are
not published here: the machine was busy.

Nothing was chosen on the fresh sets, but we saw their results between versions, and some of them made
us look for a rule, which was then judged on other data:
[which ones](defaults.md#where-the-rules-come-from).

`python -m benchmarks.unfamiliar` measures and writes this page; the raw results, with versions, the
commit and a digest of the rows, are in `benchmarks/unfamiliar/results`."""


def write(out: Path, docs: Path, ours: str, peers: list[str] | None = None) -> list[Claim]:
    """Write the page and the picture; return the claims on the fresh sets."""
    files = results.read_all(out)
    peers = peers or [name for name in PEERS if name in files]
    groups = {
        group: Comparison(files, ours, peers, list(catalogue.of_group(group)))
        for group in catalogue.GROUPS
    }
    made = claims(groups["fresh"]) + _against_static(files, groups["fresh"])
    titles = {name: files[name]["head"]["title"] for name in (ours, *peers)}
    docs.mkdir(parents=True, exist_ok=True)
    if groups["fresh"].sets:
        picture.draw(groups["fresh"], titles, docs / picture.FILE)
    (docs / FILE).write_text(text(files, groups, titles, made))
    return made


def claims(found: Comparison) -> list[Claim]:
    """Return what must hold on sets on which nothing was chosen."""
    made = []
    for (metric, word), bound in zip(METRICS.items(), (0.93, 0.88), strict=True):
        if not found.sets:
            made.append(Claim(f"fresh sets measured, {word}", 0, 1, at_least=True))
            continue
        placed, ratios = found.mean_ranks(metric), found.ratios(metric)
        nearest = max(found.peers, key=lambda peer: ratios[peer].mean)
        left_out, rest = found.without_largest_gain(metric, nearest)
        made += [
            Claim(
                f"mean rank in {word}, with the best peer's as the bound",
                placed[found.ours].mean,
                min(placed[peer].mean for peer in found.peers),
            ),
            Claim(
                f"{word} over that of the peer that has the lowest, geometric mean",
                ratios[nearest].mean,
                bound,
            ),
            Claim(
                f"the same without {left_out}, on which ours gains most",
                rest,
                bound,
            ),
            Claim(
                f"share of the sets with {word} no higher than that peer's",
                found.shares_no_worse(metric)[nearest],
                0.6,
                at_least=True,
            ),
            Claim(
                f"share of the sets with {word} no higher than the lowest of all peers",
                found.share_no_worse(metric),
                0.6,
                at_least=True,
            ),
            Claim(
                f"sets lost in {word} by more than 10 % and two standard errors",
                len(found.defeats(metric)),
                0,
            ),
        ]
    return made


def _against_static(files, found):
    """Return the claims that ours is better than the fixed setting, where there are results."""
    if STATIC not in files or found.ours == STATIC:
        return []
    both = Comparison(files, found.ours, [STATIC], found.sets)
    return [
        Claim(
            f"{word} over that of the best fixed setting, geometric mean",
            both.ratios(metric)[STATIC].mean,
            1.0,
        )
        for metric, word in METRICS.items()
    ]


def text(files, groups, titles, made) -> str:
    ours = groups["fresh"].ours
    limits = [
        fold["limit"]
        for library in (ours, *groups["fresh"].peers)
        for record in files[library]["sets"].values()
        for fold in record["folds"]
        if "limit" in fold
    ]
    parts = ["# Accuracy on unfamiliar data", HOW.format(limit=max(limits, default=120))]
    if groups["fresh"].sets:
        parts.append(f"![Mean ranks with intervals on the fresh sets]({picture.FILE})")
    for group in ("fresh", "study", "fourteen"):
        found = groups[group]
        if found.sets:
            title = f"## {len(found.sets)} {WORDS[group]}"
            parts += [title, _summary(found, titles), _sentences(found)]
    parts += [
        "## What is claimed on fresh sets",
        _claims(made),
        *_halves(files, groups["study"]),
        "## Versions",
        _versions(files, groups["fresh"]),
    ]
    for group in ("fresh", "study", "fourteen"):
        if groups[group].sets:
            parts += [f"## All results: {group}", _details(files, groups[group], titles)]
    return "\n\n".join(parts) + "\n"


def _grid(columns, rows):
    line = "|" + "---|" + "---:|" * (len(columns) - 1)
    return "\n".join(["| " + " | ".join(row) + " |" for row in (columns, *rows)]).replace(
        "\n", f"\n{line}\n", 1
    )


def _summary(found, titles):
    """Return the ranks of all libraries, and ours over each peer's."""
    placed = {metric: found.mean_ranks(metric) for metric in METRICS}
    ratios = {metric: found.ratios(metric) for metric in METRICS}
    chances = {metric: found.p_values(metric) for metric in METRICS}
    shares = {metric: found.shares_no_worse(metric) for metric in METRICS}
    rows = []
    for library in sorted(found.libraries, key=lambda name: placed["error"][name].mean):
        cells = [f"**{titles[library]}**" if library == found.ours else titles[library]]
        for metric in METRICS:
            rank = placed[metric][library]
            cells.append(f"{rank.mean:.2f} [{rank.low:.2f}, {rank.high:.2f}]")
            if library == found.ours:
                cells += ["1", ""]
            else:
                ratio, chance = ratios[metric][library], chances[metric][library]
                mark = "" if chance < 0.05 else " (n. s.)"
                cells.append(f"{ratio.mean:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]{mark}")
                cells.append(f"{100 * shares[metric][library]:.0f} %")
        rows.append(cells)
    columns = ["library"]
    for word in METRICS.values():
        columns += [f"mean rank, {word}", f"ours over its {word}", "ours is no higher on"]
    return _grid(columns, rows)


def _sentences(found):
    said = []
    for metric, word in METRICS.items():
        statistic, chance = found.friedman(metric)
        worst = found.worst(metric)
        beaten = ", ".join(one.name for one in found.defeats(metric)) or "none"
        said.append(
            f"- {word.capitalize()}: no higher than the lowest of all peers on "
            f"{100 * found.share_no_worse(metric):.0f} % of the sets. Most behind the lowest: "
            f"{worst.name}, by {100 * worst.share:.0f} % ({worst.standard_errors:.1f} standard "
            f"errors). Behind by more than 10 % and two standard errors: {beaten}. Friedman's "
            f"statistic {statistic:.1f}, p = {chance:.1g}."
        )
    said.append(
        f"- Mean ranks further apart than {found.critical_difference():.2f} differ (Nemenyi, 5 %)."
    )
    return "\n".join(said)


def _halves(files, study):
    """Return what choosing one of our variants on half of the study sets gives on the others."""
    rules = [name for name in files if name == OURS or name.startswith(f"{OURS}-")]
    names = halves.common(files, rules, study.peers, study.sets)
    if len(rules) < 2 or len(names) < halves.LEAST_SETS:
        return []
    found = halves.of_files(files, rules, study.peers, names, TIMES)
    return [
        "## Chosen on half of the study sets, reported on the others",
        f"{len(rules)} variants, {len(names)} sets, {TIMES} random halves; means, lowest and "
        "highest in parentheses.",
        f"```text\n{halves.text(found)}\n```",
    ]


def _claims(made):
    rows = []
    for claim in made:
        bound = "at least" if claim.at_least else "at most"
        holds = "yes" if claim.holds else "**no**"
        measured = "-" if math.isnan(claim.measured) else f"{claim.measured:.3g}"
        rows.append([claim.text, measured, f"{bound} {claim.limit:.3g}", holds])
    return _grid(["claim", "measured", "bound", "holds"], rows)


def _versions(files, found):
    rows = []
    for library in found.libraries:
        records = files[library]["sets"].values()
        versions = sorted(
            {
                f"{package} {number}"
                for record in records
                for package, number in record.get("versions", {}).items()
            }
        )
        commits = sorted({(record.get("commit") or "")[:12] for record in records} - {""})
        settings = ", ".join(f"{k}={v}" for k, v in files[library]["head"]["settings"].items())
        title = files[library]["head"]["title"]
        rows.append([title, ", ".join([*versions, *commits]), settings or "defaults"])
    return _grid(["library", "versions", "settings"], rows)


def _details(files, found, titles):
    """Return error % / log loss, sets by libraries, the lowest in bold."""
    rows = []
    least = {metric: found.values(metric).min(axis=1) for metric in METRICS}
    for i, name in enumerate(found.sets):
        shape = files[found.ours]["sets"][name].get("shape", {})
        size = " x ".join(str(shape.get(key, "?")) for key in ("rows", "columns", "classes"))
        cells = [name, size]
        for library in found.libraries:
            cell = found.cells[name, library]
            if math.isinf(cell.error):
                folds = files[library]["sets"][name]["folds"]
                cells.append(next(fold["status"] for fold in folds if fold["status"] != "ok"))
                continue
            error, loss = f"{100 * cell.wrong.mean():.2f}", f"{cell.log_loss:.3f}"
            error = f"**{error}**" if cell.error <= least["error"][i] else error
            loss = f"**{loss}**" if cell.log_loss <= least["log_loss"][i] else loss
            cells.append(f"{error} / {loss}")
        rows.append(cells)
    columns = ["set", "rows x columns x classes", *[titles[x] for x in found.libraries]]
    return _grid(columns, rows)
