"""The tuner on all of covtype: 581,012 rows, seven classes, 80:20.

    python benchmarks/covtype_tuned.py OUT.json [--seconds S] [--device cuda] [--seed N]

The test rows take no part in any choice. One run, on the machine that the result names.
"""

import argparse
import json
import platform
import subprocess
import time
from pathlib import Path

import data
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from marginboost import MarginBoostClassifierCV, __version__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commit")
    args = parser.parse_args()

    X, y, _ = data.read("covtype")
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=args.seed
    )
    start = time.perf_counter()
    model = MarginBoostClassifierCV(
        time_limit=args.seconds, device=args.device, random_state=args.seed
    ).fit(X_train, y_train)
    seconds = time.perf_counter() - start
    shares = model.predict_proba(X_test)
    found = {
        "commit": args.commit
        or subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip(),
        "version": __version__,
        "machine": platform.machine(),
        "device": args.device,
        "time_limit": args.seconds,
        "seconds": round(seconds, 1),
        "rows": [len(y_train), len(y_test)],
        "accuracy": round(float((model.predict(X_test) == y_test).mean()), 5),
        "log_loss": round(float(log_loss(y_test, shares)), 5),
        "out_of_fold_error": model.oof_error_,
        "out_of_fold_loss": model.oof_loss_,
        "rounds": model.n_iter_,
        "stop_reason": model.stop_reason_,
        "parts": model.chosen_["parts"],
    }
    args.out.write_text(json.dumps(found, indent=1, default=str) + "\n")
    print(json.dumps(found, indent=1, default=str))


if __name__ == "__main__":
    main()
