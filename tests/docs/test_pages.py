"""Every code block of the README and the documentation runs."""

import pytest
from page_support import ROOT, blocks_of, run_page

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NEEDS = {
    "README": ["typer", "polars", "pandas"],
    "cli": ["typer", "polars"],
    "decisions": ["typer", "polars", "pandas"],
    "guide": ["polars", "pyarrow"],
    "tutorial": ["typer", "polars", "pandas", "onnx", "skl2onnx", "onnxruntime"],
}


@pytest.mark.filterwarnings(
    "ignore:The set_:PendingDeprecationWarning"
)  # functions that shap calls
@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=lambda p: p.stem)
def test_page(page, tmp_path, monkeypatch, capsys):
    for module in NEEDS.get(page.stem, []):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    run_page(page)
