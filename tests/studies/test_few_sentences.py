"""A treebank of very few sentences, which may lack a relation or all of them, has a page and cards."""

from pathlib import Path

import pytest

from support.every_study import run
from support.tiny import save_tiny

ROOT = "1\tSlept\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n"
TREEBANKS = {
    "a root": ROOT,
    "a root and punctuation": f"{ROOT}2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n",
    "one relation": f"{ROOT}2\ther\ther\tPRON\t_\t_\t1\tobj\t_\t_\n",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("few") / "model")


@pytest.mark.parametrize(
    ("study", "treebank"), [*(("syntax", name) for name in TREEBANKS), ("relations", "one relation")]
)
def test_few_sentences_have_a_whole_page_and_cards(study: str, treebank: str, model: Path, tmp_path: Path) -> None:
    (tmp_path / "few.conllu").write_text(f"{TREEBANKS[treebank]}\n" * 2, encoding="utf-8")
    ended = run(study, model, tmp_path / "few.conllu", "--resamples", "20", out=tmp_path / "out")
    assert ended.status == 0 and "headscope: " not in ended.errors
    assert "This page is not complete" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    run("head", "1-1", tmp_path / "out", out=tmp_path)
