"""squamish report: the page of a saved result."""

import os


def test_a_saved_result_becomes_a_page_again(run, here, patients, tmp_path, capsys):
    patients.to_json(tmp_path / "result.json")
    assert run("report", tmp_path / "result.json") == 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == patients.to_html()
    assert run("report", tmp_path / "result.json", "--out", tmp_path / "verdict.md") == 0
    assert (tmp_path / "verdict.md").read_text() == patients.to_markdown()
    assert run("report", "patients.csv.gz") == 2
    assert run("report", "nothing.json") == 2
    assert "'nothing.json' cannot be read: No such file" in capsys.readouterr().err
    assert run("report", tmp_path / "result.json", "--out", "x.pdf") == 2
    assert "'x.pdf' ends neither in .html nor in .md" in capsys.readouterr().err


def test_a_report_does_not_replace_its_result(run, here, capsys):
    assert run("fit", "patients.csv.gz", "--target", "outcome", "--quiet", "--out", "saved") == 0
    os.rename("saved/result.json", "saved/report.html")
    assert run("report", "saved/report.html") == 2
    assert "the report would replace the result" in capsys.readouterr().err
