"""Fetch the files of a source, with pooch."""

from __future__ import annotations

import importlib.util
import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.data.entry import Source
from experiments.data.errors import MissingData, WrongData, reason
from experiments.data.rows import Rows

TIMEOUT = 30  # seconds without an answer


def fetched(source: Source, cache: Path) -> Rows:
    """Return the rows of a source.

    Parameters
    ----------
    source : Source
        Which files, and how to read them.
    cache : Path
        A folder for the files while they are read.

    Returns
    -------
    Rows
        The rows of the files, not yet checked.

    Raises
    ------
    WrongData
        If the files cannot be read.
    OSError, ValueError
        If they cannot be fetched, or do not have the known checksums.
    """
    with downloads(source.urls, source.known_hashes, cache) as paths:
        try:
            return source.read(paths)
        except Exception as error:  # a reader can fail anywhere on a wrong file
            raise WrongData(f"The files cannot be read: {reason(error)}") from error


@contextmanager
def downloads(
    urls: tuple[str, ...], known_hashes: tuple[str, ...], cache: Path
) -> Iterator[list[Path]]:
    """Yield files fetched into a temporary folder within the cache."""
    pooch = _pooch()
    cache.mkdir(parents=True, exist_ok=True)
    log = pooch.get_logger()
    level = log.level
    log.setLevel(logging.WARNING)  # it would recommend hashes; the rows are checked anyway
    try:
        with tempfile.TemporaryDirectory(dir=cache, prefix="fetched-") as folder:
            yield [
                Path(
                    pooch.retrieve(
                        url,
                        known_hashes[number] if known_hashes else None,
                        fname=f"{number}-{url.rpartition('/')[2]}",
                        path=folder,
                        downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
                    )
                )
                for number, url in enumerate(urls)
            ]
    finally:
        log.setLevel(level)


def cache_folder() -> Path:
    """Return the user's folder of fetched sets."""
    if importlib.util.find_spec("pooch") is None:
        return Path("nowhere")  # without pooch nothing was ever fetched
    return Path(_pooch().os_cache("marginboost")) / "data"


def _pooch() -> Any:
    try:
        import pooch  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingData(
            "Data sets need pooch, which is not installed: pip install 'marginboost[experiments]'."
        ) from None
    return pooch
