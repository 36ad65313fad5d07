"""Check the files in dist/ as an index would, and print the wheels with their sizes.

Every wheel must be smaller than 3 MB, hold one extension module that exports its `PyInit_` function and
nothing else and takes `exp` and `log` from the C library, the licence, the type stub and a bill of
materials. Its description must have no relative links. auditwheel must find it as portable as its name
says, abi3audit no function outside of the stable ABI, and twine no fault in the metadata.

Usage: ``python tools/wheels/audit.py [FOLDER]``, part of ``make wheels``.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).parents[2]
MOST_BYTES = 3_000_000
FILES = ["marginboost/_native.pyi", "marginboost/py.typed"]
METADATA = ["sboms/marginboost.cdx.json", "licenses/LICENSE"]
# A copy from the compiler's run time would round differently, and the models be different ones.
FROM_C_LIBRARY = ["exp", "log", "log1p"]
SOURCES = ["CMakeLists.txt", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO"]


def output_of(*command: str | Path) -> tuple[int, str]:
    """Run a tool; return its exit code and all that it printed."""
    words = [sys.executable, "-m", *map(str, command)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def platform_verdict(wheel: Path) -> tuple[str, list[str]]:
    """Return the most portable tag that auditwheel finds, and what is wrong with that."""
    _, text = output_of("auditwheel", "show", wheel)
    found = re.search(r'following platform\s+tag:\s+"([^"]+)"', text)
    if found is None:
        return "none", [f"auditwheel must find a platform tag; it printed: {text.strip()}"]
    stated = wheel.stem.split("-")[-1]
    (kind, *found_version), (claimed, *version) = (tag.split("_")[:3] for tag in (found[1], stated))
    if kind != claimed or [*map(int, found_version)] > [*map(int, version)]:
        return found[1], [
            f"auditwheel must find {stated} or an older platform; it found {found[1]}."
        ]
    return found[1], []


def stable_abi_verdict(wheel: Path) -> tuple[str, list[str]]:
    """Return whether the wheel keeps to the stable ABI that it names."""
    if "abi3" not in wheel.name:
        return "-", []
    code, text = output_of("abi3audit", "--strict", "--verbose", wheel)
    return ("clean", []) if code == 0 else ("fails", [f"abi3audit must pass; it printed: {text}"])


def symbols(module: bytes) -> tuple[list[str], list[str]]:
    """Return the functions that other libraries could see, and those that the module takes from them."""
    table = ELFFile(io.BytesIO(module)).get_section_by_name(".dynsym")
    exported, imported = [], []
    for symbol in table.iter_symbols():
        if symbol.name:
            (imported if symbol["st_shndx"] == "SHN_UNDEF" else exported).append(symbol.name)
    return sorted(exported), sorted(imported)


def symbol_faults(name: str, module: bytes) -> list[str]:
    """Return what is wrong with a module's functions."""
    exported, imported = symbols(module)
    faults = [
        f"{name} must take {function} from the C library; it brings its own."
        for function in FROM_C_LIBRARY
        if function not in imported
    ]
    if exported != ["PyInit__native"]:
        faults.append(f"{name} must export PyInit__native only; it exports {exported[:5]}.")
    return faults


def content_faults(wheel: Path) -> list[str]:
    """Return what the wheel lacks or has too much of."""
    faults = []
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        text = file.read(
            next(name for name in names if name.endswith(".dist-info/METADATA"))
        ).decode()
        links = re.findall(r"\]\((?!https?://|#)([^)]+)\)", text)
        faults += [f"Links of the description must be absolute; {link} is not." for link in links]
        modules = [name for name in names if name.endswith(".so")]
        info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
        needed = FILES + [f"{info}/{name}" for name in METADATA]
        faults += [
            f"{name} must be in the wheel; it is not." for name in needed if name not in names
        ]
        if len(modules) != 1:
            faults.append(f"The wheel must hold one extension module; it holds {modules}.")
        for name in modules:
            faults += symbol_faults(name, file.read(name))
    return faults


def sdist_faults(archive: Path) -> list[str]:
    """Return what the source distribution lacks or has too much of."""
    with tarfile.open(archive) as file:
        names = [name.split("/", 1)[1] for name in file.getnames() if "/" in name]
    faults = [f"{name} must be in the sdist; it is not." for name in SOURCES if name not in names]
    built = [name for name in names if name.endswith((".so", ".pyc", ".o", ".a"))]
    return faults + [
        f"The sdist must hold nothing that was built; it holds {name}." for name in built
    ]


def audit(wheel: Path) -> tuple[list[str], list[str]]:
    """Return the wheel's line of the table, and what is wrong with it."""
    size = wheel.stat().st_size
    platform, faults = platform_verdict(wheel)
    stable, more = stable_abi_verdict(wheel)
    faults += more + content_faults(wheel)
    if size >= MOST_BYTES:
        faults.append(f"A wheel must be smaller than {MOST_BYTES} bytes; it has {size}.")
    digest = sha256(wheel.read_bytes()).hexdigest()[:12]
    return [wheel.name, f"{size / 1e6:.2f}", platform, stable, digest], faults


def main() -> None:
    """Check all files, print the table, and fail if anything is wrong."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    wheels, archives = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if not wheels or len(archives) != 1:
        sys.exit(f"{folder} must hold wheels and one sdist; run `make wheels` first.")
    rows = [["wheel", "MB", "auditwheel", "abi3audit", "sha256"]]
    faults = [f"{archives[0].name}: {fault}" for fault in sdist_faults(archives[0])]
    for wheel in wheels:
        row, found = audit(wheel)
        rows.append(row)
        faults += [f"{wheel.name}: {fault}" for fault in found]
    code, text = output_of("twine", "check", "--strict", *archives, *wheels)
    if code:
        faults.append(f"twine must find no fault; it printed: {text}")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        )
    size = archives[0].stat().st_size
    print(f"{archives[0].name}: {size / 1e6:.2f} MB; twine: {'fails' if code else 'clean'}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
