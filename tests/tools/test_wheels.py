"""What wheels and releases are made of: names, bill of materials, links, recipe."""

import importlib
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

import marginboost

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

pytestmark = pytest.mark.skipif(
    not (ROOT / "tools" / "wheels").exists(), reason="wheels are built from a checkout"
)


@pytest.fixture
def wheel_tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "wheels"))
    for name in ("matrix", "sbom"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("matrix"), importlib.import_module("sbom")
    for name in ("matrix", "sbom"):
        del sys.modules[name]


@pytest.mark.parametrize(
    ("version", "tag"),
    [((3, 11), "cp311-cp311"), ((3, 12), "cp312-abi3"), ((3, 14), "cp312-abi3")],
)
def test_every_python_from_312_on_shares_a_wheel(wheel_tools, version, tag):
    matrix, _ = wheel_tools
    assert matrix.Interpreter("python", version).tag == tag


def test_names_of_modules_are_what_python_looks_for(wheel_tools):
    matrix, _ = wheel_tools
    python = matrix.Interpreter("python", (3, 11))
    assert [python.ext_suffix(target) for target in matrix.TARGETS] == [
        ".cpython-311-x86_64-linux-gnu.so",
        ".cpython-311-aarch64-linux-gnu.so",
        ".cpython-311-x86_64-linux-musl.so",
        ".cpython-311-aarch64-linux-musl.so",
    ]
    assert matrix.interpreter(sys.executable).version == sys.version_info[:2]
    assert matrix.interpreter("no-such-python") is None


def test_musl_has_the_name_that_installers_know(wheel_tools):
    """zig calls it libc.so, which auditwheel takes for some other library."""
    matrix, _ = wheel_tools
    names = {target.tag: target.musl for target in matrix.TARGETS}
    assert names == {
        "manylinux_2_17_x86_64": None,
        "manylinux_2_17_aarch64": None,
        "musllinux_1_2_x86_64": "libc.musl-x86_64.so.1",
        "musllinux_1_2_aarch64": "libc.musl-aarch64.so.1",
    }


def test_bill_of_materials_names_all_that_is_linked(wheel_tools):
    matrix, sbom = wheel_tools
    arguments = ("0.2.0", matrix.TARGETS[0], "cp312-abi3", "2026-01-01T00:00:00Z")
    text = sbom.sbom(*arguments)
    assert text == sbom.sbom(*arguments)  # no clock, no random number
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["timestamp"] == "2026-01-01T00:00:00Z"
    names = [part["name"] for part in bill["components"]]
    assert names == ["nanobind", "libcxx", "libcxxabi", "libunwind"]
    assert bill["components"][0]["version"] == sbom.pins()["nanobind"]
    refs = [part["bom-ref"] for part in bill["components"]]
    assert bill["dependencies"] == [
        {"ref": bill["metadata"]["component"]["bom-ref"], "dependsOn": refs}
    ]


def test_description_has_absolute_links_only():
    text = (ROOT / "README.md").read_text("utf-8")
    hooks = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    home = PYPROJECT["project"]["urls"]["Repository"]
    for rule in hooks["substitutions"]:
        assert f"({home}/" in rule["replacement"]
        text = re.sub(rule["pattern"], rule["replacement"], text)
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 20
    assert [link for link in targets if not link.startswith(("https://", "#"))] == []
    assert "/raw/v$HFPR_VERSION/docs/learning_curves.png)" in text


def test_conda_recipe_is_of_this_version():
    recipe = ROOT / "conda" / "recipe.yaml"
    if not recipe.exists():
        pytest.skip("a source distribution has no recipe")
    text = recipe.read_text("utf-8")
    assert f'version: "{marginboost.__version__}"' in text
    listed = re.search(r"  run:\n(.*?)\n\n", text, re.DOTALL)[1]
    needed = [word.removeprefix("    - ").replace(" ", "") for word in listed.splitlines()]
    python = f"python{PYPROJECT['project']['requires-python']}"
    assert needed == [python, *PYPROJECT["project"]["dependencies"]]


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"version: {marginboost.__version__}" in citation.replace('"', "")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{marginboost.__version__}]" in changes
