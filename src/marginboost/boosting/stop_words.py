"""Why a fit ended, in words for people; `stop_reason_` has the same for programs."""

from __future__ import annotations

__all__ = ["describe_stop"]

_WORDS = {
    "max_rounds": "all rounds done",
    "no_violated_constraint": "more rounds would not help",
    "interrupted": "interrupted",
    "early_stopping": "validation no longer improves",
    "max_time": "time limit reached",
    "callback": "ended by a callback",
    "completed": "all settings tried",
    "failed": "failed",
}


def describe_stop(reason: str) -> str:
    """Put a `stop_reason_` into words."""
    return _WORDS.get(reason, reason.replace("_", " "))
