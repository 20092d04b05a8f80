"""The order of classes, in the shell."""

import numpy as np
import polars as pl

from squamish import RelevanceResult
from squamish.datasets import make_ordinal


def test_the_shell_takes_an_order(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    problem = make_ordinal(120, n_strong=1, n_irrelevant=1, shares=(1, 1, 1), random_state=0)
    grades = np.array(["poor", "fair", "very, very good"])[problem.y]
    pl.DataFrame({"a": problem.X[:, 0], "b": problem.X[:, 1], "grade": grades}).write_csv("t.csv")
    command = ["fit", "t.csv", "--target", "grade", "--quiet", "--out", "out"]
    order = ["--order", "poor", "--order", "fair", "--order", "very, very good"]
    assert run(*command, *order) == 0
    result = RelevanceResult.from_json("out/result.json")
    assert result.task == "ordinal"
    assert result.provenance.class_order == ("poor", "fair", "very, very good")
    assert "--order poor --order fair --order 'very, very good'" in result.provenance.command
    assert result.strong == ("a",)
    assert run(*command, "--order", "poor, fair") == 2
    said = "the target holds 'very, very good', which is not among the classes in order: 'poor', "
    assert said in capsys.readouterr().err
    assert run(*command, "--task", "ordinal") == 2
    assert "the target holds text without an order ('fair', 'poor', 've" in capsys.readouterr().err
    assert run(*command, *order, "--task", "regression") == 2
    assert "--order belongs to --task ordinal, but task is 'regr" in capsys.readouterr().err
