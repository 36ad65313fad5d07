"""Build the source distribution and from it the wheels, with the compiler of the package `ziglang`.

Usage: ``python tools/wheels/build.py [--python PATH]... [--only TAG] [--twice]``, or ``make wheels``.
The files go to dist/. With ``--twice`` everything is built once more, in another folder, and the bytes
must be equal. The environment needs what tools/wheels/requirements.txt lists.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from matrix import STABLE, TARGETS, Interpreter, Target, find_interpreters
from sbom import pins, sbom

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "wheels"
HERE = Path("tools/wheels")
BUILD = "import sys, json; from scikit_build_core import build as b; getattr(b, sys.argv[1])(sys.argv[2], json.loads(sys.argv[3]))"  # noqa: E501


def run(*command: str | Path, cwd: Path, env: dict[str, str], log: Path) -> None:
    """Run a command, its output to a file, and stop with the file's end if it fails."""
    with log.open("ab") as file:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env=env,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        sys.exit(f"{log.read_text('utf-8', 'replace')[-4000:]}\nThe build failed; see {log}.")


def last_commit_time() -> str:
    """Return the time that all files are said to be of."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    git = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def package_version() -> str:
    """Return the version that the package says it has."""
    text = (ROOT / "src/marginboost/__init__.py").read_text("utf-8")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    if found is None:
        sys.exit("src/marginboost/__init__.py must define __version__; it does not.")
    return found[1]


@dataclass
class Build:
    """One build of everything, in a folder of its own."""

    folder: Path
    out: Path
    epoch: str
    keep: bool = False

    def __post_init__(self) -> None:
        import ziglang  # noqa: PLC0415

        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.folder / "source", ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.out.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "log.txt"
        self.env = {
            **os.environ,
            "SOURCE_DATE_EPOCH": self.epoch,
            "ZIG": str(Path(ziglang.__file__).parent / "zig"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "CMAKE_GENERATOR": "Ninja",
        }
        self.stub: Path | None = None
        self.cores: dict[str, Path] = {}
        self.environments: dict[str, Path] = {}

    def sdist(self) -> Path:
        """Build the source distribution, and unpack it as what the wheels are built from."""
        self._call(Path(sys.executable), "build_sdist", {}, ROOT, self.env)
        archive = next(self.out.glob("marginboost-*.tar.gz"))
        with tarfile.open(archive) as file:
            file.extractall(self.folder, filter="data")
        (self.folder / archive.name.removesuffix(".tar.gz")).rename(self.folder / "source")
        return archive

    def wheel(self, python: Interpreter, target: Target) -> Path:
        """Build one wheel."""
        env = {
            **self.env,
            "ZIG_TARGET": target.zig,
            "SETUPTOOLS_EXT_SUFFIX": python.ext_suffix(target),
        }
        name = f"{python.tag}-{target.tag}"
        settings = {
            "build-dir": str(self.folder / name),
            "cmake.define.CMAKE_TOOLCHAIN_FILE": str(self.folder / "source" / HERE / "zig.cmake"),
            "cmake.define.MARGINBOOST_CORE": str(self._core(target, env)),
            # For the wheel's name alone: in the environment it would change this Python's own tags too.
            "env._PYTHON_HOST_PLATFORM": target.tag,
            "cmake.define.MARGINBOOST_SBOM": str(self._sbom(name, python, target)),
            # Some releases of glibc lose vector registers where thread-local storage is found this way.
            "cmake.define.NB_HAS_MTLS_GNU2": "OFF",
        }
        if python.tag.endswith("abi3"):
            settings["wheel.py-api"] = STABLE
        if target.musl:
            settings["cmake.define.MARGINBOOST_LIBC"] = target.musl
        if not target.runs_here:
            settings["cmake.define.MARGINBOOST_STUB"] = str(self.stub)
        self._call(self._environment(python), "build_wheel", settings, self.folder / "source", env)
        built = next(self.out.glob(f"marginboost-*-{name}.whl"))
        if self.stub is None:
            with zipfile.ZipFile(built) as file:
                self.stub = Path(file.extract("marginboost/_native.pyi", self.folder / "stub"))
        return built

    def _call(
        self, python: Path, hook: str, settings: dict[str, str], cwd: Path, env: dict[str, str]
    ) -> None:
        run(
            python,
            "-c",
            BUILD,
            hook,
            self.out,
            json.dumps(settings),
            cwd=cwd,
            env=env,
            log=self.log,
        )

    def _core(self, target: Target, env: dict[str, str]) -> Path:
        """Build what no Python is needed for: once for all Pythons."""
        if target.zig not in self.cores:
            folder, source = self.folder / f"core-{target.tag}", self.folder / "source"
            self.cores[target.zig] = folder / "libmarginboost_core.a"
            if self.keep and self.cores[target.zig].exists():
                return self.cores[target.zig]
            toolchain = f"-DCMAKE_TOOLCHAIN_FILE={source / HERE / 'zig.cmake'}"
            configure = [
                "cmake",
                "-S",
                source,
                "-B",
                folder,
                "-DCMAKE_BUILD_TYPE=Release",
                toolchain,
            ]
            run(*configure, cwd=source, env=env, log=self.log)
            run("cmake", "--build", folder, cwd=source, env=env, log=self.log)
        return self.cores[target.zig]

    def _sbom(self, name: str, python: Interpreter, target: Target) -> Path:
        at = datetime.fromtimestamp(int(self.epoch), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        file = self.folder / "sboms" / name / "marginboost.cdx.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sbom(package_version(), target, python.tag, at), "utf-8")
        return file

    def _environment(self, python: Interpreter) -> Path:
        """Return a Python with the build back end in an environment of its own."""
        if python.tag not in self.environments:
            folder = WORK / f"python-{python.version[0]}.{python.version[1]}"
            made = folder / "bin" / "python"
            if not (folder / ".made").exists():
                run(
                    python.path,
                    "-m",
                    "venv",
                    "--clear",
                    folder,
                    cwd=ROOT,
                    env=self.env,
                    log=self.log,
                )
                pip = [made, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
                pins = ["--constraint", ROOT / HERE / "requirements.txt"]
                tools = ["scikit-build-core", "nanobind", "hatch-fancy-pypi-readme"]
                run(*pip, *pins, *tools, cwd=ROOT, env=self.env, log=self.log)
                (folder / ".made").touch()
            self.environments[python.tag] = made
        return self.environments[python.tag]


def build_all(build: Build, pythons: list[Interpreter], targets: list[Target]) -> list[Path]:
    """Build all wheels from the unpacked sources, those first that can be imported here."""
    made = []
    for target in sorted(targets, key=lambda one: not one.runs_here):
        for python in pythons:
            made.append(build.wheel(python, target))
            print(f"built {made[-1].name}", flush=True)
    return made


def compare(made: list[Path], again: list[Path]) -> None:
    """Stop unless two builds have given the same bytes."""
    different = [a.name for a, b in zip(made, again, strict=True) if digest(a) != digest(b)]
    if different:
        sys.exit(f"Two builds must give equal bytes; these differ: {', '.join(different)}.")


def check_pins() -> None:
    """Stop unless the tools are those that the bill of materials names."""
    for name, pinned in pins().items():
        if (found := version(name)) != pinned:
            sys.exit(
                f"{name} must be of version {pinned} (tools/wheels/requirements.txt); it is {found}."
            )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Build, and compare with a second build if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="a Python 3.11, a newer one")
    parser.add_argument("--only", default="", help="only targets with this in their tag")
    parser.add_argument("--twice", action="store_true", help="compare the bytes of two builds")
    parser.add_argument("--keep", action="store_true", help="do not compile the core anew")
    given = parser.parse_args()
    pythons = find_interpreters(given.python)
    if {python.version < (3, 12) for python in pythons} != {True, False}:
        found = ", ".join(python.path for python in pythons) or "none"
        sys.exit(
            f"Wheels need a Python 3.11 and a newer one (--python PATH, twice); found: {found}."
        )
    targets = [target for target in TARGETS if given.only in target.tag]
    if not any(target.runs_here for target in targets):
        sys.exit(
            "One of the targets must run here: the module's type stub is made by importing it."
        )
    check_pins()
    epoch = last_commit_time()
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    builds = [Build(WORK / "first", ROOT / "dist", epoch, given.keep)]
    if given.twice:
        other = WORK / "again"
        shutil.rmtree(other, ignore_errors=True)
        builds.append(Build(other / "build", other / "dist", epoch))
    # The sources of both first: who goes on working during the build changes neither.
    made = [[build.sdist()] for build in builds]
    compare(made[0], made[-1])
    for files, build in zip(made, builds, strict=True):
        files.extend(build_all(build, pythons, targets))
    compare(made[0], made[-1])
    if given.twice:
        print(f"two builds of {len(made[0])} files: equal bytes")


if __name__ == "__main__":
    main()
