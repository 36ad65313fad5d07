"""The benchmark on unfamiliar data: its statistics against oracles, and its machinery on iris."""

import base64
import math
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.unfamiliar import catalogue, halves, page, problems, results, statistic
from benchmarks.unfamiliar.__main__ import main
from benchmarks.unfamiliar.comparison import Comparison
from benchmarks.unfamiliar.contest import source
from benchmarks.unfamiliar.fresh import FRESH
from benchmarks.unfamiliar.libraries import LIBRARIES, PEERS, variant
from benchmarks.unfamiliar.process import PATIENCE, THREADS, Worker
from benchmarks.unfamiliar.worker import scores

SETS = list(catalogue.of_group("study"))[:12]
# Demsar 2006, table 5(a): the two-tailed Nemenyi test at 0.05, for two to ten classifiers.
NEMENYI = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def random_table(rng, ties=True):
    table = rng.random((15, 5))
    return np.round(table, 1) if ties else table


# --- statistics -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_that_of_scipy(ties):
    table = random_table(np.random.default_rng(3), ties)
    expected = stats.friedmanchisquare(*table.T)
    statistic_found, p_value = statistic.friedman(table)
    assert statistic_found == pytest.approx(expected.statistic)
    assert p_value == pytest.approx(expected.pvalue)


def test_friedman_of_equal_libraries_finds_nothing():
    assert statistic.friedman(np.ones((6, 4))) == (0.0, 1.0)


@pytest.mark.parametrize(("libraries", "quantile"), [*enumerate(NEMENYI, start=2)])
def test_critical_difference_has_the_published_quantiles(libraries, quantile):
    expected = quantile * math.sqrt(libraries * (libraries + 1) / (6 * 30))
    assert statistic.critical_difference(libraries, 30) == pytest.approx(expected, rel=1e-3)


def test_infinite_values_rank_last_and_ties_share():
    table = np.array([[0.2, math.inf, 0.1, 0.2], [1.0, 2.0, math.inf, math.inf]])
    assert statistic.ranks(table).tolist() == [[2.5, 4, 1, 2.5], [1, 2, 3.5, 3.5]]


def test_bootstrap_interval_is_that_of_scipy():
    values = np.random.default_rng(5).gamma(2.0, size=40)
    found = statistic.mean_interval(values)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    width = expected.high - expected.low
    assert found.mean == values.mean()
    assert abs(found.low - expected.low) < 0.05 * width
    assert abs(found.high - expected.high) < 0.05 * width


def test_ratio_interval_holds_the_geometric_mean():
    ratios = np.array([0.5, 2.0, 1.0, 0.8, 0.9])
    found = statistic.ratio_interval(ratios)
    assert found.mean == pytest.approx(stats.gmean(ratios))
    assert statistic.geometric_mean(ratios) == pytest.approx(stats.gmean(ratios))
    assert found.low < found.mean < found.high


def test_holm_steps_down():
    # By hand: 4 * 0.005, 3 * 0.01, 2 * 0.03, then at least the one before.
    assert statistic.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistic.holm([0.9, 0.8]) == [1.0, 1.0]


def test_wilcoxon_compares_ratios_of_finished_sets():
    rng = np.random.default_rng(0)
    theirs = rng.random(20) + 0.1
    ours = theirs * np.exp(rng.normal(-0.1, 0.2, 20))
    expected = stats.wilcoxon(np.log(ours / theirs)).pvalue
    assert statistic.wilcoxon(ours, theirs) == pytest.approx(expected)
    padded = np.append(ours, 1.0), np.append(theirs, math.inf)
    assert statistic.wilcoxon(*padded) == pytest.approx(expected)
    assert statistic.wilcoxon(ours, ours) == 1.0


def test_paired_error_is_mcnemars():
    rng = np.random.default_rng(2)
    ours, theirs = rng.random(500) < 0.3, rng.random(500) < 0.2
    b, c, n = (ours & ~theirs).sum(), (theirs & ~ours).sum(), 500
    expected = math.sqrt(b + c - (b - c) ** 2 / n) / n
    assert statistic.paired_error(ours, theirs) == pytest.approx(expected)


def test_fold_error_is_that_of_scipy():
    ours, theirs = np.array([0.5, 0.7, 0.6]), np.array([0.4, 0.65, 0.3])
    assert statistic.fold_error(ours, theirs) == pytest.approx(stats.sem(ours - theirs))


# --- comparison -----------------------------------------------------------------------------------


def record(wrong, losses, data="same"):
    """Return a record of folds of ten rows, with so many wrong ones in each."""
    folds = []
    for count, loss in zip(wrong, losses, strict=True):
        bits = np.packbits(np.arange(10) < count)
        coded = base64.b64encode(bits.tobytes()).decode()
        folds.append({"status": "ok", "rows": 10, "error": count / 10, "wrong": coded})
        folds[-1]["log_loss"] = loss
    return {"group": "study", "data": data, "folds": folds}


def slow():
    return {"group": "study", "folds": [{"status": "limit", "limit": 120.0}]}


def file_of(title, records):
    return {"head": {"title": title, "settings": {}}, "sets": records}


def test_comparison_of_a_known_table():
    files = {
        "marginboost": file_of("m", {"a": record([1, 3], [0.2, 0.4]), "b": record([0, 0], [1, 1])}),
        "lightgbm": file_of("l", {"a": record([2, 4], [0.6, 0.6]), "b": slow()}),
        "xgboost": file_of("x", {"a": record([5, 5], [0.1, 0.3]), "b": record([1, 0], [1, 2])}),
    }
    found = Comparison(files, "marginboost", ["lightgbm", "xgboost"], ["a", "b", "c"])
    assert found.sets == ["a", "b"]
    expected = [[4.5 / 21, 6.5 / 21, 10.5 / 21], [0.5 / 21, math.inf, 1.5 / 21]]
    np.testing.assert_allclose(found.values("error"), expected)
    expected = [[6.5 / 21, 12.5 / 21, 4.5 / 21], [20.5 / 21, math.inf, 30.5 / 21]]
    np.testing.assert_allclose(found.values("log_loss"), expected)
    ranks = {name: rank.mean for name, rank in found.mean_ranks("error").items()}
    assert ranks == {"marginboost": 1.0, "lightgbm": 2.5, "xgboost": 2.5}
    ratios = found.ratios("error")
    assert ratios["lightgbm"].mean == pytest.approx(4.5 / 6.5)  # on the set that it finished
    assert ratios["xgboost"].mean == pytest.approx(stats.gmean([4.5 / 10.5, 0.5 / 1.5]))
    assert found.share_no_worse("error") == 1.0
    assert found.share_no_worse("log_loss") == 0.5
    assert found.shares_no_worse("log_loss") == {"lightgbm": 1.0, "xgboost": 0.5}
    worst = found.worst("log_loss")
    assert (worst.name, worst.share) == ("a", pytest.approx(2.0 / 4.5))
    assert [one.name for one in found.defeats("log_loss")] == ["a"]  # 0.1 behind in each fold
    assert found.defeats("error") == []


def test_comparison_refuses_different_rows():
    files = {
        "marginboost": file_of("m", {"a": record([1], [0.2])}),
        "lightgbm": file_of("l", {"a": record([1], [0.2], data="other")}),
    }
    with pytest.raises(ValueError, match="same rows of a"):
        Comparison(files, "marginboost", ["lightgbm"], ["a"])


def test_comparison_refuses_a_library_without_results():
    with pytest.raises(ValueError, match="results of marginboost"):
        Comparison({}, "marginboost", [], ["a"])


@pytest.fixture
def folder(tmp_path):
    """Return a folder of made-up results: two rules of ours and two peers."""
    rng = np.random.default_rng(7)
    for library in ("marginboost-a", "marginboost-b", "lightgbm", "xgboost"):
        for name in SETS:
            made = record(rng.integers(1, 9, 3), rng.random(3) + 0.1)
            results.add(tmp_path, library, {"title": library, "settings": {}}, name, made)
    return tmp_path


def test_halves_choose_on_one_half_and_report_on_the_other(folder):
    rules = ["marginboost-a", "marginboost-b"]
    found = halves.cross(folder, rules, ("study",), 20)
    assert len(found) == 20
    assert {half.rule for half in found} == set(rules)  # each is better on some halves
    files = results.read_all(folder)
    for half in found:
        assert sorted([*half.chosen_on, *half.comparison.sets]) == sorted(SETS)
        product = {}
        for rule in rules:
            one = Comparison(files, rule, ["lightgbm"], half.chosen_on)
            product[rule] = stats.gmean(one.values("error")[:, 0]) * stats.gmean(
                one.values("log_loss")[:, 0]
            )
        assert half.rule == min(product, key=product.__getitem__)
        assert half.comparison.ours == half.rule
    assert "best mean rank in" in halves.text(found)


def test_page_shows_every_group_and_marks_what_is_lowest(folder, tmp_path):
    docs = tmp_path / "docs"
    made = page.write(folder, docs, "marginboost-a")
    assert not all(claim.holds for claim in made)  # there are no fresh sets
    text = (docs / page.FILE).read_text()
    assert f"## {len(SETS)} study sets" in text
    assert "fresh sets, on which" not in text  # none were measured
    assert "2 variants, 12 sets, 20 random halves" in text
    rows = [line for line in text.splitlines() if line.startswith(f"| {SETS[0]} |")]
    assert len(rows) == 1
    assert rows[0].count("**") >= 4


def test_the_set_of_the_largest_gain_is_named_and_left_out():
    ours, even, lost = record([0, 0], [0.1, 0.1]), record([4, 4], [0.4, 0.4]), slow()
    files = {
        "ours": {"sets": {"one": even, "two": ours, "three": even, "four": ours}},
        "peer": {"sets": {"one": even, "two": even, "three": ours, "four": lost}},
    }
    found = Comparison(files, "ours", ["peer"], ["one", "two", "three", "four"])
    name, ratio = found.without_largest_gain("error", "peer")
    assert name == "two"
    assert ratio == pytest.approx((8.5 / 0.5) ** 0.5)  # even on one, the peer failed on four
    assert found.without_largest_gain("log_loss", "peer")[0] == "two"


def test_ours_is_also_compared_with_the_fixed_setting(tmp_path):
    fresh = list(FRESH)[:3]
    better, worse = record([1, 1], [0.1, 0.1]), record([3, 3], [0.4, 0.4])
    for library, made in {"marginboost": better, "marginboost-static": worse, "hgb": worse}.items():
        for name in fresh:
            results.add(tmp_path, library, {"title": library, "settings": {}}, name, made)
    claims = {claim.text: claim for claim in page.write(tmp_path, tmp_path, "marginboost")}
    claim = claims["log loss over that of the best fixed setting, geometric mean"]
    assert claim.measured == pytest.approx(2.5 / 8.5)  # of 20 rows
    assert claims["error over that of the best fixed setting, geometric mean"].holds
    assert all(claim.holds for claim in claims.values())
    assert (tmp_path / "unfamiliar_ranks.png").is_file()


# --- data -----------------------------------------------------------------------------------------


def test_problem_drops_rare_classes_and_keeps_categories():
    X = pd.DataFrame({"text": ["a", "b", None] * 20, "number": range(60), "flag": [True] * 60})
    y = pd.Series(["p"] * 30 + ["q"] * 22 + ["r"] * 7 + [None])
    found = problems.problem(X, y)
    assert found.shape() == {"rows": 52, "columns": 3, "categorical": 1, "classes": 2}
    assert found.X["x0"].isna().sum() == 17
    assert found.X["x1"].tolist() == list(range(52))
    assert found.folds == 5
    for fold in range(5):
        assert set(np.bincount(found.y[found.fold == fold])) <= {4, 5, 6}
    assert found.digest() == problems.problem(X, y).digest()
    assert found.digest() != problems.problem(X.assign(number=0), y).digest()


def test_large_sets_are_sampled_with_three_folds():
    y = pd.Series(np.arange(20_000) % 4 == 0)
    found = problems.problem(pd.DataFrame({"x": np.arange(20_000.0)}), y)
    assert (len(found.y), found.folds, found.y.mean()) == (15_000, 3, 0.25)
    assert (np.diff(found.X["x0"]) > 0).all()


def test_no_set_is_in_two_groups():
    names = [name for group in catalogue.GROUPS for name in catalogue.of_group(group)]
    assert len(names) == len(set(names))
    assert len(FRESH) >= 30
    with pytest.raises(ValueError, match="one of balance_scale"):
        catalogue.group_of("nothing")


# --- libraries ------------------------------------------------------------------------------------


def test_categories_become_codes_or_text_where_a_library_needs_it():
    X = problems.problem(
        pd.DataFrame({"c": ["u", "v", None, "w"] * 10}), pd.Series(["p", "q"] * 20)
    ).X
    codes = LIBRARIES["extra-trees"].take(X)["x0"]
    np.testing.assert_array_equal(codes[:4], [0, 1, math.nan, 2])
    assert LIBRARIES["catboost"].take(X)["x0"].tolist()[:4] == ["u", "v", "(missing)", "w"]
    assert LIBRARIES["lightgbm"].take(X) is X
    assert LIBRARIES["hgb"].take(X) is X
    many = pd.DataFrame({"x0": pd.Categorical([f"{j}" for j in range(300)])})
    assert LIBRARIES["hgb"].take(many)["x0"].dtype == np.float64


def test_variants_of_ours_are_named_with_their_settings():
    made = variant('slow={"n_estimators": 300}')
    assert (made.name, made.settings) == ("marginboost-slow", {"n_estimators": 300})
    assert made.make(1, made.settings).n_estimators == 300
    assert variant("static").settings["loss"] == "logistic"
    with pytest.raises(ValueError, match="one of static"):
        variant("unknown")
    with pytest.raises(ValueError, match="JSON object"):
        variant("wrong=[1]")


def test_scores_of_known_probabilities():
    proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.0, 1.0]])
    found = scores(proba, np.array([0, 1, 0]))
    assert found["error"] == pytest.approx(2 / 3)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 1e-15]).mean())
    assert np.unpackbits(np.frombuffer(base64.b64decode(found["wrong"]), np.uint8))[
        :3
    ].tolist() == [
        0,
        1,
        1,
    ]
    with pytest.raises(ValueError, match="finite"):
        scores(proba * math.nan, np.array([0, 1, 0]))


def test_limit_of_a_fit_counts_time_of_the_processor():
    worker = Worker({}, threads=1, limit=120.0)
    assert not worker._is_late("ready", cpu=THREADS * 120.0, wall=121.0)
    assert worker._is_late("ready", cpu=THREADS * 120.0 + 1, wall=1.0)
    assert worker._is_late("ready", cpu=0.0, wall=PATIENCE * 120.0 + 1)
    assert not worker._is_late("fitted", cpu=1e9, wall=1.0)


# --- a run ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    out = tmp_path_factory.mktemp("unfamiliar")
    options = ["--sets", "iris", "--out", str(out)]
    assert main(["run", *options, "--libraries", "hgb", "--ours", 'short={"n_estimators": 5}']) == 0
    return out


@pytest.mark.long
def test_run_records_every_fold(iris):
    files = results.read_all(iris)
    assert set(files) == {"hgb", "marginboost-short"}
    for file in files.values():
        found = file["sets"]["iris"]
        assert found["shape"] == {"rows": 150, "columns": 4, "categorical": 0, "classes": 3}
        assert [fold["status"] for fold in found["folds"]] == ["ok"] * 5
        assert all(fold["error"] < 0.3 for fold in found["folds"])
    assert files["marginboost-short"]["head"]["settings"] == {"n_estimators": 5}
    assert files["marginboost-short"]["sets"]["iris"].items() >= source().items()
    assert "commit" not in files["hgb"]["sets"]["iris"]
    assert files["marginboost-short"]["sets"]["iris"]["build"]
    assert len({file["sets"]["iris"]["data"] for file in files.values()}) == 1


@pytest.mark.long
def test_run_resumes_and_measures_anew_what_changed(iris, capsys):
    options = ["run", "--sets", "iris", "--out", str(iris), "--only-missing", "--libraries"]
    assert main([*options, "hgb", "--ours", 'short={"n_estimators": 5}']) == 0
    assert capsys.readouterr().out == ""
    assert main([*options, "--ours", 'short={"n_estimators": 6}']) == 0
    assert "marginboost-short" in capsys.readouterr().out


@pytest.mark.long
def test_a_failed_fit_is_a_record(tmp_path):
    settings = 'bad={"learning_rate": -1}'
    assert main(["run", "--sets", "iris", "--out", str(tmp_path), "--ours", settings]) == 0
    folds = results.read(tmp_path / "marginboost-bad.json")["sets"]["iris"]["folds"]
    assert {fold["status"] for fold in folds} == {"failed"}
    assert "learning_rate" in folds[0]["message"]
    assert not results.is_settled(tmp_path, "marginboost-bad", {"learning_rate": -1}, "iris", None)


# Not ChimeraBoost: it compiles for a minute when first used.
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PEERS if name != "chimeraboost"])
def test_every_peer_fits_categories_and_gaps(name):
    library = LIBRARIES[name]
    if not all(find_spec(p) for p in library.packages if p != "scikit-learn"):
        pytest.skip(f"{name} is not installed")
    rng = np.random.default_rng(0)
    text = rng.choice(["u", "v", "w"], 120)
    X = pd.DataFrame({"c": text, "x": rng.normal(size=120)}).mask(rng.random((120, 2)) < 0.1)
    made = problems.problem(X, pd.Series(text))
    fast = {"extra-trees": {"n_estimators": 20}, "catboost": {"iterations": 20}}.get(name)
    model = library.make(1, fast or library.settings)
    named = {library.named: made.categorical} if library.named else {}
    model.fit(library.take(made.X), made.y, **named)
    found = scores(library.predict_proba(model, made.X), made.y)
    assert found["error"] < 0.2
