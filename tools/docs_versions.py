"""Build the documentation of every released version, and of this checkout, with a list to choose from.

A version is a tag such as v0.2.0. It is built once, with its own package, into ``out/site/0.2.0``; this
checkout is built each time, into ``out/site/dev``. Pages choose between versions by
``_static/versions.js``, which is written anew into each, so that old pages know new versions. The site
needs no server: it works from a disk as well.

Usage: ``python tools/docs_versions.py``, or ``make docs-versions``.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
RELEASE = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
DEV = "dev"

INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>marginboost</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<p><a href="{folder}/index.html">The documentation of marginboost</a></p>
</html>
"""


def released(root: Path) -> list[str]:
    """Return the tags of releases, the newest first."""
    told = subprocess.run(
        ["git", "tag", "--list", "v*"], cwd=root, check=True, capture_output=True, text=True
    )
    found = [match for match in map(RELEASE.fullmatch, told.stdout.split()) if match]
    return [match[0] for match in sorted(found, key=_numbers, reverse=True)]


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    return tuple(map(int, match.groups()))


def export(root: Path, tag: str, folder: Path) -> None:
    """Write the files of a tag to a folder."""
    told = subprocess.run(["git", "archive", tag], cwd=root, check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(told.stdout)) as files:
        files.extractall(folder, filter="data")


def build_tag(root: Path, tag: str, target: Path) -> None:
    """Build the pages of a tag with the package of that tag."""
    source = root / "build" / "docs-versions" / tag
    export(root, tag, source)
    packages = source / "build" / "packages"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--no-build-isolation", "--no-deps", "--upgrade", "--target", str(packages)]
    subprocess.run([*pip, *options, str(source)], check=True)
    build_pages(source, target, str(packages))


def build_pages(source: Path, target: Path, packages: str | None = None) -> None:
    """Build the pages of a folder; warnings are those of its own time, and no errors."""
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    if packages is not None:
        environment["PYTHONPATH"] = packages
    trees = source / "build" / "doctrees"
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(trees)]
    subprocess.run([*command, "docs", str(target)], cwd=source, env=environment, check=True)


def write_switcher(site: Path, newest: str) -> None:
    """Write the list of versions into the pages of each, and a page that leads to the newest release.

    Parameters
    ----------
    site : Path
        A folder of versions.
    newest : str
        The folder that the first page leads to.
    """
    folders = [path.parent for path in site.glob("*/index.html")]
    releases = [RELEASE.fullmatch(f"v{folder.name}") for folder in folders]
    names = [found[0][1:] for found in sorted(filter(None, releases), key=_numbers, reverse=True)]
    if any(folder.name == DEV for folder in folders):
        names.append(DEV)
    versions = [
        {
            "title": "development" if name == DEV else name,
            "folder": name,
            "pages": sorted(
                page.relative_to(site / name).as_posix() for page in (site / name).rglob("*.html")
            ),
        }
        for name in names
    ]
    text = json.dumps(versions, indent=1)
    (site / "versions.json").write_text(text + "\n", "utf-8")
    for name in names:
        static = site / name / "_static"
        static.mkdir(exist_ok=True)
        (static / "versions.js").write_text(f"window.MARGINBOOST_VERSIONS = {text};\n", "utf-8")
    (site / "index.html").write_text(INDEX.format(folder=newest), "utf-8")


def build_all(
    root: Path,
    site: Path,
    build: Callable[[Path, str, Path], None] = build_tag,
    build_checkout: Callable[[Path, Path], None] = build_pages,
) -> list[str]:
    """Build what is missing and the checkout; return the tags that were built."""
    site.mkdir(parents=True, exist_ok=True)
    tags = released(root)
    missing = [tag for tag in tags if not (site / tag[1:] / "index.html").exists()]
    for tag in missing:
        print(f"Building the pages of {tag} ...", flush=True)
        build(root, tag, site / tag[1:])
    build_checkout(root, site / DEV)
    write_switcher(site, tags[0][1:] if tags else DEV)
    return missing


def main(arguments: list[str] | None = None) -> None:
    """Build the site and say where it is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "site", help="default: out/site")
    options = parser.parse_args(arguments)
    site = options.out.resolve()
    build_all(ROOT, site)
    print(f"Documentation of all versions: {site / 'index.html'}")


if __name__ == "__main__":
    main()
