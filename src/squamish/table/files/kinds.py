"""What the endings of a file's name say about the table in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from squamish.errors import InputError

# What separates the columns of text; None if that has to be found out.
_SEPARATORS = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
_PARQUET = (".parquet", ".pq")
# The endings of tables, and those of packed ones, of which some are for text only.
ENDINGS = (*_SEPARATORS, *_PARQUET, ".feather", ".arrow", ".ipc")
_PACKINGS_OF_TEXT = (".zst",)
PACKINGS = (".gz", ".bz2", ".xz", *_PACKINGS_OF_TEXT)


@dataclass(frozen=True)
class Kind:
    """How a table is stored in a file.

    Attributes
    ----------
    ending : str
        One of ``ENDINGS``.
    packing : str
        One of ``PACKINGS``; empty if the file is not packed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from squamish.table.files.kinds import Kind
    >>> Kind.of(Path("patients.2024.TSV.gz"))
    Kind(ending='.tsv', packing='.gz')
    """

    ending: str
    packing: str = ""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Tell by the endings of a file what it is, and how it is packed."""
        endings = [ending.lower() for ending in path.suffixes]
        packing = endings.pop() if endings and endings[-1] in PACKINGS else ""
        kind = cls(endings[-1] if endings else "", packing)
        if kind.ending not in ENDINGS or (packing in _PACKINGS_OF_TEXT and not kind.is_text):
            raise InputError(
                f"{path.name!r} does not end in .csv, .tsv, .parquet, .feather or .arrow, nor in "
                "one of these and .gz, .bz2, .xz or (text) .zst"
            )
        return kind

    @property
    def is_text(self) -> bool:
        """Whether the file is CSV or TSV."""
        return self.ending in _SEPARATORS

    @property
    def separator(self) -> str | None:
        """What separates the columns of text, if the ending tells."""
        return _SEPARATORS[self.ending]

    @property
    def is_parquet(self) -> bool:
        """Whether the file is Parquet."""
        return self.ending in _PARQUET


def name_of_data(path: Path) -> str:
    """Return the name of a file without the endings that tell how to read it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from squamish.table.files import name_of_data
    >>> name_of_data(Path("data/patients.2024.csv.gz"))
    'patients.2024'
    """
    for endings in (PACKINGS, ENDINGS):
        path = path.with_suffix("") if path.suffix.lower() in endings else path
    return path.name
