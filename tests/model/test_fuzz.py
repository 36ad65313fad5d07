"""A short run of `make fuzz`, without sanitizers."""

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.judge import CORPUS, outcome, spoil

FILES = [path.read_bytes() for path in sorted(CORPUS.glob("*.safetensors"))]


@given(st.integers(0, 2**32))
@settings(max_examples=300)
def test_spoilt_files_are_refused_or_sound(number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scores of a sound but absurd model overflow
        _, original, spoilt, repaired = spoil(number, FILES)
        found = outcome(original, spoilt, repaired=repaired)
    assert found in ("refused", "same", "another sound model")
