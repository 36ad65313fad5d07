"""What an installed wheel must do: import, fit, predict, save and load, the same on every processor.

Prints the kernels in use, and digests of model files and scores.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import marginboost
from marginboost import MarginBoostClassifier, MCBoostClassifier, _native


def problem() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of four classes, the same everywhere: from whole numbers, without a logarithm."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 1000, size=(600, 6)) / 1000.0
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0.8).astype(int) + 2 * (X[:, 3] > X[:, 4])
    return X, y


def digest(data: bytes) -> str:
    """Return enough of a SHA-256 to compare by eye."""
    return sha256(data).hexdigest()[:16]


def main() -> None:
    """Fit, save, load and compare."""
    X, y = problem()
    available = []
    for name in ("avx512", "avx2", "neon", "portable"):
        try:
            _native.use_kernels(name)
        except ValueError:
            continue
        available.append(name)
    print("kernels", *available)
    for model in (MarginBoostClassifier(30, random_state=0), MCBoostClassifier(30)):
        kind = type(model).__name__
        files = {}
        for name in available:
            _native.use_kernels(name)
            model.fit(X, y)
            model.fit_seconds_ = np.zeros_like(model.fit_seconds_)  # all else in a file is the same
            with TemporaryDirectory() as folder:
                path = Path(folder) / "model.mb"
                model.save(path)
                files[name] = path.read_bytes()
                loaded = marginboost.load(path)
            if not np.array_equal(loaded.decision_function(X), model.decision_function(X)):
                sys.exit(f"{kind}: the loaded model must give the same scores.")
        if len(set(files.values())) != 1:
            sys.exit(f"{kind}: all kernels must give the same model; they do not.")
        scores = model.decision_function(X)
        print(kind, "model", digest(files[available[0]]), "scores", digest(scores.tobytes()))


if __name__ == "__main__":
    main()
