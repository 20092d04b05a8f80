"""The examples of the gallery run, without a warning, and what they say is so."""

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))
SIZES = {"mean radius", "mean perimeter", "mean area"} | {
    "worst radius", "worst perimeter", "worst area"
}  # fmt: skip


def houses(said):
    result = said["result"]
    assert (len(result.strong), result.irrelevant) == (8, ("gasheat",))
    assert "bedrooms" in result.weak
    kept = result.path.set_index("size")["kept"]
    assert 0.4 < kept[1] < 0.6
    assert kept[5] > 0.9


def breast_cancer(said):
    result = said["result"]
    assert (len(result.strong), len(result.irrelevant)) == (0, 0)
    assert any(set(group) >= SIZES for group in result.groups)
    assert said["area"].least < 0.01
    assert said["area"].most > 0.5
    assert len(said["enough"]) < 25


def gene_expression(said):
    result = said["result"]
    assert len(said["by_itself"]) < 5
    assert len(result.weak) > 50
    assert result.strong == ()
    assert any("only through" in note for note in result.notes)
    assert max(said["counts"]) > 1
    assert sum(said["counts"].values()) == len(result.weak)


def patients(said):
    drawn, known = "number of the patient", {"trt", "age", "sex"}
    assert {drawn, *known}.isdisjoint(said["forgotten"].irrelevant)
    assert {drawn, *known, "number of the visit"} <= {*said["remembered"].irrelevant}
    assert "number of the visit" in said["forgotten"].irrelevant


def gaps(said):
    loans, bad = said["loans"], said["bad"]
    unknown = loans["Income"].isna()
    assert 1 / 14 < unknown.mean() < 1 / 10
    assert 1.8 < bad[unknown].mean() / bad[~unknown].mean() < 2.6
    assert said["shares"].idxmax() == "not known"
    assert "Income" in said["as_it_is"].strong
    assert "income not known" in said["told"].strong
    assert 0 < said["share"] < said["whole"]


def pipeline(said):
    scores = said["search"].cv_results_
    means, spread = scores["mean_test_score"], scores["std_test_score"]
    assert means.max() - means.min() < 2 * spread.max()
    assert abs(means[1] - means[2]) < spread.min()


def lazy_frame(said):
    result = said["result"]
    assert {"color", "clarity"} <= {*result.strong}
    sizes = {"carat", "x", "y", "z", "box"}
    assert sizes <= {*result.weak}
    (shares,) = (s for group, s in result.necessity.groups.items() if sizes <= {*group})
    assert shares.least > max(result.necessity[name].least for name in result.strong)
    assert {*result.select("minimal")} == {"carat", "color", "clarity"}
    assert len(said["price"]) == 1610
    assert type(said["small"]).__name__ == "LazyFrame"


def dask_cluster(said):
    assert said["far_away"].compare(said["at_home"]).same


def the_paper(said):
    assert (said["ours"].classes == said["problem"].classes).all()
    found = set(said["paper"].strong)
    assert found
    assert found < {"0", "1", "2"}


def alarm_network(said):
    result = said["result"]
    assert result.strong
    assert set(result.strong) <= said["blanket"]
    assert {"ARTCO2", "SAO2"} <= {*result.weak}
    assert "INSUFFANESTH" in result.irrelevant


def two_runs(said):
    assert "bmi" in said["first"].weak
    assert "bmi" in said["without_copy"].strong
    assert not said["first"].compare(said["on_half"]).same


def which_to_measure(said):
    result, alone = said["result"], set(said["alone"])
    together = set(result.select(5))
    assert "hgt" in together - alone
    assert all(name.endswith("_gi") for name in alone)
    assert result.path.set_index("size")["kept"][5] > 0.95
    cheapest = result.signatures.cheapest({"che_gi": 10, "sho_gi": 5, "bic_gi": 1, "for_gi": 1})
    assert "che_gi" not in cheapest.columns


def survival(said):
    known = {"age", "edema", "bili", "albumin", "copper", "protime"}
    assert said["died"].sum() == 125
    result = said["result"]
    assert set(result.select("minimal")) == known
    assert {*result.strong} <= {"bili"}
    assert "bili" in said["close"]
    assert known - {"bili"} <= {*result.weak}
    assert {"trt", "sex"} <= {*result.irrelevant}
    assert 0.01 < said["bilirubin"].least < 0.1
    assert said["bilirubin"].most > 0.5


def beyond_age(said):
    plain, adjusted = said["plain"], said["adjusted"]
    assert len(said["men"]) == 1500
    assert any({"age", "badge"} <= set(group) for group in plain.groups)
    assert "badge" in adjusted.irrelevant
    assert {"health_ins", "maritl"} <= {*adjusted.strong}


SAYS = {
    f"plot_{number:02}_{says.__name__}": says
    for number, says in enumerate(
        (
            houses,
            breast_cancer,
            gene_expression,
            patients,
            gaps,
            pipeline,
            lazy_frame,
            dask_cluster,
            the_paper,
            alarm_network,
            two_runs,
            which_to_measure,
            survival,
            beyond_age,
        ),
        start=1,
    )
}


def test_what_every_example_says_is_checked():
    assert {path.stem for path in EXAMPLES} == set(SAYS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_ends_in_a_picture_and_says_what_is_so(path, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    said = runpy.run_path(str(path))
    drawn = plt.get_fignums()
    plt.close("all")
    assert drawn
    SAYS[path.stem](said)
