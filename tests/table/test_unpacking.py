"""A small file that holds very much is refused before memory ends."""

import bz2
import contextlib
import gzip
import lzma

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

from squamish import InputError
from squamish.table.files import MAX_SIZE, read_file, read_size
from squamish.table.files.arrow import unpacked_size
from squamish.table.files.zstandard import largest_size

ROWS = b"a,y\n" + b"1,0\n2,1\n" * 50_000
PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    "": bytes,
}


@pytest.mark.parametrize("packing", PACK)
def test_a_file_that_holds_more_than_allowed_is_refused(packing, tmp_path):
    path = tmp_path / f"table.csv{packing}"
    path.write_bytes(PACK[packing](ROWS))
    assert read_file(path, max_size=1_000_000).height == 100_000
    with pytest.raises(InputError, match=r"holds more than 100 KB, unpacked.*--max-size"):
        read_file(path, max_size=100_000)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_packed_buffers_of_arrow_count_with_what_they_hold(compression, tmp_path):
    path = tmp_path / "table.feather"
    table = pa.table({"x": np.zeros(50_000), "c": pa.array(["a", "b"] * 25_000)})
    feather.write_feather(
        table.append_column("d", table["c"].dictionary_encode()), path, compression=compression
    )
    assert read_file(path, max_size=2_000_000).shape == (50_000, 3)
    with pytest.raises(InputError, match=r"holds more than 400 KB, unpacked.*--max-size"):
        read_file(path, max_size=400_000)


def test_rows_without_buffers_count_as_well(tmp_path):
    path = tmp_path / "table.arrow"
    feather.write_feather(pa.table({"x": pa.nulls(10**9)}), path, chunksize=10**9)
    assert path.stat().st_size < 1000
    with pytest.raises(InputError, match="holds more than 500 MB, unpacked"):
        read_file(path, max_size=500_000_000)


@given(st.binary(max_size=60), st.integers(0, 100))
def test_the_size_of_any_arrow_file_can_be_asked_or_it_is_damaged(content, size):
    with contextlib.suppress(ValueError):
        assert unpacked_size(content + size.to_bytes(4, "little") + b"ARROW1") >= 0


@given(st.binary(max_size=300), st.integers(1, 2000))
def test_what_zstd_packed_is_never_larger_than_its_blocks_say(some, repeats):
    content = some * repeats
    packed = pa.compress(content, codec="zstd", asbytes=True)
    assert len(content) <= largest_size(packed) <= len(content) + 128 * 1024
    assert largest_size(packed + packed) == 2 * largest_size(packed)


@given(st.binary(max_size=60))
def test_the_size_of_anything_can_be_asked(content):
    assert largest_size(content) >= 0
    assert largest_size(b"\x28\xb5\x2f\xfd" + content) >= 0


def test_sizes_are_read_and_others_refused():
    assert read_size("4GB") == MAX_SIZE
    assert read_size("10") == 10
    for wrong in ("", "0", "-1", "many", "1e9", "4 XB"):
        with pytest.raises(InputError, match="it must be a size such as 500MB"):
            read_size(wrong)


def test_text_with_line_ends_of_old_spreadsheets_is_read(tmp_path):
    (tmp_path / "old.csv").write_bytes(b"a,b\r1,2\r3,4\r")
    assert read_file(tmp_path / "old.csv").rows() == [(1, 2), (3, 4)]


def test_blank_lines_are_no_rows_but_in_a_single_column(tmp_path):
    (tmp_path / "two.csv").write_bytes(b'a,b\n\n1,2\r\n\r\n3,"4\n\n5"\n\n\n')
    assert read_file(tmp_path / "two.csv")["a"].to_list() == [1, 3]
    (tmp_path / "one.csv").write_bytes(b"a\n1\n\n3\n")
    assert read_file(tmp_path / "one.csv")["a"].to_list() == [1, None, 3]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_damaged_files_are_read_or_refused_in_one_line(ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    table = pa.table({"a": list(range(50)), "b": ["x", "y"] * 25})
    (parquet.write_table if ending == "parquet" else feather.write_feather)(table, path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    said = []
    for _ in range(60):
        content = bytearray(whole)
        # Not in sizes of memory, at which a library may abort: those are for the command line.
        content[int(rng.integers(4, 200))] ^= 1 << int(rng.integers(3))
        path.write_bytes(content)
        try:
            read_file(path)
        except InputError as error:
            said.append(str(error))
    assert all(line.startswith(f"'table.{ending}' cannot be read") for line in said)
