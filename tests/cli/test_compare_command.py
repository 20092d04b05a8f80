"""squamish compare: what changed between two results."""

import json


def test_two_saved_results_are_compared(run, patients, paper_patients, tmp_path, capsys):
    patients.to_json(tmp_path / "a.json")
    paper_patients.to_json(tmp_path / "b.json")
    assert run("compare", tmp_path / "a.json", tmp_path / "a.json") == 0
    assert run("compare", tmp_path / "a.json", tmp_path / "b.json") == 1
    assert "  sex: strong -> irrelevant" in capsys.readouterr().out
    assert run("compare", tmp_path / "a.json", tmp_path / "b.json", "--json") == 1
    assert json.loads(capsys.readouterr().out)["changed"]["sex"] == ["strong", "irrelevant"]
