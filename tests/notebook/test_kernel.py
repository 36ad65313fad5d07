"""What a notebook shows, executed by a real Jupyter kernel."""

import base64
import html
import io
import json
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
from matplotlib.image import imread

MISSING = [name for name in ("ipykernel", "nbclient") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

CELLS = {
    "fit": """
        from sklearn.datasets import load_iris
        from marginboost import MarginBoostClassifier, plot
        X, y = load_iris(return_X_y=True)
        rounds = []
        model = MarginBoostClassifier(30, verbose=1, random_state=0, callbacks=[rounds.append])
        model = model.fit(X, y)
    """,
    "plot": "plot.importances(model)",
    "two plots": """
        plot.importances(model)
        plot.learning_curves(model);
    """,
    "ax": """
        import matplotlib.pyplot as plt
        figure, (left, right) = plt.subplots(1, 2)
        plot.importances(model, ax=left)
        plot.confusion(model, X, y, ax=right);
    """,
    "left open": "plt.get_fignums()",
    "explanation": "model.explain(X[:5])",
    "round": "rounds[-1]",
    "report": """
        from marginboost.report import write_report
        write_report(model, "report.html", X, y)
    """,
    "lines": """
        from marginboost.boosting.progress import make_lines
        make_lines()("as the tuner writes")
    """,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def outputs(folder):
    """Return the outputs of each cell."""
    sources = [textwrap.dedent(source).strip() for source in CELLS.values()]
    program = Path(__file__).with_name("execute.py")
    command = [sys.executable, "-W", "ignore", str(program), str(folder)]
    done = subprocess.run(
        command, input=json.dumps(sources), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(CELLS, json.loads(done.stdout), strict=True))


def of_type(outputs, kind):
    """Return what is shown in a form."""
    return [output["data"][kind] for output in outputs if kind in output.get("data", {})]


def test_progress_is_one_bar_without_red_lines(outputs):
    assert [output["output_type"] for output in outputs["fit"]] == ["display_data"]
    (bar,) = of_type(outputs["fit"], "text/html")
    assert '<progress max="30" value="30"' in bar
    assert "30 of 30 rounds" in bar
    assert "training error" in bar
    assert bar.count("done") == 1


@pytest.mark.parametrize(("cell", "n_pictures"), [("plot", 1), ("two plots", 2), ("ax", 1)])
def test_pictures_appear_once(outputs, cell, n_pictures):
    pictures = of_type(outputs[cell], "image/png")
    assert len(pictures) == n_pictures
    for picture in pictures:
        pixels = imread(io.BytesIO(base64.b64decode(picture)))
        assert min(pixels.shape[:2]) > 100
        assert pixels[..., :3].std() > 0.05  # not blank


def test_no_figure_is_left_behind(outputs):
    assert of_type(outputs["left open"], "text/plain") == ["[]"]


def test_an_explanation_is_a_table(outputs):
    (shown,) = of_type(outputs["explanation"], "text/html")
    assert "5 rows, 4 features, 3 classes per row" in shown
    assert shown.count("<table") == 3
    assert "The first 3 of 5 rows are shown." in shown


def test_a_round_is_a_table(outputs):
    (shown,) = of_type(outputs["round"], "text/html")
    assert "Round 30" in shown
    assert "training loss" in shown
    assert "validation" not in shown  # unknown


def test_a_report_is_a_frame_of_its_own(outputs, folder):
    (shown,) = of_type(outputs["report"], "text/html")
    assert shown.startswith('<iframe srcdoc="')
    assert ' sandbox="allow-scripts"' in shown
    content = shown.removeprefix('<iframe srcdoc="').split('"', 1)[0]
    assert html.unescape(content) == (folder / "report.html").read_text(encoding="utf-8")


def test_lines_are_not_red(outputs):
    (output,) = outputs["lines"]
    assert (output["name"], output["text"]) == ("stdout", "as the tuner writes\n")
