"""Prediction sets from probabilities: against the definition, and as properties."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginboost.model import calibration_rows
from marginboost.model.calibration_rows import STEPS, CalibrationRows
from marginboost.model.set_rule import KINDS, SetRule


def random_rows(rng, n_rows, n_classes, *, sharp=2.0):
    """Return logits and labels that follow their softmax."""
    logits = rng.normal(size=(n_rows, n_classes)) * sharp
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return logits, labels


def shares_of(logits):
    odds = np.exp(logits - logits.max(axis=1)[:, None])
    return odds / odds.sum(axis=1)[:, None]


def kept(logits, labels, weight=None, copies=None):
    weight = np.ones(len(labels)) if weight is None else weight
    copies = np.ones(len(labels), dtype=np.int64) if copies is None else copies
    return CalibrationRows.of_logits(logits, labels, weight, copies, in_any_order=True)


def rule_of(logits, labels, ratio=None, **more):
    return SetRule(kept(logits, labels, **more), np.arange(logits.shape[1]), ratio)


def test_probabilities_are_rounded_down_by_less_than_a_step():
    logits, labels = random_rows(np.random.default_rng(0), 500, 4, sharp=5.0)
    rows = kept(logits, labels)
    order = np.lexsort((np.unique(rows.steps, axis=0, return_inverse=True)[1].ravel(), rows.labels))
    assert (order == np.arange(500)).all()
    exact = -np.log(shares_of(logits))
    found = np.sort(rows.steps.astype(float) / STEPS, axis=None)
    exact = np.sort(exact, axis=None)
    assert (found >= exact - 1e-12).all()
    assert (found < exact + 1.0 / STEPS + 1e-12).all()


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.99])
def test_marginal_sets_follow_the_definition(coverage):
    """The most probable class, and what reaches the k-th best conformity, k = ceil(0.9 (n + 1))."""
    rng = np.random.default_rng(1)
    logits, labels = random_rows(rng, 199, 5)
    rule = rule_of(logits, labels)
    shares, own = rule.rows.probabilities(), np.arange(199)
    conformity = shares[own, rule.rows.labels]
    others = shares.copy()
    others[own, rule.rows.labels] = 0.0
    conformity[conformity > others.max(axis=1)] = np.inf
    least = np.sort(conformity)[::-1][int(np.ceil(round(coverage * 200, 6))) - 1]
    new = shares_of(random_rows(rng, 300, 5)[0])
    expected = new >= least
    expected[np.arange(300), new.argmax(axis=1)] = True
    np.testing.assert_array_equal(rule.sets(new, coverage, "marginal"), expected)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_class_sets_follow_the_definition(coverage):
    rng = np.random.default_rng(2)
    logits, labels = random_rows(rng, 400, 3)
    rule = rule_of(logits, labels)
    new = shares_of(random_rows(rng, 300, 3)[0])
    found = rule.sets(new, coverage, "class")
    for k in range(3):
        own = np.sort(rule.rows.probabilities()[rule.rows.labels == k, k])[::-1]
        least = own[int(np.ceil(round(coverage * (len(own) + 1), 6))) - 1]
        reached = new[:, k] >= least
        np.testing.assert_array_equal(found[reached, k], True)
        extra = found[:, k] & ~reached  # only where the set would be empty
        assert (found[extra].sum(axis=1) == 1).all()


@settings(deadline=None)
@given(st.data())
def test_no_set_is_empty_and_a_larger_coverage_gives_a_superset(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_classes = data.draw(st.integers(2, 6))
    n_rows = data.draw(st.integers(1, 80))
    logits, labels = random_rows(
        rng, n_rows, n_classes, sharp=data.draw(st.sampled_from([0, 1, 9]))
    )
    weight = rng.integers(1, 5, n_rows) * (rng.random(n_rows) if data.draw(st.booleans()) else 1.0)
    copies = rng.integers(1, 4, n_rows)
    ratio = None
    if data.draw(st.booleans()):
        ratio = rng.random(n_classes) * 3.0
        ratio[rng.random(n_classes) < 0.3] = 0.0
        ratio[0] = 1.0
    rule = rule_of(logits, labels, ratio, weight=weight, copies=copies)
    new = random_rows(rng, 20, n_classes)[0]
    new = np.concatenate([new, logits])
    shares = shares_of(new)
    if ratio is not None:
        shares = shares * ratio / (shares * ratio).sum(axis=1)[:, None]
    coverages = sorted(data.draw(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=5)))
    for kind in KINDS:
        before = np.zeros(shares.shape, dtype=bool)
        for coverage in coverages:
            sets = rule.sets(shares, coverage, kind)
            assert sets.any(axis=1).all()
            assert (sets >= before).all()
            if ratio is not None:
                assert not sets[:, ratio == 0.0].any()
            if kind == "marginal":
                assert sets[np.arange(len(sets)), shares.argmax(axis=1)].all()
            before = sets


@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_repeated_rows_and_order_does_not_matter(kind):
    rng = np.random.default_rng(3)
    logits, labels = random_rows(rng, 60, 4)
    copies, weight = rng.integers(1, 4, 60), rng.random(60)
    new = shares_of(random_rows(rng, 100, 4)[0])
    one = rule_of(logits, labels, weight=weight, copies=copies)
    again = np.repeat(np.arange(60), copies)
    other = rule_of(logits[again], labels[again], weight=weight[again])
    mixed = rng.permutation(60)
    third = rule_of(logits[mixed], labels[mixed], weight=8 * weight[mixed], copies=copies[mixed])
    for coverage in (0.3, 0.7, 0.85):
        expected = one.sets(new, coverage, kind)
        np.testing.assert_array_equal(other.sets(new, coverage, kind), expected)
        np.testing.assert_array_equal(third.sets(new, coverage, kind), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_coverage_holds_on_average(kind):
    """With n held-out rows the mean coverage lies between what is asked for and 1/(n + 1) above."""
    rng = np.random.default_rng(4)
    found, by_class = [], []
    for _ in range(300):
        logits, labels = random_rows(rng, 99, 3, sharp=1.0)
        new, truth = random_rows(rng, 400, 3, sharp=1.0)
        sets = rule_of(logits, labels).sets(shares_of(new), 0.8, kind)
        held = sets[np.arange(400), truth]
        found.append(held.mean())
        by_class.append([held[truth == k].mean() for k in range(3)])
    error = 3 * np.std(found) / np.sqrt(300)
    assert np.mean(found) > 0.8 - error
    assert np.mean(found) < 0.8 + (0.01 if kind == "marginal" else 0.03) + error
    if kind == "class":
        assert np.min(np.mean(by_class, axis=0)) > 0.8 - 2 * error


def test_coverage_holds_at_other_frequencies():
    rng = np.random.default_rng(5)
    ratio = np.array([0.2, 0.5, 2.3])
    found = []
    for _ in range(200):
        logits, labels = random_rows(rng, 200, 3, sharp=1.0)
        new, truth = random_rows(rng, 1500, 3, sharp=1.0)
        shares = shares_of(new) * ratio
        shares /= shares.sum(axis=1)[:, None]
        sets = rule_of(logits, labels, ratio).sets(shares, 0.8, "marginal")
        held = sets[np.arange(1500), truth]
        found.append((held * ratio[truth]).sum() / ratio[truth].sum())
    error = 3 * np.std(found) / np.sqrt(200)
    assert 0.8 - error < np.mean(found) < 0.82 + error


def test_too_few_rows_give_all_classes_with_a_warning():
    rng = np.random.default_rng(6)
    logits, labels = random_rows(rng, 8, 3)
    labels[:] = [0, 0, 0, 0, 0, 0, 1, 1]
    rule = rule_of(logits, labels)
    new = shares_of(logits)
    with pytest.warns(
        UserWarning, match="0.9 needs at least 9 held-out rows; the model has 8.* All"
    ):
        rule.check(0.9, "marginal")
    assert rule.sets(new, 0.9, "marginal").all()
    with pytest.warns(UserWarning, match="of each class; 1 has 2, 2 has 0. 2 of 3 classes are in"):
        rule.check(0.8, "class")
    assert rule.sets(new, 0.8, "class")[:, 1:].all()
    assert rule.sets(np.array([[1e-9, 0.5, 0.5]]), 0.8, "class").tolist() == [[False, True, True]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule.check(0.88, "marginal")


def test_of_very_many_rows_some_are_kept(monkeypatch):
    monkeypatch.setattr(calibration_rows, "MOST_ROWS", 100)
    monkeypatch.setattr(calibration_rows, "MOST_PAIRS", 240)
    rng = np.random.default_rng(8)
    logits, labels = random_rows(rng, 500, 3)
    rows = kept(logits, labels)
    assert len(rows) == 80 == rows.class_rows.sum()
    order = rng.permutation(500)
    again = kept(logits[order], labels[order])
    np.testing.assert_array_equal(again.steps, rows.steps)
    np.testing.assert_array_equal(again.labels, rows.labels)


@pytest.mark.parametrize("coverage", [0, 1, -0.5, "0.9", None, True, np.nan])
def test_coverages_that_are_none(coverage):
    rule = rule_of(*random_rows(np.random.default_rng(7), 20, 3))
    with pytest.raises(ValueError, match="coverage must be a number above 0 and below 1; got"):
        rule.check(coverage, "marginal")


@pytest.mark.parametrize("kind", ["classes", None, 1])
def test_kinds_that_are_none(kind):
    rule = rule_of(*random_rows(np.random.default_rng(7), 20, 3))
    with pytest.raises(ValueError, match="kind must be one of 'marginal', 'class'; got"):
        rule.check(0.5, kind)


# --- randomised sets ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sharp", [0.0, 0.5, 6.0])
def test_randomised_sets_cover_exactly(kind, sharp):
    """Also with ties alone (sharp 0), and where the model is almost always right (sharp 6)."""
    rng = np.random.default_rng(3)
    covered = {0.5: [], 0.9: []}
    for _ in range(300):
        logits, labels = random_rows(rng, 60 + 200, 3, sharp=sharp)
        rule = rule_of(logits[:60], labels[:60])
        shares, own = shares_of(logits[60:]), (np.arange(200), labels[60:])
        for coverage, found in covered.items():
            sets = rule.randomized_sets(shares, coverage, kind, rng.random(200))
            found.append(sets[own].mean())
    for coverage, found in covered.items():
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - coverage) < 4.0 * error < 0.03


def test_randomised_sets_grow_with_the_coverage_and_with_smaller_draws():
    rng = np.random.default_rng(4)
    logits, labels = random_rows(rng, 100, 4)
    rule, shares, u = rule_of(logits, labels), shares_of(logits), rng.random(100)
    for kind in KINDS:
        small, large = (rule.randomized_sets(shares, c, kind, u) for c in (0.6, 0.8))
        assert (small <= large).all()
        assert (rule.randomized_sets(shares, 0.6, kind, u / 2) >= small).all()


def test_marginal_sets_are_randomised_ones_of_the_least_draw():
    """But for the class that they hold in any case."""
    rng = np.random.default_rng(5)
    logits, labels = random_rows(rng, 150, 4, sharp=1.0)
    rule, shares = rule_of(logits, labels), shares_of(random_rows(rng, 80, 4, sharp=1.0)[0])
    drawn = rule.randomized_sets(shares, 0.9, "marginal", np.full(80, 0.999999))
    assert (drawn <= rule.sets(shares, 0.9, "marginal")).all()


def test_a_class_without_rows_is_in_all_randomised_sets():
    rng = np.random.default_rng(6)
    logits, labels = random_rows(rng, 50, 3)
    rule = rule_of(logits, np.minimum(labels, 1))
    sets = rule.randomized_sets(shares_of(logits), 0.9, "class", rng.random(50))
    assert sets[:, 2].all()
