"""Every method of the paper on pendigits: rounds per second, and time to evaluate a row.

The three forms of decision function are the paper's Table VI: a code with one weak classifier per
round, a code with one for every column, and a matrix of coefficients.
"""

import data
from report import Report
from timing import interleaved

import marginboost

FORMS = {
    "AdaBoostMHClassifier": "code, one label",
    "AdaBoostECCClassifier": "code, one label",
    "AdaBoostSIPClassifier": "code, one label",
    "AdaBoostMOClassifier": "code, all columns",
    "SAMMEClassifier": "leaf names a class",
    "JointBoostClassifier": "values per side",
}


def run(quick: bool) -> Report:
    split = data.load("pendigits")
    report = Report(
        "Every method on pendigits, stumps",
        ("method", "rounds", "rounds/s", "test error %", "decision function", "us/row"),
        notes=[
            *split.notes,
            "MultiBoost slows down with every round: it solves for all coefficients so far.",
        ],
    )
    for name in sorted(n for n in marginboost.__all__ if n.endswith("Classifier")):
        slow = name in ("AdaBoostMOClassifier", "MultiBoostClassifier")
        rounds = (5 if slow else 50) if quick else (20 if slow else 500)
        model = getattr(marginboost, name)(rounds)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        seconds = interleaved({"fit": lambda m=model: m.fit(split.X, split.y)}, repeats=1)["fit"]
        evaluate = interleaved(
            {"all": lambda m=model: m.decision_function(split.X_test)}, repeats=1 if quick else 3
        )["all"]
        report.rows.append(
            (
                name.removesuffix("Classifier"),
                model.n_iter_,
                model.n_iter_ / seconds,
                100 * (1 - float(model.score(split.X_test, split.y_test))),
                FORMS.get(name, "matrix W"),
                1e6 * evaluate / len(split.X_test),
            )
        )
    return report
