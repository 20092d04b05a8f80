"""What is wrong is said in one line, before the work, and no file is lost."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["patients.csv.gz", "--target", "outcom"], "no column 'outcom'; did you mean 'outcome'?"),
        (["patients.csv.gz", "--target", "zzz"], "the columns are blood pressure, sex, patient"),
        (["patients.csv", "--target", "outcome"], "there is no file 'patients.csv'"),
        ([".", "--target", "outcome"], "'.' is a folder"),
        (["picture.png", "--target", "outcome"], "'picture.png' does not end in .csv"),
        (["broken.parquet", "--target", "outcome"], "'broken.parquet' cannot be read"),
        (["torn.csv.gz", "--target", "sex"], "'torn.csv.gz' cannot be read"),
        (["one class.parquet", "--target", "outcome"], "the target holds one class only, ill"),
        (["twice.csv", "--target", "a"], "more than one column is called 'a'"),
        (["latin.csv", "--target", "b"], "it is no UTF-8 text (the byte 0xe9 at 5)"),
        (["ragged.csv", "--target", "b"], "line 3 has 3 fields, the first has 2"),
        (["alone.csv", "--target", "a"], "no column is left to judge"),
        (["patients.csv.gz", "--target", "outcome", "--seed", "-1"], "--seed is -1; it must be"),
        (["patients.csv.gz", "--target", "outcome", "--jobs", "0"], "--jobs is 0; it must be"),
        (["patients.csv.gz", "--target", "outcome", "--weights", "noise"], "--weights holds -"),
        (["patients.csv.gz", "--target", "outcome", "--method", "magic"], "method is 'magic'"),
        (["patients.csv.gz", "--target", "outcome", "--alpha", "2"], "alpha is 2.0"),
        (["patients.csv.gz", "--target", "outcome", "--select", "minimal"], "give --reduced"),
        (["patients.csv.gz", "--target", "outcome", "--costs", "no.csv"], "'no.csv', cannot be"),
        (
            ["patients.csv.gz", "--target", "outcome", "--costs", "weights.csv"],
            "no column 'sample_weight'; the",
        ),
        (
            ["patients.csv.gz", "--target", "outcome", "--costs", "alone.csv"],
            "line 1 of --costs, 'alone.csv', has 1 fields; it must have a column and its cost",
        ),
        (
            ["patients.csv.gz", "--target", "sex", "--costs", "alone.csv", "--method", "paper"],
            "--costs belongs to --method crossfit",
        ),
        (["patients.csv.gz", "--target", "outcome", "--cv", "1"], "cv is 1; it must be"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "times"], "--cv is 'times'; it must"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "time:1"], "--cv time is 1; it must"),
        (["patients.csv.gz", "--target", "outcome", "--cv", "time:x"], "--cv is 'time:x'"),
        (["gaps.csv", "--target", "b", "--cv", "fold"], "the column 'fold' of --cv has gaps"),
        (["patients.csv.gz", "--target", "sex", "--drop", "sex"], "'sex' is given more than one"),
        (
            ["patients.csv.gz", "--target", "outcome", "--drop", "sex", "--categorical", "sex"],
            "'sex' is given more than one role",
        ),
        (["patients.csv.gz", "--target", "sex", "--adjust-for", "sex"], "'sex' is given more than"),
        (["patients.csv.gz", "--target", "sex", "--adjust-for", "nois"], "did you mean 'noise'?"),
        (
            ["patients.csv.gz", "--target", "sex", "--groups", "fold", "--adjust-for", "fold"],
            "'fold' is given more than one role",
        ),
        (["weights.csv", "--target", "b", "--adjust-for", "sample_weight"], "no column is left"),
        (
            ["patients.csv.gz", "--target", "outcome", "--adjust-for", "sex", "--method", "paper"],
            "--adjust-for belongs to --method crossfit",
        ),
        (["weights.csv", "--target", "b", "--weights", "sample_weigt"], "mean 'sample_weight'?"),
        (["open.csv", "--target", "b"], "'open.csv' cannot be read"),
        (["patients.csv.gz", "--target", "outcome", "--out", "picture.png/x"], "is a file"),
        (["patients.csv.gz", "--target", "outcome", "--reduced", "x.pdf"], "does not end in .csv"),
        (["patients.csv.gz", "--target", "outcome", "--reduced", "no/x.csv"], "no folder 'no'"),
        (
            ["patients.csv.gz", "--target", "outcome", "--method", "paper", "--alpha", "0.1"],
            "--alpha belongs to --method crossfit",
        ),
    ],
)
def test_mistakes_get_one_line(run, here, arguments, message, capsys):
    assert run("fit", *arguments, "--quiet") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("select", "more", "message"),
    [
        ("best", [], "--select is 'best'; it must be relevant, strong, minimal, cover or a number"),
        ("0", [], "--select is 0; the columns that are judged are 1 to 6"),
        ("7", [], "--select is 7; the columns that are judged are 1 to 6"),
        ("2", ["--method", "paper"], "method 'paper' does not search sets of every size"),
    ],
)
def test_a_selection_that_cannot_be_is_refused_before_the_work(
    run, here, select, more, message, capsys
):
    arguments = ["--target", "outcome", "--reduced", "x.csv", "--select", select, *more]
    assert run("fit", "patients.csv.gz", *arguments, "--out", "unmade") == 2
    assert message in capsys.readouterr().err
    assert not (here / "unmade").exists()


def test_the_data_itself_is_not_overwritten(run, here, capsys):
    arguments = ["one class.parquet", "--target", "sex", "--reduced", "./one class.parquet"]
    assert run("fit", *arguments) == 2
    assert "--reduced would replace the data" in capsys.readouterr().err
    arguments = [
        "one class.parquet",
        "--target",
        "sex",
        "--out",
        "v",
        "--reduced",
        "v/features.csv",
    ]
    assert run("fit", *arguments) == 2
    assert "--reduced would replace --out with its features.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("features.csv", ["--out", "."], "--out with its features.csv would replace the data"),
        ("FEATURES.csv", ["--out", "."], "--out with its features.csv would replace the data"),
        ("report.html.csv", ["--reduced", "report.html.CSV"], "--reduced would replace the data"),
        ("data.csv", ["--reduced", "linked.csv"], "--reduced would replace the data"),
        ("data.csv", ["--out", "v", "--checkpoint", "v/result.json"], "would replace the checkpo"),
    ],
)
def test_no_output_replaces_an_input(run, tmp_path, monkeypatch, capsys, name, more, message):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_text("x,y\n" + "1,2\n3,4\n" * 20)
    (tmp_path / "linked.csv").symlink_to(path)
    before = path.read_bytes()
    assert run("fit", name, "--target", "y", *more) == 2
    assert message in capsys.readouterr().err
    assert path.read_bytes() == before
