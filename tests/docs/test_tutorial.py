"""The tutorial runs from top to bottom."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def test_the_tutorial_runs_without_complaints_and_says_what_is_so(tmp_path):
    resources = {"metadata": {"path": str(tmp_path)}}
    notebook = nbformat.read(TUTORIAL, as_version=4)
    client = NotebookClient(notebook, timeout=600, resources=resources)
    executed = outputs(client.execute())
    kinds = {(output.output_type, output.get("name")) for output in executed}
    assert ("stream", "stderr") not in kinds
    assert {kind for kind, _ in kinds} == {"stream", "execute_result", "display_data"}

    printed = "".join(output.text for output in executed if output.output_type == "stream")
    assert "'bmi' is weakly relevant" in printed
    assert "ldl" in printed[printed.index("It is a close call") :]
    assert "0 of 10 shuffled targets gave a relevant column" in printed
    assert printed.endswith("True\n")

    shown = [output.data for output in executed if output.output_type == "execute_result"]
    verdict = next(data["text/html"] for data in shown if "Cannot do without" in str(data))
    for name in ("bp", "ltg", "sex", "shuffled_bmi"):
        assert name in verdict


def test_the_notebook_is_kept_without_what_it_prints():
    assert outputs(nbformat.read(TUTORIAL, as_version=4)) == []
