"""The page on error rates: how much is called relevant or strong that is not, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from journal import Row
from markdown import share, table, values, with_error
from signal_designs import DESIGNS, group
from squamish import __version__
from squamish.evidence.relevance import STRONG, WEAK

# What a column can be called, and the least class that is so.
KINDS = {"relevant": WEAK, "strong": STRONG}
HEADER = (
    "error rate",
    "alpha",
    "tables",
    "with a false column",
    "share",
    "95% interval",
    "false discovery proportion",
    "power",
)
INTRODUCTION = """\
squamish {version}, `CrossfitMethod(alpha=..., error_rate=...)`, on tables with signals whose
columns have known classes, in random order. Every table is judged at every alpha. A column is false
if it is called relevant and is irrelevant, or is called strong and is not. What alpha should bound
is the share of tables with any false column if the error rate is family-wise (fwer), and the mean
proportion of false columns among those called so (0 if there are none) if it is the false discovery
rate (fdr). Power is the mean share of the relevant, or strong, columns that are called so. Tables
in which nothing could be false are left out of shares and proportions, and those in which nothing
could be found are left out of power. Intervals are those of Clopper and Pearson (95%); behind ± are
standard errors; seconds are those of a processor.

Made by `make rates`, which goes on where it was stopped.
"""
DESCRIPTIONS = {
    "paper": "the paper's 12 data sets; whether weak columns of NL 2 to NL 4 are strong is not "
    "counted",
    "families": "the problems of other shapes of [accuracy](accuracy.md), among them pure noise; "
    "whether noisy copies of columns that are not in the table are strong is not counted",
    "copies": "150 to 1,500 rows; two to six signals, linear, quadratic, by a threshold or in a "
    "product, with noisy, exact, rescaled or monotone copies or a sum, maybe with gaps; 20 columns "
    "of noise: normal, heavy-tailed, discrete, rare, categories of 8 levels, gaps of their own and "
    "those of a signal; amounts, two and three classes",
    "faint": "300 x 200, of which 40 are independent signals with small effects",
    "wide": "200 x 5,000: 30 independent signals of declining size, and blocks of ten columns of "
    "noise with a correlation of 0.7",
    "wide, correlated signals": "the same, with signals in such blocks, too",
    "Chamma": "1,000 x 50, after Chamma, Engemann and Thirion (2023): 20 signals anywhere in ten "
    "blocks of five columns with an autoregressive correlation of 0.8",
}


def page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the parts of the page, made from all fits so far of designs that there are."""
    rows = [row for row in rows if _design(row) in DESIGNS]
    yield "# Error rates and power where there are signals\n"
    yield INTRODUCTION.format(version=__version__)
    names = dict.fromkeys(map(group, DESIGNS))
    yield table(("designs", "what they are"), [[name, DESCRIPTIONS[name]] for name in names])
    for kind in KINDS:
        yield f"## Called {kind}\n"
        yield table(("designs", *HEADER), _lines(rows, kind, _group))
    for kind in KINDS:
        wrong = {_design(row) for row in rows if row[f"false {kind}"]}
        if wrong:
            yield f"## Designs with false {kind} columns\n"
            some = [row for row in rows if _design(row) in wrong]
            yield table(("design", *HEADER), _lines(some, kind, _design))
    yield "## Seconds of a fit\n"
    yield table(("design", "fits", "mean", "longest"), _seconds(rows))


def _design(row: Row) -> str:
    return str(row["design"])


def _group(row: Row) -> str:
    return group(_design(row))


def _lines(rows: Sequence[Row], kind: str, name: Callable[[Row], str]) -> Iterator[list[str]]:
    """Yield a line for every name, error rate and alpha, in the order of the designs."""
    parts: dict[tuple[str, str, float], list[Row]] = {}
    for row in sorted(rows, key=_place):
        parts.setdefault((name(row), str(row["rate"]), float(row["alpha"])), []).append(row)
    # The sort is stable: settings of one group come together, in the order of their first design.
    names = list(dict.fromkeys(first for first, *_ in parts))
    for key in sorted(parts, key=lambda key: names.index(key[0])):
        yield [key[0], key[1], f"{key[2]:g}", f"{len(parts[key])}", *_figures(parts[key], kind)]


def _place(row: Row) -> tuple[int, bool, float]:
    """Return where a row belongs: by design, then family-wise error first, then by alpha."""
    return list(DESIGNS).index(_design(row)), row["rate"] != "fwer", float(row["alpha"])


def _figures(rows: Sequence[Row], kind: str) -> Iterator[str]:
    """Yield what is false, by table and by column, and what is found."""
    exposed = [row for row in rows if row[f"absent {kind}"]]
    n_wrong = sum(row[f"false {kind}"] != 0 for row in exposed)
    yield f"{n_wrong} of {len(exposed)}"
    yield from share(n_wrong, len(exposed))
    yield with_error([_ratio(row, f"false {kind}", f"called {kind}") for row in exposed], 3)
    rich = [row for row in rows if row[f"present {kind}"]]
    yield with_error([_ratio(row, f"found {kind}", f"present {kind}") for row in rich], 3)


def _ratio(row: Row, part: str, whole: str) -> float:
    """Divide two counts; nothing of nothing is 0."""
    return float(row[part]) / max(1.0, float(row[whole]))


def _seconds(rows: Sequence[Row]) -> Iterator[list[str]]:
    for design in DESIGNS:
        took = values((row for row in rows if _design(row) == design), "seconds")
        if took:
            mean = sum(took) / len(took)
            yield [design, f"{len(took)}", f"{mean:.1f}", f"{max(took):.1f}"]
