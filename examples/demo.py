"""Which columns of a table matter? Ten measurements of 442 diabetes patients, with guests.

The target is the progress of the disease after a year. Five columns are added whose role is
known: a copy of the body mass index in other units, and four real columns in random order,
which can tell nothing. Prints the verdict and writes it to demo-report.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from squamish import RelevanceSelector

BLOOD_SERUM = {"s1": "tc", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glucose"}


def main() -> None:
    """Run the selector and show what it found."""
    X, y = load_diabetes(as_frame=True, scaled=False, return_X_y=True)
    X = X.rename(columns=BLOOD_SERUM)
    X["bmi_copy"] = 703 * X["bmi"] + 1
    rng = np.random.default_rng(0)
    for name in ("bmi", "bp", "ltg", "glucose"):
        X[f"shuffled_{name}"] = rng.permutation(X[name])

    print(f"Disease progression of {len(X)} patients, explained by {X.shape[1]} columns ...\n")
    selector = RelevanceSelector(task="regression", random_state=0, n_jobs=-1).fit(X, y)
    print(selector.result_)

    report = Path("demo-report.md")
    report.write_text(selector.result_.to_markdown() + "\n", encoding="utf-8")
    print(f"\n{selector.result_!r}\nThe report is in {report}.")


if __name__ == "__main__":
    main()
