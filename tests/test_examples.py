"""The example notebooks run as they stand, without a network, and show what they promise."""

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import headscope
from support.tiers import in_turn
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 120
TOKENS = 512
# Less of the same data, one epoch, and a tiny model for the built-in one.
LESS = {
    "engineer.ipynb": {
        **{"sample(200": "sample(12", "[:150]": "[:8]", "[150:]": "[8:]"},
        **{"epochs=2": "epochs=1", "step=0.25": "step=0.5", '"minilm"': '"./model"'},
    },
    "researcher.ipynb": {'read("sample")': 'read("sample", limit=4)', '"minilm"': '"./model"'},
}


@pytest.mark.parametrize("name", in_turn(sorted(path.name for path in EXAMPLES.glob("*.ipynb")), of=2))
def test_notebook_runs_and_shows_results_and_views(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(headscope.__file__).parents[1]))
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    # the researcher names head 2-9
    sizes: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 9, "hidden_size": 36}
    network = tiny_bert(**sizes, max_position_embeddings=TOKENS)
    save_tiny(tmp_path / "model", network, tiny_tokenizer(TOKENS))
    notebook = nbformat.read(EXAMPLES / name, 4)
    for cell in notebook.cells:
        cell.source = less(cell.source, LESS[name])
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output["data"] for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("headscope-result" in data.get("text/html", "") for data in shown)
    assert any("image/svg+xml" in data for data in shown)
    assert any("application/vnd.jupyter.widget-view+json" in data for data in shown)
    assert any("<iframe" in data.get("text/html", "") for data in shown)


@pytest.mark.parametrize("name", LESS)
def test_less_data_are_read_where_the_notebook_reads_them(name: str) -> None:
    text = "".join(cell.source for cell in nbformat.read(EXAMPLES / name, 4).cells)
    assert [part for part in LESS[name] if part not in text] == []


def less(source: str, parts: dict[str, str]) -> str:
    for part, instead in parts.items():
        source = source.replace(part, instead)
    return source


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)
    assert path.stat().st_size < 20_000
