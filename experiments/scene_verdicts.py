"""What the paper claims of Table VIII and Figure 4, tested."""

from __future__ import annotations

from experiments.page.section import FAILS, HOLDS, IN_PART, UNTESTED, Judgement, Verdict
from experiments.scene_numbers import (
    BOOSTING,
    OURS,
    OWN,
    SceneNumbers,
    always_above,
    label,
    mean,
    times_above,
)

__all__ = ["scene_verdicts"]

# Boosting methods to compare ours with.
OTHERS = tuple(method for method in BOOSTING if method not in OURS)


def scene_verdicts(numbers: SceneNumbers) -> list[Verdict]:
    """Return all verdicts."""
    judges = (beats_linear, hik_is_best, is_faster, converges, like_multiboost, ecc_at_the_end)
    return [judge(numbers) for judge in judges]


def beats_linear(numbers: SceneNumbers) -> Verdict:
    """Compare ours with few features with the linear SVM with few and with all, by draw."""
    few, many = numbers.rounds
    claim = f"{few:,} features chosen by boosting beat a linear SVM on scenes."
    ours = {m: numbers.accuracies(m, few) for m in OURS}
    linear = {n: numbers.accuracies("svm-linear", n) for n in numbers.rounds}
    if not all(map(len, (*ours.values(), *linear.values()))):
        return Verdict(claim, UNTESTED, "Not all methods were run.")
    wins = {n: [always_above(own, linear[n]) for own in ours.values()] for n in numbers.rounds}
    told = "; ".join(f"{label(m)} {mean(own):.1f} %" for m, own in (*ours.items(),))
    evidence = (
        f"{told}, with {few:,} features; linear SVM {mean(linear[few]):.1f} % with {few:,} "
        f"principal components and {mean(linear[many]):.1f} % with all {many:,} features. MCBoost "
        f"is above the first in {times_above(ours, linear[few])} pairs of loss and draw, and above the "
        f"second in {times_above(ours, linear[many])}."
    )
    judgement: Judgement = FAILS
    if all(wins[many]) and all(wins[few]):
        judgement = HOLDS
    elif any(wins[many]) or any(wins[few]):
        judgement = IN_PART
    return Verdict(claim, judgement, evidence)


def hik_is_best(numbers: SceneNumbers) -> Verdict:
    many = numbers.rounds[1]
    claim = f"The HIK SVM with {many:,} features is the most accurate."
    hik = numbers.accuracies("svm-hik", many)
    others = {m: found for m in ("svm-linear", *BOOSTING) if (found := numbers.accuracies(m, many))}
    if not hik or not others:
        return Verdict(claim, UNTESTED, "Not all methods were run.")
    best = max(others, key=lambda m: mean(others[m]))
    evidence = (
        f"HIK SVM {mean(hik):.1f} %; the best of the others, {label(best)}, "
        f"{mean(others[best]):.1f} %; above it in "
        f"{times_above({'hik': hik}, others[best])} common draws."
    )
    return Verdict(claim, HOLDS if mean(hik) > mean(others[best]) else FAILS, evidence)


def is_faster(numbers: SceneNumbers) -> Verdict:
    claim = "Boosting classifies an image more than two orders of magnitude faster than an SVM."
    times = {m: numbers.milliseconds(m) for m in (*OURS, "svm-linear", "svm-hik")}
    if not all(times.values()):
        missing = ", ".join(label(m) for m, found in times.items() if not found)
        return Verdict(
            claim, UNTESTED, f"Not all methods were timed on one machine ({missing} not there)."
        )
    means = {m: mean(found) for m, found in times.items()}
    ours = max(means[m] for m in OURS)
    ratios = {m: means[m] / ours for m in ("svm-linear", "svm-hik")}
    evidence = " ".join(
        [f"Ours take {ours:.4f} ms of the processor;"]
        + [
            f"{label(m)} {means[m]:.3f} ms, {ratio:.0f} times as long."
            for m, ratio in ratios.items()
        ]
        + [f"One thread of one machine ({numbers.machine})."]
    )
    judgement: Judgement = FAILS
    if min(ratios.values()) >= 100:
        judgement = HOLDS
    elif max(ratios.values()) >= 100:
        judgement = IN_PART
    return Verdict(claim, judgement, evidence)


def converges(numbers: SceneNumbers) -> Verdict:
    """Judge Figure 4: whether ours are above the other methods at every number of rounds."""
    few = numbers.rounds[0]
    claim = (
        "MCBoost converges faster on scenes, and to a lower error, than the other boosting methods "
        "(Figure 4)."
    )
    told, shares, missing = [], [], []
    for other in OTHERS:
        theirs = {
            r.trial.repeat: numbers.curve(r)
            for r in numbers.records.of(numbers.data, other, features=OWN)
        }
        if not theirs:
            missing.append(label(other))
        for method in OURS:
            wins = total = 0
            for record in numbers.records.of(numbers.data, method, features=OWN):
                curve = numbers.curve(record)
                rival = theirs.get(record.trial.repeat, {})
                at = [n for n in curve.keys() & rival.keys() if 10 <= n <= few]
                wins += sum(curve[n] > rival[n] for n in at)
                total += len(at)
            if total:
                told.append(f"{label(method)} against {label(other)}: {wins} of {total}")
                shares.append(wins / total)
    if not shares:
        return Verdict(claim, UNTESTED, "Not all methods were run.")
    # Against every other method, not on the whole.
    judgement: Judgement = IN_PART if max(shares) > 0.5 else FAILS
    if min(shares) >= 0.9:
        judgement = HOLDS
    return Verdict(
        claim,
        judgement,
        f"Points of the curves from 10 to {few:,} rounds, on common draws, at which ours is the more "
        f"accurate: {'; '.join(told)}."
        + "".join(f" {name} is not among them." for name in missing),
    )


def like_multiboost(numbers: SceneNumbers) -> Verdict:
    """Compare accuracies after as many rounds as MultiBoost has, and the times of whole fits."""
    few, many = numbers.rounds
    claim = (
        "MCBoost is about as accurate as MultiBoost on scenes, in a fraction of the training time."
    )
    rival, seconds = numbers.accuracies("multiboost", few), numbers.fit_seconds("multiboost")
    ours = {m: numbers.accuracies(m, few) for m in OURS}
    times = {m: numbers.fit_seconds(m) for m in OURS}
    if not rival or not seconds or not all(map(len, (*ours.values(), *times.values()))):
        return Verdict(claim, UNTESTED, "Not all methods were run.")
    one_sided = [always_above(own, rival) or always_above(rival, own) for own in ours.values()]
    ratio = mean(seconds) / max(mean(found) for found in times.values())
    told = "; ".join(f"{label(m)} {mean(own):.1f} %" for m, own in ours.items())
    evidence = (
        f"After {few:,} rounds MultiBoost {mean(rival):.1f} %; {told}. Ours is above in "
        f"{times_above(ours, rival)} pairs of loss and draw. A fit of MultiBoost takes "
        f"{mean(seconds):.0f} s for these {few:,} rounds, one of ours at most "
        f"{mean(seconds) / ratio:.0f} s for {many:,} (processor, one machine)."
    )
    # Alike: neither is above in every draw. A fraction: half, although ours make more rounds.
    alike = [not always for always in one_sided]
    judgement: Judgement = IN_PART
    if all(alike) and ratio >= 2:
        judgement = HOLDS
    elif not any(alike) and ratio < 2:
        judgement = FAILS
    return Verdict(claim, judgement, evidence)


def ecc_at_the_end(numbers: SceneNumbers) -> Verdict:
    many = numbers.rounds[1]
    claim = f"AdaBoost.ECC is slightly more accurate than MCBoost after {many:,} rounds."
    ecc = numbers.accuracies("ecc", many)
    ours = {m: numbers.accuracies(m, many) for m in OURS}
    if not ecc or not all(ours.values()):
        return Verdict(claim, UNTESTED, "Not all methods were run.")
    told = "; ".join(f"{label(m)} {mean(own):.1f} %" for m, own in ours.items())
    wins = [always_above(ecc, own) for own in ours.values()]
    judgement: Judgement = HOLDS if all(wins) else IN_PART if any(wins) else FAILS
    ended = numbers.ended("ecc", many, OWN)
    aside = f" AdaBoost.ECC {ended[1:-1]}." if ended else ""
    return Verdict(
        claim,
        judgement,
        f"AdaBoost.ECC {mean(ecc):.1f} %; {told}. Ours is above in "
        f"{times_above(ours, ecc)} pairs of loss and draw.{aside}",
    )
