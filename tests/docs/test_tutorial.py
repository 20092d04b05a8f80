"""The tutorial runs from top to bottom."""

from pathlib import Path

import nbformat
import pytest

# One process runs it, not each of those that run tests.
pytestmark = pytest.mark.xdist_group("tutorial")
TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook with what its cells print and show, in a folder of its own."""
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(TUTORIAL, as_version=4)
    folder = str(tmp_path_factory.mktemp("tutorial"))
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    return client.execute()


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def test_no_cell_complains(executed):
    kinds = {(output.output_type, output.get("name")) for output in outputs(executed)}
    assert ("stream", "stderr") not in kinds
    assert {kind for kind, _ in kinds} == {"stream", "execute_result", "display_data"}


def test_what_the_text_says_is_what_is_printed(executed):
    printed = "".join(output.text for output in outputs(executed) if output.output_type == "stream")
    assert "'bmi' is weakly relevant" in printed
    assert "0 of 10 shuffled targets gave a relevant column" in printed
    assert printed.endswith("True\n")
    assert "ldl" in printed[printed.index("It is a close call") :]


def test_the_result_is_shown_as_a_table(executed):
    shown = [output.data for output in outputs(executed) if output.output_type == "execute_result"]
    verdict = next(data["text/html"] for data in shown if "Cannot do without" in str(data))
    for name in ("bp", "ltg", "sex", "shuffled_bmi"):
        assert name in verdict


def test_the_notebook_is_kept_without_what_it_prints():
    assert outputs(nbformat.read(TUTORIAL, as_version=4)) == []
