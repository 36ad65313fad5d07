"""Tests that import benchmarks/ are left out where it is not beside the tests."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks" / "unfamiliar"

collect_ignore = (
    []
    if FOLDER.is_dir()
    else ["test_rules.py", "test_tuned.py", "test_unfamiliar.py", "test_work_and_span.py"]
)
