"""Tables from files and into files.

polars reads and writes them; it is loaded when the first file is.
"""

from squamish.table.files.kinds import name_of_data
from squamish.table.files.reading import read_file, scan_file
from squamish.table.files.unpacking import MAX_SIZE, in_units, read_size, read_up_to
from squamish.table.files.writing import (
    check_writable,
    refuse_to_replace,
    without_formulas,
    write_table,
    write_whole,
)

__all__ = [
    "MAX_SIZE",
    "check_writable",
    "in_units",
    "name_of_data",
    "read_file",
    "read_size",
    "read_up_to",
    "refuse_to_replace",
    "scan_file",
    "without_formulas",
    "write_table",
    "write_whole",
]
