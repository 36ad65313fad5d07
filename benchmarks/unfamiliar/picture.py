"""The picture: mean ranks with intervals, in error and in log loss."""

from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.unfamiliar.comparison import METRICS, Comparison

FILE = "unfamiliar_ranks.png"
OURS_COLOUR, PEER_COLOUR = "#d1495b", "#1f5fa8"


def draw(found: Comparison, titles: dict[str, str], path: Path) -> None:
    figure = Figure(figsize=(10, 0.32 * len(found.libraries) + 1.3), layout="constrained")
    for axes, (metric, word) in zip(figure.subplots(1, 2), METRICS.items(), strict=True):
        placed = found.mean_ranks(metric)
        order = sorted(found.libraries, key=lambda library: -placed[library].mean)
        for place, library in enumerate(order):
            rank = placed[library]
            axes.errorbar(
                rank.mean,
                place,
                xerr=[[rank.mean - rank.low], [rank.high - rank.mean]],
                fmt="D" if library == found.ours else "o",
                color=OURS_COLOUR if library == found.ours else PEER_COLOUR,
                capsize=3,
            )
        axes.set_yticks(range(len(order)), [titles[library] for library in order], fontsize=8)
        axes.set_xlabel(f"mean rank in {word} over {len(found.sets)} sets (1 is best)")
        axes.grid(axis="x", color="0.9")
    figure.savefig(path, dpi=110)
