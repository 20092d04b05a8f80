"""squamish demo: a table that comes with the package."""


def test_the_demo_shows_all_three_classes(squamish, tmp_path):
    done = squamish("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "3 strong, 8 weak in 2 groups and 2 alone, 4 irrelevant of 15" in done.stdout
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "features.csv",
        "patients.csv",
        "report.html",
        "result.json",
    }
