"""Documents of a corpus: each reader names them, and intervals are over them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headscope
from headscope.corpora import Options, read
from headscope.corpora.stream import Stream
from headscope.errors import HeadscopeError
from headscope.models import load
from headscope.passes import Settings
from headscope.passes.passes import Pass
from headscope.report.study_page import study_page
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer
from support.written import corpus

TREE = "1\tIt\t_\tPRON\t_\t_\t0\troot\t_\t_\n\n"


def documents(found) -> list[str]:
    return [example.document for example in found]


def test_titles_of_running_text_begin_documents():
    text = " = One = \n\nA b.\n\n = = Part = = \n\nC d.\n\n = Two = \n\nE f.\n"
    found = corpus("x.txt", text)
    assert documents(found) == ["x.txt:1"] * 4 + ["x.txt:9"] * 2 and found.n_documents == 2


def test_without_titles_blank_lines_part_documents():
    assert documents(corpus("x.txt", "A.\nB.\n\n\nC.\n")) == ["x.txt:1", "x.txt:1", "x.txt:5"]
    assert corpus("x.txt", "A.\nB.\n").n_documents == 0, "whether they are one document is not known"


def test_a_text_that_is_read_from_its_middle_has_the_same_documents(tmp_path, request):
    path = tmp_path / "x.txt"
    path.write_text("\n\n".join(f"A {n}.\nB {n}." for n in range(40)))
    in_memory = documents(read(str(path)))
    request.getfixturevalue("streamed")
    found = read(str(path))
    assert isinstance(found.again(), Stream)
    assert [example.document for example in found.since(31)] == in_memory[31:]


def test_documents_of_a_treebank():
    found = corpus("x.conllu", f"# newdoc id = a\n{TREE}{TREE}# newdoc id = b\n{TREE}")
    assert documents(found) == ["a", "a", "b"] and found.n_documents == 2
    assert corpus("x.conllu", TREE * 2).n_documents == 1


def test_a_column_names_documents(tmp_path):
    table = pd.DataFrame({"text": ["It rained.", "We stayed.", "They left."], "review": [3, 4, 3]})
    assert documents(read(table, document="review")) == ["3", "4", "3"]
    table.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    table.to_parquet(tmp_path / "x.parquet")
    for name in ("x.tsv", "x.parquet"):
        assert documents(read(str(tmp_path / name), Options(document="review"))) == ["3", "4", "3"]
    with pytest.raises(HeadscopeError, match="no column 'revue' for --document; did you mean 'review'"):
        read(table, document="revue")


def interval_width(path: Path, texts: str) -> tuple[float, str]:
    path.write_text(texts)
    found = read(str(path))
    done = Pass(load("minilm"), found, Settings(resamples=400)).measure(["entropy"]).read()
    lower, upper = np.moveaxis(done.value["entropy"].interval, -1, 0)
    return float((upper - lower).mean()), str(found.by_document)


def test_sentences_of_a_document_are_resampled_together(tmp_path):
    sentences = ["It rained.", "The old dog that they had found slept by the door all day long.", "No."] * 4
    alike = "\n\n".join("\n".join([sentence] * 6) for sentence in sentences)
    apart = "\n".join(sentence for sentence in sentences for _ in range(6))
    (by_document, grouped), (by_sentence, single) = (
        interval_width(tmp_path / f"{number}.txt", text) for number, text in enumerate((alike, apart))
    )
    assert (grouped, single) == ("True", "False")
    assert by_document > 2 * by_sentence  # six equal sentences tell no more than one


def test_few_documents_are_not_resampled():
    assert not corpus("x.txt", "A.\nB.\n\nC.\nD.\n").by_document
    assert not corpus("x.txt", "\n\n".join("ABCDEFGH")).by_document  # each example is its own


def test_what_intervals_are_over_is_said():
    assert corpus("x.txt", "A.\nB.\n").resampled == "examples, taken as independent"
    assert corpus("x.txt", "\n\n".join("ABCDEFGH")).resampled == "examples"
    assert corpus("x.txt", "\n\n".join(["A.\nB."] * 8)).resampled == "8 documents"


def test_the_command_line_has_the_column(tmp_path):
    table = tmp_path / "x.tsv"
    table.write_text("text\treview\n" + "".join(f"It rained {n}.\t{n // 2}\n" for n in range(12)))
    words = [
        "profile",
        str(save_tiny(tmp_path / "model")),
        str(table),
        "--document",
        "review",
        "-o",
        str(tmp_path / "out"),
        "--no-figures",
    ]
    done = run_command(*words)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "report.html").read_text()
    assert "95%, over 6 documents: too few to lean on" in page


def test_units_are_documents_where_there_are_enough():
    found = corpus("x.txt", "".join(f"A{i}.\nB.\n\n" for i in range(6)))
    assert list(found.units)[::2] == list(found.units)[1::2] and len(set(found.units)) == 6
    assert list(corpus("x.txt", "A.\nB.\n\nC.\n").units) == [0, 1, 2]


def test_fewer_than_five_documents_give_no_interval_and_name_the_column_that_gives_more(tmp_path):
    """Their sentences are no independent examples: intervals over these contain the value in .76 to .86 of samples."""
    table = tmp_path / "x.tsv"
    rows = [f"It rained {n}.\t{('news', 'blog', 'mail')[n % 3]}\tt{n // 2}" for n in range(24)]
    table.write_text("text\tgenre\ttitle\n" + "\n".join(rows) + "\n")
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    few, enough = (headscope.profile(model, read(table, document=name)) for name in ("genre", "title"))
    assert few.attrs["resampled"].endswith("too few for intervals; --document title makes 12")
    bounds = [name for name in few if str(name).endswith("_ci")]
    assert bounds and all(bool(few[name].isnull().all()) for name in bounds)
    assert not any(bool(enough[name].isnull().all()) for name in ("entropy_ci", "attention_to_ci"))
    page = study_page(few)
    first, *_ = page.highlights()
    assert first.topic == "Undecided: too few documents" and "--document title makes 12" in first.text
    assert {finding.verdict for finding in (*page.highlights(), *page.findings())} <= {None, "undecided"}


def _news(folder, name, documents):
    """A table of 12 texts of so many documents."""
    rows = [f"It rained {n}, and {'it was cold ' * (n % 4)}then we slept.\t{n % documents}" for n in range(12)]
    (folder / name).write_text("text\ttitle\n" + "\n".join(rows) + "\n")
    return read(folder / name, document="title")


def test_intervals_over_other_units_stay_where_documents_are_few(tmp_path):
    """What random tokens and the vocabulary tell does not depend on the documents of the corpus."""
    model, few = headscope.wrap(tiny_bert(), tiny_tokenizer()), _news(tmp_path, "few.tsv", 3)
    found = headscope.induction(model, few, sequences=10, copy=4, contexts="8", texts=4, tokens=20)
    there = {str(name): bool(found[name].notnull().any()) for name in found if str(name).endswith("_ci")}
    of_corpus = ("natural_", "sink_", "value_norm", "mean_distance")
    assert there["gain_ci"] and there["planted_gain_ci"] and there["chosen_gain_ci"]
    assert not any(filled for name, filled in there.items() if name.startswith(of_corpus))


def test_of_several_corpora_only_the_small_one_has_no_intervals(tmp_path):
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    corpora = (_news(tmp_path, "few.tsv", 3), _news(tmp_path, "enough.tsv", 6))
    found = headscope.patterns(model, corpora, shown=0, resamples=20)
    filled = found["share_ci"].notnull().any([dim for dim in found["share_ci"].dims if dim != "task"])
    assert filled.values.tolist() == [False, True] and bool(found["same_pattern_ci"].notnull().all())
