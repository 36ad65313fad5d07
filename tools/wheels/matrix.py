"""Which wheels there are: two kinds of Python, two C libraries, two processors."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass

STABLE = "cp312"  # the oldest stable ABI that nanobind can target


@dataclass(frozen=True)
class Target:
    """A processor and a C library.

    Attributes
    ----------
    zig : str
        The compiler's name for it.
    tag : str
        The wheel's; manylinux_2_17 is the same as manylinux2014.
    suffix : str
        The end of an extension module's name, without the Python's part.
    """

    zig: str
    tag: str
    suffix: str

    @property
    def musl(self) -> str | None:
        """What musl's C library is called where wheels for it are installed; zig calls it libc.so."""
        processor, _, libc = self.suffix.split("-")
        return f"libc.musl-{processor}.so.1" if libc == "musl" else None

    @property
    def runs_here(self) -> bool:
        """Whether this machine's Python can import what is built."""
        return self.suffix == f"{platform.machine()}-linux-{libc()}"


def libc() -> str:
    """Return the C library of the Python that runs this."""
    return "gnu" if platform.libc_ver()[0] == "glibc" else "musl"


TARGETS = [
    Target("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", "x86_64-linux-gnu"),
    Target("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", "aarch64-linux-gnu"),
    Target("x86_64-linux-musl", "musllinux_1_2_x86_64", "x86_64-linux-musl"),
    Target("aarch64-linux-musl", "musllinux_1_2_aarch64", "aarch64-linux-musl"),
]


@dataclass(frozen=True)
class Interpreter:
    """A Python whose headers a wheel is compiled with."""

    path: str
    version: tuple[int, int]

    @property
    def tag(self) -> str:
        """Python and ABI tag of the wheel."""
        if self.version < (3, 12):
            own = f"cp{self.version[0]}{self.version[1]}"
            return f"{own}-{own}"
        return f"{STABLE}-abi3"

    def ext_suffix(self, target: Target) -> str:
        """Return the end of the extension module's name where it is not of the stable ABI."""
        return f".cpython-{self.version[0]}{self.version[1]}-{target.suffix}.so"


def interpreter(path: str) -> Interpreter | None:
    """Return the Python at `path` with its version, or None if it does not run."""
    program = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"
    try:
        run = subprocess.run([path, "-c", program], capture_output=True, text=True, check=False)
    except OSError:
        return None
    if run.returncode != 0:
        return None
    executable, major, minor = run.stdout.splitlines()
    return Interpreter(executable, (int(major), int(minor)))


def find_interpreters(names: list[str]) -> list[Interpreter]:
    """Return one Python 3.11 and one newer, of those named or else of those on the path."""
    given = names or [f"python3.{minor}" for minor in (11, 12, 13, 14)]
    by_tag: dict[str, Interpreter] = {}
    for found in filter(None, map(interpreter, given)):
        by_tag.setdefault(found.tag, found)
    return list(by_tag.values())
