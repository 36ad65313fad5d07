"""How a fitted classifier is kept: as a file, and as an ONNX model."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from marginboost.data.encoding import Encoding
from marginboost.estimators.saving import load_as, save
from marginboost.model.ensemble import Ensemble
from marginboost.model.file import write_bytes
from marginboost.model.link import Link

if TYPE_CHECKING:
    from onnx import ModelProto


class Persistence:
    """A classifier that can be saved and exported."""

    classes_: NDArray[Any]
    ensemble_: Ensemble
    encoding_: Encoding

    @abstractmethod
    def _link(self, n_classes: int) -> Link:
        """Return the rule that turns scores into probabilities."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier to a file, from which `marginboost.load` makes it again.

        The file is in the safetensors format: arrays and text, no code. It holds the parameters too, but
        for a `random_state` that is a generator, which becomes None. See docs/model_file.md.

        Parameters
        ----------
        path : str or path
            The file. What is there is replaced, in one step: a save that fails leaves it as it was.
        """
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted classifier of this class from a file that `save` has written.

        Parameters
        ----------
        path : str or path
            The file. It may come from anywhere: nothing in it is run, and all of it is checked first.

        Returns
        -------
        BoostedClassifier
            Of this class; it predicts the same bits.

        Raises
        ------
        ModelFileError
            If the file is damaged, is no model of this class, or needs a newer version.
        """
        model: Self = load_as(cls, path)
        return model

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        opset: int | Literal["newest"] | None = None,
    ) -> ModelProto:
        """Make an ONNX model of the fitted classifier, for runtimes without Python.

        Where all columns are numbers, it has one input, "X", of float32 and shape (n, n_features), with
        NaN where a value is missing. Else it has one input of shape (n, 1) a column, named as the column:
        of text where the categories are text, else of float32; text that is no category is a missing
        value.

        Outputs are "label", of shape (n,), "probabilities" and "scores", both float32 and of shape
        (n, n_classes). Labels are those of least expected cost where the model has costs. Values are
        rounded to float32 on their way in, nowhere else: give the classifier the same rounded values,
        and scores agree to float32's precision.

        Parameters
        ----------
        path : str or path, optional
            A file to write it to. It takes less room than what the returned model serializes to, since
            it holds the same integers packed.
        opset : int or "newest", optional
            Version of the operators of ONNX's default domain, 13 at least. None: 13, which old runtimes
            read, too. "newest": that of the installed package onnx, which may be newer than the runtime.

        Returns
        -------
        onnx.ModelProto
            With the name and version of this library as its producer, and in its metadata, as JSON, the
            name of the class ("classifier"), the labels ("classes") and the names of the columns
            ("columns", if there are any).
        """
        from marginboost.model.onnx_file import describe, packed  # noqa: PLC0415 - rarely needed
        from marginboost.model.onnx_model import make_onnx  # noqa: PLC0415 - rarely needed

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        link = self._link(len(self.classes_))
        costs = getattr(self, "cost_matrix_", None)
        model = make_onnx(
            self.ensemble_, self.encoding_, self.classes_, link, names, opset=opset, costs=costs
        )
        describe(model, type(self).__name__, self.classes_, names)
        if path is not None:
            write_bytes(path, packed(model))
        return model
