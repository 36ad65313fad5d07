"""Every example of the gallery runs."""

import runpy

import pytest
from page_support import ROOT

mpl = pytest.importorskip("matplotlib")

EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
NEEDS = {
    "plot_onnx": ["onnx", "skl2onnx", "onnxruntime"],
    "plot_missing_and_categories": ["pandas"],
    "plot_interactions": ["pandas"],
    "plot_monotonic": ["pandas"],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path, monkeypatch, capsys):
    from matplotlib import pyplot as plt  # noqa: PLC0415

    for module in NEEDS.get(example.stem, []):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    with mpl.rc_context({"backend": "Agg"}):
        plt.switch_backend("Agg")
        runpy.run_path(str(example), run_name="__main__")
        assert plt.get_fignums() or example.stem == "plot_onnx"
        plt.close("all")


def test_there_are_examples():
    assert len(EXAMPLES) >= 6
