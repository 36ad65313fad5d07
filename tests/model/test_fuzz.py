"""A short run of `make fuzz`, without sanitizers."""

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.judge import CORPUS, corrupt, outcome

FILES = [path.read_bytes() for path in sorted(CORPUS.glob("*.safetensors"))]


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_corrupted_files_are_refused_or_valid(number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scores of a valid but absurd model overflow
        _, original, corrupted, repaired = corrupt(number, FILES)
        found = outcome(original, corrupted, repaired=repaired)
    assert found in ("refused", "same", "another valid model")
