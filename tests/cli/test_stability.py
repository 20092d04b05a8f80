"""squamish fit --stability: how often columns have which class in half of the rows."""

from squamish import RelevanceResult

FIT = ["fit", "patients.csv.gz", "--target", "outcome", "--drop", "fold,weight of row,patient"]


def test_it_is_printed_and_written_with_the_verdict(run, here, capsys):
    arguments = [*FIT, "--stability", 2, "--out", "halves", "--checkpoint", "halves.bin"]
    assert run(*arguments) == 0
    printed = capsys.readouterr()
    assert "in 2 half-samples" in printed.out
    assert "In 2 half-samples" in printed.out
    assert "judge half-samples, 0 of 2" in printed.err
    result = RelevanceResult.from_json("halves/result.json")
    assert result.stability.n_finished == 2
    assert "share_strong" in (here / "halves" / "features.csv").read_text(encoding="utf-8")
    assert (here / "halves.bin.stability").exists()
    assert "--stability 2" in result.provenance.command


def test_a_mistake_is_answered_before_the_work(run, here, capsys):
    assert run(*FIT, "--stability", 1) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "squamish: --stability is 1; it must be a whole number at least 2\n"
