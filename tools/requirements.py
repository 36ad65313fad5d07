"""Print requirements from pyproject.toml, one per line, for ``pip install -r``.

Usage: ``python tools/requirements.py build`` or ``python tools/requirements.py EXTRA...``
"""

import sys
import tomllib
from pathlib import Path


def requirements(name: str) -> list[str]:
    """Return the build system's requirements for "build", or those of the extra called ``name``."""
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    if name == "build":
        return list(pyproject["build-system"]["requires"])
    return list(pyproject["project"]["optional-dependencies"][name])


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*requirements(argument), sep="\n")
