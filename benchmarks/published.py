"""Figures that others have printed, to stand beside ours.

The paper is L. Pfannschmidt and B. Hammer, "Sequential Feature Classification in the Context of
Redundancies".
"""

from __future__ import annotations

LINEAR = tuple(f"Set {i}" for i in range(1, 9))
NONLINEAR = tuple(f"NL {i}" for i in range(1, 5))
NAN = float("nan")

# (system, set) -> value, for every table of the paper.
Figures = dict[tuple[str, str], float]


def _table(systems: tuple[str, ...], sets: tuple[str, ...], rows: str) -> Figures:
    """Read a table as it is printed: a line for each set, a column for each system."""
    lines = [line.split() for line in rows.strip().splitlines()]
    return {
        (system, name): float(value)
        for name, line in zip(sets, lines, strict=True)
        for system, value in zip(systems, line, strict=True)
    }


SYSTEMS = ("ElasticNet", "FRI", "RF", "SQ")
TRAINING_ACCURACY = _table(
    SYSTEMS,
    LINEAR,
    """
    0.97 0.99 0.83 1.00
    0.99 0.99 1.00 1.00
    0.98 0.99 0.86 1.00
    0.98 0.99 0.87 1.00
    0.98 1.00 0.95 1.00
    0.97 1.00 0.89 0.99
    0.98 0.99 0.90 1.00
    0.98 1.00 0.91 1.00
    """,
)
LINEAR_F1 = _table(
    SYSTEMS,
    LINEAR,
    """
    0.91 1.00 0.86 0.98
    0.75 1.00 0.29 0.92
    0.83 1.00 0.67 0.97
    0.86 1.00 0.68 0.93
    0.85 1.00 0.77 0.99
    0.52 1.00 0.17 0.99
    0.38 1.00 0.17 0.95
    0.83 1.00 0.65 0.99
    """,
)
RUNTIME = _table(
    SYSTEMS,
    LINEAR,
    """
    0 2 0 1
    0 2 0 1
    0 2 0 1
    0 3 1 3
    0 5 2 6
    0 4 1 2
    0 6 3 3
    2 201 138 80
    """,
)
NONLINEAR_PRECISION = _table(
    SYSTEMS,
    NONLINEAR,
    """
    0.88 1.00 0.71 0.97
    0.86 1.00 0.67 1.00
    0.41 1.00 1.00 0.80
    0.21 1.00 1.00 0.62
    """,
)
NONLINEAR_RECALL = _table(
    SYSTEMS,
    NONLINEAR,
    """
    0.70 0.53 1.00 1.00
    0.86 1.00 0.86 1.00
    0.55 0.77 0.55 0.63
    0.50 0.89 0.45 1.00
    """,
)
NONLINEAR_F1 = _table(
    SYSTEMS,
    NONLINEAR,
    """
    0.78 0.69 0.83 0.98
    0.86 1.00 0.75 1.00
    0.47 0.87 0.71 0.70
    0.30 0.94 0.62 0.77
    """,
)
NONLINEAR_ACCURACY = _table(
    SYSTEMS,
    NONLINEAR,
    """
    0.66 0.67 0.79 0.82
    0.70 0.75 0.81 0.83
    0.60 0.66 0.87 0.89
    0.73 0.74 0.86 0.90
    """,
)
CLASSIFIERS = ("FRI", "SQ")
LINEAR_CLASSES = {
    "weak P": _table(
        CLASSIFIERS,
        LINEAR,
        """
        1.00 1.00
        1.00 0.87
        1.00 0.99
        1.00 0.99
        0.99 0.99
        1.00 1.00
        1.00 0.99
        0.99 1.00
        """,
    ),
    "weak R": _table(
        CLASSIFIERS,
        LINEAR,
        """
        1.00 1.00
        1.00 1.00
        1.00 0.72
        1.00 0.68
        1.00 0.50
        1.00 0.93
        1.00 0.88
        1.00 0.85
        """,
    ),
    "strong P": _table(
        CLASSIFIERS,
        LINEAR,
        """
        1.00 1.00
        1.00 1.00
        1.00 0.74
        1.00 0.86
        1.00 0.49
        1.00 0.50
        1.00 0.46
        1.00 0.90
        """,
    ),
    "strong R": _table(
        CLASSIFIERS,
        LINEAR,
        """
        1.00 0.95
        1.00 1.00
        1.00 0.99
        1.00 0.99
        1.00 1.00
        1.00 1.00
        1.00 1.00
        1.00 1.00
        """,
    ),
}
NONLINEAR_CLASSES = {
    "weak P": _table(CLASSIFIERS, NONLINEAR, "nan nan\n0.83 0.99\n0.67 0.20\n0.57 0.18"),
    "weak R": _table(CLASSIFIERS, NONLINEAR, "nan nan\n1.00 1.00\n1.00 0.14\n1.00 0.39"),
    "strong P": _table(CLASSIFIERS, NONLINEAR, "1.00 1.00\n1.00 1.00\n1.00 0.86\n1.00 0.65"),
    "strong R": _table(CLASSIFIERS, NONLINEAR, "0.11 0.59\n0.50 0.97\n0.04 0.87\n0.01 0.87"),
}
# Rows, strong, weak and irrelevant columns.
PARAMETERS = {
    "Set 1": (150, 6, 0, 6),
    "Set 2": (150, 0, 6, 6),
    "Set 3": (150, 3, 4, 3),
    "Set 4": (256, 6, 6, 6),
    "Set 5": (512, 1, 2, 11),
    "Set 6": (200, 1, 20, 0),
    "Set 7": (200, 1, 20, 20),
    "Set 8": (2000, 10, 10, 50),
    # The number of rows is not printed for these.
    "NL 1": (NAN, 10, 0, 10),
    "NL 2": (NAN, 4, 10, 6),
    "NL 3": (NAN, 10, 10, 30),
    "NL 4": (NAN, 10, 10, 60),
}

# Sensitivity and share of false findings, in per cent, on designs of Degenhardt, Seifert and
# Szymczak (2019) and on Friedman 1, as run by the authors of shadowVIMP (2025).
DESIGNS = {
    "Degenhardt, m = 10": {
        "shadowVIMP": (76.3, 4.6),
        "Boruta, 10,000 trees": (70.1, 11.1),
        "Vita": (64.0, 10.3),
    },
    "Degenhardt, m = 50": {
        "shadowVIMP": (96.4, 4.1),
        "Boruta, 10,000 trees": (82.6, 0.8),
        "Vita": (71.3, 7.1),
    },
    "Friedman 1": {"shadowVIMP": (93.8, 2.2), "Boruta": (98.2, 9.4)},
}

# Power of conditional permutation importance (CPI) around a deep network, at 0.05 without a
# correction: A. Chamma, D. Engemann and B. Thirion, "Statistically valid variable importance
# assessment through conditional permutations" (2023).
CHAMMA_POWER = {
    "classification": 0.645,
    "linear": 0.890,
    "ReLU": 0.783,
    "interactions": 0.930,
    "main effects and interactions": 0.944,
}
