"""A method brings its own kind of evidence, and results and reports know nothing of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from matplotlib import pyplot as plt

from squamish import InputError, RelevanceResult
from squamish.arrays import Array, Mask
from squamish.evidence import KINDS, Evidence
from squamish.evidence.consistency import Shape
from squamish.evidence.decisions import Decision, at_level
from squamish.evidence.provenance import Columns
from squamish.evidence.spreading import spread_fields
from squamish.evidence.vocabulary import Vocabulary
from squamish.evidence.worth import Worth

D = 4


@dataclass(frozen=True, eq=False)
class VoteEvidence(Evidence):
    """Evidence of a method that only counts how many models use a column."""

    votes: Array
    minimal: Mask
    undecided: Mask
    n_fits: int

    kind: ClassVar[str] = "votes"
    tells_substitutes: ClassVar[bool] = False
    has_intervals: ClassVar[bool] = False
    cost_is_share: ClassVar[bool] = False
    shapes: ClassVar[Mapping[str, Shape]] = {
        "votes": ("d",),
        "minimal": ("d",),
        "undecided": ("d",),
    }
    learner: ClassVar[str] = "committee"
    substitutes: ClassVar[dict] = {}
    groups: ClassVar[tuple] = ()
    representatives: ClassVar[tuple] = ()
    leaks: ClassVar[tuple] = ()
    small: ClassVar[tuple] = ()
    worth: ClassVar[Worth] = Worth()
    prognosis: ClassVar[None] = None
    associations: ClassVar[dict] = {}
    alpha: ClassVar[float] = np.nan
    loss: ClassVar[float] = np.nan
    minimal_loss: ClassVar[float] = np.nan
    all_loss: ClassVar[float] = np.nan
    constant_loss: ClassVar[float] = np.nan
    n_tested: ClassVar[int] = 0
    detectable: ClassVar[float] = np.nan
    importance_threshold: ClassVar[float] = 1.0
    removal_null: ClassVar[tuple[float, float]] = (0.0, 1.0)
    removal_interval: ClassVar[Array] = np.full((2, D), np.nan)
    p_relevant: ClassVar[Array] = np.full(D, np.nan)
    effect: ClassVar[Array] = np.full(D, np.nan)
    explained: ClassVar[Array] = np.full(D, np.nan)

    @property
    def proof(self):
        return tuple("useful" if n else "" for n in self.votes)

    @property
    def removal_loss(self):
        return np.where(self.votes > 0, self.votes, np.nan)

    @property
    def cost(self):
        return self.removal_loss

    @property
    def p_removal(self):
        return 2.0**-self.votes

    @property
    def importance(self):
        return self.votes

    @property
    def importance_rounds(self):
        return self.votes[np.newaxis]

    @property
    def shadow_rounds(self):
        return np.ones((1, 3))

    @property
    def decisions(self):
        return (Decision("strong or weak", (at_level(self.p_removal, 0.01),)),)

    @property
    def vocabulary(self):
        return Vocabulary(
            score="votes",
            score_scale="",
            cost_heading="votes lost",
            proven="The committee says that {reason}",
            associated="",
            unproven="",
            removal="Without it {loss:g} votes are lost",
            small="",
            untested="nobody asked",
            removal_axis="votes lost ({loss_unit})",
            removal_null="too few votes",
            no_removals="nobody voted",
            importance_axis="votes",
            no_importances="nobody voted",
            columns="Votes lost: how many.",
            reading="A column is strong if many voted for it.",
        )

    def spread(self, feature):
        return replace(self, **spread_fields(self, feature))


@pytest.fixture
def result(monkeypatch):
    monkeypatch.setitem(KINDS, "votes", VoteEvidence)
    classes = np.array([2, 1, 1, 0])
    evidence = VoteEvidence(
        votes=np.array([9.0, 5.0, 2.0, 0.0]),
        minimal=classes == 2,
        undecided=np.zeros(D, dtype=bool),
        n_fits=9,
    )
    return RelevanceResult(
        columns=Columns(tuple("abcd"), ("float64",) * D, (0.0,) * D),
        classes=classes,
        evidence=evidence,
        method="VoteMethod(n_voters=9)",
        task="classification",
        n_samples=50,
        seconds=1.0,
    )


def test_a_new_kind_is_put_into_words(result):
    line = "1 strong, 2 weak, 1 irrelevant of 4; no model; votes(n_voters=9), 1.0 s"
    assert repr(result) == line
    assert "Without it 9 votes are lost." in result.explain("a")
    assert "The committee says that it explains what" in result.explain("a")
    assert result.explain("d").endswith("no evidence that it tells anything about the target.")
    assert result.borderline == {"b": "strong or weak: p = 0.031, where 0.01 is the limit"}
    assert "| column | class | group | votes lost | p |" in result.to_markdown()
    assert line in result._repr_html_()


def test_a_new_kind_has_a_page_and_a_frame(result):
    page = result.to_html()
    assert "Votes lost: how many." in page
    assert "A column is strong if many voted for it." in page
    assert "Every other relevant column is replaced" not in page
    frame = result.to_frame("polars")
    assert frame["removal_loss"].to_list() == [9.0, 5.0, 2.0, None]
    assert frame["effect"].null_count() == D


def test_a_new_kind_is_drawn(result):
    plt.switch_backend("Agg")
    assert result.plot_importances().get_xlabel() == "votes"
    assert result.plot_removal().get_xlabel() == "votes lost (log loss in nats)"
    assert "least shadow" in [t.get_text() for t in result.plot_shadows().get_yticklabels()]
    with pytest.raises(InputError, match="method='votes' does not tell them"):
        result.plot_redundancy()
    plt.close("all")


def test_a_new_kind_is_saved_and_read(result):
    again = RelevanceResult.from_json(result.to_json())
    assert again == result
    assert type(again.evidence) is VoteEvidence
    damaged = result.to_json().replace('"votes": [9.0, ', '"votes": [')
    with pytest.raises(InputError, match=r"evidence\.proof has 3 entries, not 4"):
        RelevanceResult.from_json(damaged)
    with pytest.raises(InputError, match="it must be crossfit or paper or votes"):
        RelevanceResult.from_json(result.to_json().replace('"votes"', '"rumours"', 1))


def test_a_new_kind_is_compared_with_others(result, patients):
    assert result.compare(patients).circumstances["method"] == ("votes(n_voters=9)", "crossfit")
