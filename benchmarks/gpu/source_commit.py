"""The commit that a benchmark runs, for its result file."""

import subprocess
from pathlib import Path


def source_commit(given: str) -> str:
    """Return the commit that was given, or that of the checkout; exit where there is neither.

    A checkout with changes that are not committed gets "+changes" behind its commit.
    """
    if given:
        return given
    here = Path(__file__).parent
    try:
        found = _git(here, "rev-parse", "HEAD")
        changed = _git(here, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(
            "The result must name its commit, and this is no git checkout: pass --commit HASH."
        ) from None
    return found + ("+changes" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
