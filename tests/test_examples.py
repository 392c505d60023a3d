"""The example notebooks run as they stand, without a network, and show what they promise."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import headscope

EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 120


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.ipynb")))
def test_notebook_runs_and_shows_results_and_views(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(headscope.__file__).parents[1]))
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    notebook = nbformat.read(EXAMPLES / name, 4)
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output["data"] for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("headscope-result" in data.get("text/html", "") for data in shown)
    assert any("image/svg+xml" in data for data in shown)
    assert any("application/vnd.jupyter.widget-view+json" in data for data in shown)
    assert any("<iframe" in data.get("text/html", "") for data in shown)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)
    assert path.stat().st_size < 20_000
