import numpy as np
import pytest
from sklearn.datasets import load_iris

pl = pytest.importorskip("polars")
pytest.importorskip("typer")
pytest.importorskip("rich")

SPECIES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MARGINBOOST_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def flowers():
    """A table with a column of text, missing values, and names as labels."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    length = pl.Series(np.where(rng.random(150) < 0.2, np.nan, X[:, 0]), nan_to_null=True)
    return pl.DataFrame(
        {
            "length": length,
            "width": X[:, 3],
            "petal": np.where(X[:, 2] < 2.5, "short", np.where(X[:, 2] < 4.9, "middling", "long")),
            "species": SPECIES[y],
        }
    )


@pytest.fixture
def run():
    """Run a command, and give its result: `exit_code`, `stdout`, `stderr`."""
    from typer.testing import CliRunner  # noqa: PLC0415

    from marginboost.cli.app import app  # noqa: PLC0415

    def invoke(*arguments, stdin=None, env=None):
        return CliRunner().invoke(
            app,
            [str(argument) for argument in arguments],
            input=stdin,
            env=env,
            prog_name="marginboost",
        )

    return invoke


@pytest.fixture
def model(folder, flowers, run):
    """The name of a model that was trained on flowers.csv, which lies beside it."""
    flowers.write_csv("flowers.csv")
    result = run("train", "flowers.csv", "--target", "species", "--rounds", 10, "-q")
    assert result.exit_code == 0, result.stderr
    return "flowers.safetensors"
