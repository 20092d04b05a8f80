"""Tables from files, and files that are written."""

import polars as pl
import pyarrow as pa
import pytest

from squamish import InputError
from squamish.table.files import read_file, scan_file, write_whole


@pytest.mark.parametrize(
    "ending", ["csv", "csv.gz", "tsv", "csv.bz2", "parquet", "feather", "csv.zst"]
)
def test_the_verdict_does_not_depend_on_the_file(classes, mixed, tmp_path, ending):
    table, y, _ = mixed()
    path = tmp_path / f"table.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    elif ending == "feather":
        pl.from_pandas(table).write_ipc(path)
    elif ending == "csv.zst":
        path.write_bytes(pa.compress(table.to_csv(index=False).encode(), "zstd", asbytes=True))
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    assert classes(read_file(path), y) == classes(table, y)


def test_packed_text_is_read_like_plain_text(tmp_path):
    path = tmp_path / "table.csv.zst"
    path.write_bytes(pa.compress(b"size;city\n1,5;Bonn\nNA;Oslo\n", "zstd", asbytes=True))
    assert read_file(path).to_dict(as_series=False) == {
        "size": [1.5, None],
        "city": ["Bonn", "Oslo"],
    }
    path.write_bytes(pa.compress(b"size,size\n1,2\n", "zstd", asbytes=True))
    with pytest.raises(InputError, match="more than one column is called 'size'"):
        read_file(path)
    path.write_bytes(pa.compress(b"001\n1\n2\n", "zstd", asbytes=True))
    assert read_file(path).columns == ["001"]
    path.write_bytes(pa.compress(b'"a\nb",c\n1,2\n', "zstd", asbytes=True))
    with pytest.raises(InputError, match="a name with a line break is not read"):
        read_file(path)


def test_decimal_commas_are_read_in_columns_of_any_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("^.*$;b;none;words\n1,5;2;;1,5\n+2,5e1;3;;x,y\n")
    assert read_file(path).to_dict(as_series=False) == {
        "^.*$": [1.5, 25.0],
        "b": [2, 3],
        "none": [None, None],
        "words": ["1,5", "x,y"],
    }


def test_very_wide_text_is_read(tmp_path):
    names = [f"ENSG{j:011d}" for j in range(10_000)]
    path = tmp_path / "genes.csv"
    path.write_text(";".join(names) + "\n" + ";".join(["1,5"] * len(names)) + "\n")
    table = read_file(path)
    assert table.columns == names
    assert table.row(0)[-1] == 1.5


def test_the_very_file_is_read_whatever_its_name(tmp_path):
    pl.DataFrame({"mine": [1]}).write_parquet(tmp_path / "run[1].parquet")
    pl.DataFrame({"other": [1]}).write_parquet(tmp_path / "run1.parquet")
    assert scan_file(tmp_path / "run[1].parquet").collect().columns == ["mine"]


def test_line_breaks_in_quotes_decimal_commas_and_marks_of_gaps_are_read(tmp_path):
    rows = "".join(f'{i},5;"a\nb";{"?" if i % 3 else i};x{i % 2}\n' for i in range(300))
    (tmp_path / "excel.csv").write_text(f'"size\nin cm";note;;kind\n{rows}')
    table = read_file(tmp_path / "excel.csv")
    assert table.columns == ["size\nin cm", "note", "unnamed_3", "kind"]
    assert [str(dtype) for dtype in table.dtypes] == ["Float64", "String", "Int64", "String"]
    assert table["size\nin cm"][1] == 1.5
    assert table["unnamed_3"].null_count() == 200
    assert table["note"][0] in ("a\nb", "a b")


def test_files_are_written_whole_and_links_stay(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.txt", "real.txt"]
    for wrong in (tmp_path, tmp_path / "none" / "x", tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="cannot be written"):
            write_whole(wrong, "x")
