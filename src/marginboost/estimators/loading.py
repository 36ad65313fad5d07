"""Any classifier of the library from its file."""

from __future__ import annotations

import os

from marginboost.estimators.fitted import FittedClassifier
from marginboost.estimators.saving import load_as

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> FittedClassifier:
    """Read a fitted classifier from a file that its `save` has written.

    Parameters
    ----------
    path : str or path
        The file. It may come from anywhere: nothing in it is run, and all of it is checked first.

    Returns
    -------
    FittedClassifier
        Of the class that was saved; it predicts the same bits.

    Raises
    ------
    ModelFileError
        If the file is damaged, is no model, or needs a newer version.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import marginboost
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = marginboost.MCBoostClassifier(n_estimators=10).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "iris.safetensors")
    ...     again = marginboost.load(Path(folder) / "iris.safetensors")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    model: FittedClassifier = load_as(FittedClassifier, path)
    return model
