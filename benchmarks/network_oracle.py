"""What can be detected of a Markov blanket: the true conditional with a member and without it.

Either given the rest of the blanket, or given all other nodes: what is outside of the blanket
tells nothing beside it, but may well make up for a member that is missing, and a column is strong
if it adds to all others. Networks are exact, so all conditionals are. The oracle compares their
log-likelihoods of the target row by row. A member is detectable by a paired t if the mean of the
differences is some standard errors above zero, and by the ratio of likelihoods if their sum is
large: if the member told nothing, the mean of the ratio would be 1, and it would exceed c with a
probability of 1 / c at most. The ratio is the sharper of the two where effects are rare and large.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# In standard errors: a two-sided p-value of 6e-5, or 0.01 corrected for some 150 columns.
LEAST_T = 4.0
# The axis of a factor that stands for rows; other axes are named by nodes.
ROW = ""


@dataclass(frozen=True)
class Factor:
    """A table of probabilities, with a name for each of its axes."""

    axes: tuple[str, ...]
    values: Floats


@dataclass(frozen=True)
class DiscreteNetwork:
    """A network of discrete nodes.

    Attributes
    ----------
    tables : mapping of str to Factor
        For every node its conditional probabilities: axes are the node, then its parents.
    """

    tables: Mapping[str, Factor]

    def parents(self) -> dict[str, list[str]]:
        """Return the parents of every node."""
        return {node: list(factor.axes[1:]) for node, factor in self.tables.items()}

    def gains(
        self, rows: Mapping[str, Codes], target: str, member: str, given: Sequence[str]
    ) -> Floats:
        """Return what a node adds to others, in the log-likelihood of each row.

        The joint of target and member given the others has both conditionals in it.
        """
        if given:
            seen, which = np.unique(
                np.column_stack([rows[node] for node in given]), axis=0, return_inverse=True
            )
        else:
            seen, which = np.zeros((1, 0), dtype=np.int64), np.zeros(len(rows[target]), dtype=int)
        evidence = dict(zip(given, seen.T, strict=True))
        joint = self._joint(evidence, len(seen), target, member)[which.ravel()]
        each = np.arange(len(which.ravel()))
        with_it = joint[each, :, rows[member]]
        truth = each, rows[target]
        gains: Floats = np.log(_normalised(with_it)[truth])
        return gains - np.log(_normalised(joint.sum(axis=2))[truth])

    def _joint(
        self, evidence: Mapping[str, Codes], n_rows: int, target: str, member: str
    ) -> Floats:
        """Return the probability of evidence, target and member; axes are row, target, member."""
        wanted = {target, member}
        # What has no descendant among these adds up to one.
        needed = _with_ancestors(self.parents(), wanted | set(evidence))
        factors = [Factor((ROW,), np.ones(n_rows))]
        factors += [_given(self.tables[node], evidence) for node in sorted(needed)]
        hidden = needed - wanted - set(evidence)
        while hidden:
            node = min(sorted(hidden), key=lambda node: _cost(factors, node))
            hidden.remove(node)
            factors = _summed_out(factors, node)
        return _product(factors, (ROW, target, member)).values


@dataclass(frozen=True)
class GaussianNetwork:
    """A network of linear Gaussian nodes.

    Attributes
    ----------
    edges : mapping of str to list of str
        The parents of every node.
    nodes : list of str
        What the axes of mean and covariance stand for.
    mean, covariance : array
        The joint distribution.
    """

    edges: Mapping[str, list[str]]
    nodes: list[str]
    mean: Floats
    covariance: Floats

    def parents(self) -> dict[str, list[str]]:
        """Return the parents of every node."""
        return dict(self.edges)

    def gains(
        self, rows: Mapping[str, Floats], target: str, member: str, given: Sequence[str]
    ) -> Floats:
        """Return what a node adds to others, in the log-likelihood of each row."""
        gains: Floats = self._log_density(rows, target, [*given, member])
        return gains - self._log_density(rows, target, given)

    def _log_density(self, rows: Mapping[str, Floats], target: str, given: Sequence[str]) -> Floats:
        at = [self.nodes.index(node) for node in given]
        y = self.nodes.index(target)
        slopes = np.linalg.solve(self.covariance[np.ix_(at, at)], self.covariance[at, y])
        variance = self.covariance[y, y] - slopes @ self.covariance[at, y]
        residual = rows[target] - self.mean[y]
        for i, node, slope in zip(at, given, slopes, strict=True):
            residual = residual - slope * (rows[node] - self.mean[i])
        density: Floats = -0.5 * (np.log(2 * np.pi * variance) + residual**2 / variance)
        return density


def markov_blanket(parents: Mapping[str, Sequence[str]], target: str) -> list[str]:
    """Return parents, children, and other parents of these, by name."""
    children = [node for node, above in parents.items() if target in above]
    found = {*parents[target], *children, *(node for child in children for node in parents[child])}
    return sorted(found - {target})


def paired_t(gains: Floats) -> float:
    """Return the mean of differences in standard errors."""
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    mean = float(np.mean(gains))
    # Where each row gains the same, as much as that is certain.
    if error <= 1e-12 * abs(mean):
        return float(np.sign(mean) * np.inf) if mean else 0.0
    return float(mean / error)


def _normalised(values: Floats) -> Floats:
    scaled: Floats = values / values.sum(axis=1, keepdims=True)
    return scaled


def _with_ancestors(parents: Mapping[str, Sequence[str]], nodes: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += parents[node]
    return found


def _given(factor: Factor, evidence: Mapping[str, Codes]) -> Factor:
    """Take what rows have seen; the first axis stands for rows if they have seen any of it."""
    seen = [i for i, node in enumerate(factor.axes) if node in evidence]
    if not seen:
        return factor
    free = [i for i in range(len(factor.axes)) if i not in seen]
    values = factor.values.transpose(*seen, *free)
    rows = tuple(evidence[factor.axes[i]] for i in seen)
    return Factor((ROW, *(factor.axes[i] for i in free)), values[rows])


def _cost(factors: Sequence[Factor], node: str) -> int:
    """Return the size of the table that remains when a node is summed out."""
    sizes = {
        name: size
        for factor in factors
        if node in factor.axes
        for name, size in zip(factor.axes, factor.values.shape, strict=True)
        if name != node
    }
    return int(np.prod(list(sizes.values()), dtype=np.int64))


def _summed_out(factors: Sequence[Factor], node: str) -> list[Factor]:
    about = [factor for factor in factors if node in factor.axes]
    names = dict.fromkeys(name for factor in about for name in factor.axes if name != node)
    return [*(f for f in factors if node not in f.axes), _product(about, tuple(names))]


def _product(factors: Sequence[Factor], axes: tuple[str, ...]) -> Factor:
    """Multiply factors, and sum over all other axes."""
    number: dict[str, int] = {}
    operands: list[Any] = []
    for factor in factors:
        operands += [factor.values, [number.setdefault(name, len(number)) for name in factor.axes]]
    values = np.einsum(*operands, [number[name] for name in axes], optimize="greedy")
    return Factor(axes, values)
