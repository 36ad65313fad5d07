"""A program as a user would write it: it must pass strict type checks."""

from pathlib import Path

import numpy as np
import onnx
from matplotlib.axes import Axes
from numpy.typing import NDArray

import marginboost
from marginboost import (
    MarginBoostClassifier,
    MarginBoostClassifierCV,
    MCBoostClassifier,
    Round,
    plot,
)
from marginboost.report import write_report


def watch(finished: Round) -> bool:
    print(f"round {finished.number}: {finished.training_loss:.3f} after {finished.seconds:.1f} s")
    return finished.validation_error < 0.01


rng = np.random.default_rng(0)
X: NDArray[np.float64] = rng.normal(size=(200, 4))
y: NDArray[np.int64] = (X[:, 0] > 0).astype(np.int64)

model = MarginBoostClassifier(
    100,
    loss="logistic",
    learning_rate=0.1,
    max_leaf_nodes="auto",
    class_weight="balanced",
    early_stopping=True,
    callbacks=[watch],
    engine="native",
    device="cpu",
).fit(X, y)
labels: NDArray[np.int64] = model.predict(X)
probabilities: NDArray[np.float64] = model.predict_proba(X)
accuracy: float = model.score(X, y)
importances: NDArray[np.float64] = model.feature_importances_
reason: str = model.stop_reason_
rounds: int = model.n_iter_

served = model.compile()
label, row = served(X[0])
print(label, row.sum(), served.predict_proba(X).shape)

why = model.explain(X[:5], top=1)
print(why.contributions.shape, why.scores.sum())

model.save(Path("model.safetensors"))
loaded = marginboost.load("model.safetensors")
again: MarginBoostClassifier = MarginBoostClassifier.load("model.safetensors")
print(loaded.predict(X), again.predict(X))

exported: onnx.ModelProto = model.to_onnx("model.onnx")
print(exported.graph.name)

axes: Axes = plot.learning_curves(model, measure="loss")
print(axes.get_title())
write_report(model, "report.html", X, y, title="A model")

stumps = MCBoostClassifier(50, loss="exponential").fit(X, y)
plot.shapes(stumps, 0)
tuned = MarginBoostClassifierCV(time_limit=10.0).fit(X, y)
print(tuned.oof_error_, accuracy, importances, reason, rounds, labels, probabilities)
model.to_onnx(opset="newest")

# Words that are no choices: each line must be an error.
MarginBoostClassifier(loss="logstic")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
MarginBoostClassifier("many")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
MarginBoostClassifier(device="gpu")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
MCBoostClassifier(engine="fast")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
MCBoostClassifier(class_weight="even")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
model.to_onnx(opset="latest")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
plot.learning_curves(model, measure="los")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
_ = marginboost.Missing  # type: ignore[attr-defined]  # pyright: ignore
