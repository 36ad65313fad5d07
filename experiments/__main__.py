"""Run the paper's experiments: `python -m experiments`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command, or name the package that is missing."""
    try:
        from experiments.command import main as run  # noqa: PLC0415  the extra may be missing
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith(("experiments", "marginboost.")):
            raise
        sys.exit(
            f"experiments: {error.name} is needed and is not installed: "
            "run pip install '.[experiments]' in the checkout."
        )
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
