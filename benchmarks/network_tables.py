"""Draw a table from a published Bayesian network, with its Markov blankets.

    ENVIRONMENT/bin/python benchmarks/network_tables.py NETWORK ROWS SEED FILE

The networks are those in the wheel of pgmpy, which runs in an environment of its own
(environments/networks.txt); what is drawn is a file that needs nothing but NumPy.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from network_oracle import (
    LEAST_T,
    DiscreteNetwork,
    Factor,
    GaussianNetwork,
    markov_blanket,
    paired_t,
)

# The default of squamish, and the level of all others that are compared with it.
ALPHA = 0.01
GAUSSIAN = ("ecoli70",)
NETWORKS = ("ALARM", "INSURANCE", "CHILD", *GAUSSIAN)


@dataclass(frozen=True)
class NetworkTable:
    """Rows of a network, and what is true about it.

    Attributes
    ----------
    values : array of shape (n_rows, n_nodes)
        Numbers, or the names of states.
    nodes : array of str
        The columns.
    blanket : array of bool of shape (n_nodes, n_nodes)
        Whether the second node is in the Markov blanket of the first.
    t : array of shape (n_nodes, n_nodes)
        The oracle's paired t for members of the blanket, NaN elsewhere.
    log_ratio : array of shape (n_nodes, n_nodes)
        The logarithm of its ratio of likelihoods, likewise.
    log_ratio_given_all : array of shape (n_nodes, n_nodes)
        The same, given all other nodes and not only the rest of the blanket.
    """

    values: NDArray[Any]
    nodes: NDArray[np.str_]
    blanket: NDArray[np.bool_]
    t: NDArray[np.float64]
    log_ratio: NDArray[np.float64]
    log_ratio_given_all: NDArray[np.float64]

    @property
    def is_discrete(self) -> bool:
        """Whether the columns hold names of states."""
        return self.values.dtype.kind == "U"

    @property
    def detectable(self) -> NDArray[np.bool_]:
        """Which members the oracle detects by its paired t."""
        found: NDArray[np.bool_] = self.t >= LEAST_T
        return found

    @property
    def detectable_by_ratio(self) -> NDArray[np.bool_]:
        """Which members it detects by the ratio, at alpha for all columns of a target together."""
        found: NDArray[np.bool_] = self.log_ratio >= self._least_log_ratio
        return found

    @property
    def detectable_given_all(self) -> NDArray[np.bool_]:
        """Which members it detects by the ratio as something that all other columns do not tell."""
        found: NDArray[np.bool_] = self.log_ratio_given_all >= self._least_log_ratio
        return found

    @property
    def _least_log_ratio(self) -> float:
        return float(np.log((len(self.nodes) - 1) / ALPHA))

    def targets(self, step: int) -> list[str]:
        """Return every so many-th node, by name; of these, those that are not constant here."""
        varies = dict(zip(self.nodes, np.any(self.values != self.values[0], axis=0), strict=True))
        return [str(node) for node in sorted(self.nodes)[::step] if varies[node]]

    def split(self, target: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Return the other columns, the target, and a mask of the other columns."""
        others = self.nodes != target
        return self.values[:, others], self.values[:, ~others][:, 0], others

    def save(self, path: Path) -> None:
        """Write a file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez_compressed(
            part, **{field.name: getattr(self, field.name) for field in fields(self)}
        )
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> NetworkTable:
        """Read a file."""
        with np.load(path) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def table_file(cache: Path, network: str, n_rows: int, seed: int) -> Path:
    """Return where a table is kept."""
    return cache / f"{network}-{n_rows}-{seed}.npz"


def draw(network: str, n_rows: int, seed: int) -> NetworkTable:
    """Draw a table from a network of pgmpy."""
    from pgmpy.utils import get_example_model

    # pgmpy's newer function downloads what this one finds in the wheel.
    model = get_example_model(network.lower())
    # Sizes have seeds of their own: a small table is not the head of a large one.
    frame = model.simulate(n_rows, seed=n_rows + seed, **_quiet(model))
    if hasattr(model, "to_joint_gaussian"):
        return _gaussian(model, frame)
    return _discrete(model, frame)


def _quiet(model: Any) -> dict[str, bool]:
    return {} if hasattr(model, "to_joint_gaussian") else {"show_progress": False}


def _gaussian(model: Any, frame: Any) -> NetworkTable:
    import networkx

    nodes = [str(node) for node in networkx.topological_sort(model)]
    network = GaussianNetwork(
        {node: list(model.get_parents(node)) for node in nodes}, nodes, *model.to_joint_gaussian()
    )
    names = sorted(nodes)
    rows = {name: frame[name].to_numpy(dtype=np.float64) for name in names}
    return _with_truth(network, rows, np.column_stack([rows[name] for name in names]), model)


def _discrete(model: Any, frame: Any) -> NetworkTable:
    states, tables = {}, {}
    for cpd in model.get_cpds():
        states[cpd.variable] = list(cpd.state_names[cpd.variable])
        tables[cpd.variable] = Factor(tuple(cpd.variables), np.asarray(cpd.values, dtype=float))
    for cpd in model.get_cpds():
        for parent in cpd.variables:
            if list(cpd.state_names[parent]) != states[parent]:
                raise ValueError(f"{cpd.variable} has the states of {parent} in another order")
    names = sorted(tables)
    rows = {
        name: np.array([states[name].index(state) for state in frame[name]], dtype=np.int64)
        for name in names
    }
    values = np.column_stack([np.array(states[name], dtype=str)[rows[name]] for name in names])
    return _with_truth(DiscreteNetwork(tables), rows, values, model)


def _with_truth(
    network: DiscreteNetwork | GaussianNetwork,
    rows: dict[str, NDArray[Any]],
    values: NDArray[Any],
    model: Any,
) -> NetworkTable:
    """Add blankets, and what the oracle says of their members."""
    names, parents = list(rows), network.parents()
    blanket = np.zeros((len(names), len(names)), dtype=bool)
    t, log_ratio, given_all = np.full((3, *blanket.shape), np.nan)
    for i, target in enumerate(names):
        members = markov_blanket(parents, target)
        if set(members) != set(model.get_markov_blanket(target)):
            raise ValueError(f"pgmpy has another Markov blanket of {target} than {members}")
        for member in members:
            j = names.index(member)
            blanket[i, j] = True
            gains = network.gains(rows, target, member, [x for x in members if x != member])
            t[i, j], log_ratio[i, j] = paired_t(gains), gains.sum()
            others = [x for x in names if x not in (target, member)]
            given_all[i, j] = network.gains(rows, target, member, others).sum()
    return NetworkTable(values, np.array(names), blanket, t, log_ratio, given_all)


def main() -> None:
    """Write one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("rows", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    draw(options.network, options.rows, options.seed).save(options.file)


if __name__ == "__main__":
    main()
