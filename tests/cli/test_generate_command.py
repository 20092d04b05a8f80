"""squamish generate: tables with known truth."""

import polars as pl


def test_problems_with_known_truth_are_generated(run, tmp_path, capsys):
    assert run("generate", "set 3", tmp_path / "set.csv", "--truth", tmp_path / "truth.csv") == 0
    assert "150 x 10: 3 strong, 4 weak" in capsys.readouterr().out
    assert pl.read_csv(tmp_path / "set.csv").shape == (150, 11)
    assert pl.read_csv(tmp_path / "truth.csv")["class"].to_list().count("weak") == 4
    assert run("generate", "--list") == 0
    assert {"Set 8", "NL 4", "XOR"} <= set(capsys.readouterr().out.splitlines())
    assert run("generate", "Set 33", tmp_path / "set.csv") == 2
    assert "there is no preset 'Set 33'; did you mean 'Set 3'" in capsys.readouterr().err
    assert run("generate", "Set 3") == 2
    assert run("generate", "Set 3", tmp_path / "x.csv", "--truth", tmp_path / "x.csv") == 2
