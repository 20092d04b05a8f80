"""squamish fit --audit: how often shuffled targets have a relevant column."""

import json

import pytest

from squamish import RelevanceResult

FIT = ["fit", "patients.csv.gz", "--target", "outcome", "--drop", "fold,weight of row"]


def test_the_sentence_is_printed_after_the_verdict_and_all_is_written(run, here, capsys):
    assert run(*FIT, "--groups", "patient", "--audit", 3, "--out", "audited") == 0
    printed = capsys.readouterr()
    verdict, said = printed.out.split("Written: audited/report.html")
    assert "blood pressure" in verdict
    assert "0 of 3 shuffled targets gave a relevant column (0.0% to 70.8%, 95%)" in said
    assert said.endswith("Written: audited/audit.json\n")
    assert "stage 1 of 1: audit, 0 of 3" in printed.err
    found = json.loads((here / "audited" / "audit.json").read_text(encoding="utf-8"))
    assert (found["format"], found["version"]) == ("squamish-audit", 1)
    assert (found["n_shuffles"], found["n_found"], len(found["shuffles"])) == (3, 0, 3)
    command = RelevanceResult.from_json("audited/result.json").provenance.command
    assert "--audit" not in command


def test_json_is_all_that_goes_to_standard_output(run, here, capsys):
    before = set(here.iterdir())
    assert run(*FIT, "--drop", "patient", "--audit", 2, "--json") == 0
    printed = capsys.readouterr()
    assert RelevanceResult.from_json(printed.out).strong
    assert "0 of 2 shuffled targets" in printed.err
    assert set(here.iterdir()) == before


def test_it_is_quiet_and_goes_on_from_its_own_checkpoint(run, here, capsys):
    arguments = [*FIT, "--quiet", "--out", "again", "--checkpoint", "audited.bin"]
    assert run(*arguments) == 0
    assert not (here / "again" / "audit.json").exists()
    assert not (here / "audited.bin.audit").exists()
    assert run(*arguments, "--audit", 2) == 0
    size = (here / "audited.bin.audit").stat().st_size
    assert run(*arguments, "--audit", 2) == 0
    assert (here / "audited.bin.audit").stat().st_size == size
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--audit", 0], "--audit is 0; it must be a whole number at least 1"),
        (
            ["--audit", 1, "--out", "a", "--checkpoint", "a/audit.json"],
            "--out with its audit.json would replace the checkpoint, 'a/audit.json'",
        ),
    ],
)
def test_mistakes_are_answered_before_the_work(run, here, more, message, capsys):
    assert run(*FIT, *more) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"squamish: {message}")
    assert not (here / "a").exists()
