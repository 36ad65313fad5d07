"""Try the wheels in dist/: in fresh environments here, and for aarch64 under qemu-user.

Here: install, import, fit, save and load with each Python given, and end the interpreter while a thread
works. For aarch64: the C++ tests that compare kernels, a subset of the contract between the engines, and
the same fits, whose models are compared with those of this machine.

Usage: ``python tools/wheels/check.py [--python PATH]... [--aarch64 FOLDER] [--models FILE]``, or ``make
wheels-test``; the folder is one that tools/wheels/aarch64.sh has made. Between two machines the file
carries what models must be like: it is written where it is missing, and else compared.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import matrix

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "wheels"
SMOKE = ROOT / "tools" / "wheels" / "smoke.py"
CONTRACT = [
    "tests/contract/test_trees.py",
    "tests/contract/test_stumps.py",
    "tests/model/test_ranked.py",
    "tests/coefficients",
]
# Those that compare kernels: all of them would take an hour under emulation.
NATIVE = ["kernels", "plain_walk"]
CHOSEN = "kernels or reference and 7 or threads_change_nothing or ranked"


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command and return what it printed; stop if it fails."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(words)} failed with {done.returncode}.")
    return done.stdout


def wheel_for(python: matrix.Interpreter, target: matrix.Target) -> Path:
    """Return the wheel that pip would choose."""
    found = sorted((ROOT / "dist").glob(f"marginboost-*-{python.tag}-{target.tag}.whl"))
    if not found:
        sys.exit(f"dist must hold a wheel {python.tag}-{target.tag}; run `make wheels` first.")
    return found[-1]


def check_here(python: matrix.Interpreter) -> str:
    """Install the wheel in a fresh environment and use it; return what the fits printed."""
    target = next(target for target in matrix.TARGETS if target.runs_here)
    wheel = wheel_for(python, target)
    folder = WORK / f"fresh-{python.version[0]}.{python.version[1]}"
    run(python.path, "-m", "venv", "--clear", folder)
    fresh = folder / "bin" / "python"
    run(fresh, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", wheel, "pytest")
    printed = run(fresh, SMOKE, cwd=folder)
    exits = ROOT / "tests" / "engine" / "test_interpreter_exit.py"
    run(
        fresh,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--noconftest",
        "-c",
        os.devnull,
        exits,
        cwd=folder,
    )
    print(f"{wheel.name} on Python {python.version[0]}.{python.version[1]}:\n{printed}", flush=True)
    return printed


def check_aarch64(folder: Path, expected: str) -> None:
    """Test the wheel for aarch64 under qemu-user, and compare its models with this machine's."""
    target = next(target for target in matrix.TARGETS if target.suffix == "aarch64-linux-gnu")
    major, minor = (folder / "version").read_text().strip().split(".")
    wheel = wheel_for(matrix.Interpreter("", (int(major), int(minor))), target)
    print(run_native_tests(folder, target), flush=True)
    site = WORK / "site-aarch64"
    shutil.rmtree(site, ignore_errors=True)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    paths = os.pathsep.join([str(site), str(folder / "site")])
    printed = run(folder / "python", SMOKE, PYTHONPATH=paths)
    print(f"{wheel.name} under qemu:\n{printed}", flush=True)
    compare(printed, expected)
    print(
        run(
            *(folder / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("--import-mode=importlib", "-k", CHOSEN, *CONTRACT),
            PYTHONPATH=paths,
        )
    )


def compare(printed: str, expected: str) -> None:
    """Stop unless the models of two Pythons or machines have the same bits."""
    models, others = (
        [line for line in text.splitlines() if " model " in line] for text in (printed, expected)
    )
    if models != others:
        sys.exit(f"Models must have the same bits everywhere; got {models} and {others}.")
    print("models and scores: the same bits in both", flush=True)


def run_native_tests(folder: Path, target: matrix.Target) -> str:
    """Build the C++ tests around the core that is in the wheels, and run them under qemu-user."""
    import ziglang  # noqa: PLC0415

    build, source = WORK / f"tests-{target.tag}", WORK / "first" / "source"
    tools = {
        "ZIG": str(Path(ziglang.__file__).parent / "zig"),
        "ZIG_TARGET": target.zig,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    core = WORK / "first" / f"core-{target.tag}" / "libmarginboost_core.a"
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_TOOLCHAIN_FILE": source / "tools/wheels/zig.cmake",
        "MARGINBOOST_NATIVE_TESTS": "ON",
        "MARGINBOOST_CORE": core,
    }
    defines = [f"-D{name}={value}" for name, value in options.items()]
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", *defines, **tools)
    run("cmake", "--build", build, **tools)
    return run(folder / "run", build / "marginboost_tests", *NATIVE)


def main() -> None:
    """Check the wheels that can run here, and those for aarch64 if there is a folder for them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="Pythons to try wheels with")
    parser.add_argument("--aarch64", type=Path, help="a folder of tools/wheels/aarch64.sh")
    parser.add_argument("--models", type=Path, help="what models must be like")
    given = parser.parse_args()
    found = [matrix.interpreter(path) for path in given.python]
    pythons = [python for python in found if python] or matrix.find_interpreters([])
    printed = [check_here(python) for python in pythons]
    if not printed:
        sys.exit("The wheels must be tried with some Python 3.11 or newer; none was found.")
    for text in printed[1:]:
        compare(text, printed[0])
    if given.models and given.models.exists():
        compare(printed[0], given.models.read_text("utf-8"))
    elif given.models:
        given.models.write_text(printed[0], "utf-8")
    if given.aarch64:
        check_aarch64(given.aarch64.resolve(), printed[0])


if __name__ == "__main__":
    main()
