"""A limit draws evenly of all that a file has: the first examples of a sorted file are a sample of its beginning."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.corpora import Corpus, Options, drawing, read
from headscope.corpora.drawing import evenly, in_whole
from headscope.corpora.stream import Stream
from headscope.errors import HeadscopeError

PIECES = lambda text: [(at, at + 1) for at, sign in enumerate(text) if sign != " "]  # noqa: E731


def text(folder: Path, documents: int = 12, lines: int = 10) -> Path:
    path = folder / "x.txt"
    path.write_text("".join(f" = T{number} = \n\n" + "A line .\n" * lines for number in range(documents)))
    return path


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 30), st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_each_group_has_its_share(sizes: list[int], number: int, rounded: bool) -> None:
    groups = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    number = min(number, len(groups))
    chosen = evenly(groups, number, rounded=rounded)
    assert len(set(chosen.tolist())) == number and (np.diff(chosen) > 0).all()
    missed = np.abs(np.bincount(groups[chosen], minlength=len(sizes)) - np.array(sizes) * number / len(groups))
    assert missed.max() < 2
    drawn = Counter(groups[in_whole(groups, number)].tolist())
    assert sum(count < sizes[group] for group, count in drawn.items()) <= 1 and drawn.total() == number


def test_documents_of_any_size_have_the_same_chance() -> None:
    """The mean over seeds: of 4 of 40 examples a tenth of each document, however small."""
    drawn = np.zeros(13)
    with pytest.MonkeyPatch.context() as patch:
        for seed in range(400):
            patch.setattr(drawing, "SEED", seed)
            groups = np.repeat(np.arange(13), [28, *[1] * 12])
            drawn += np.bincount(groups[evenly(groups, 4)], minlength=13)
    assert drawn[0] / 400 == pytest.approx(2.8, abs=0.3)
    assert drawn[1:].mean() / 400 == pytest.approx(0.1, abs=0.025)


def test_a_limit_reads_of_all_documents_and_says_so(tmp_path: Path) -> None:
    found = read(text(tmp_path), limit=24)
    assert found.drawn == "24 of 132, drawn evenly over documents, seed 0" and found.by_document
    assert found.described == f"{found.name} ({found.drawn})"
    assert found.sha256 == read(text(tmp_path)).sha256
    lines = [int(example.id.rpartition(":")[2]) for example in found]
    assert lines == sorted(lines) and Counter(example.document for example in found).most_common(1)[0][1] <= 3
    assert read(text(tmp_path), limit=132).drawn == "" and not read(text(tmp_path), limit=999).drawn


def test_whole_documents_are_drawn_for_what_is_read_across_sentences(tmp_path: Path) -> None:
    found = read(text(tmp_path), limit=33, whole_documents=True)
    assert sorted(Counter(example.document for example in found).values()) == [11, 11, 11]
    assert found.drawn == "33 of 132, drawn as whole documents, seed 0"


def test_of_a_large_file_the_beginning_is_drawn_from_and_said(tmp_path: Path) -> None:
    path = text(tmp_path, documents=30, lines=800)
    found = read(path, limit=5)
    assert found.drawn == "5 of the first 20,000, drawn evenly over documents, seed 0"
    assert max(int(example.id.rpartition(":")[2]) for example in found) <= 20_026
    assert read(path, limit=5, from_first=False).drawn.startswith("5 of 24,030")


@pytest.mark.parametrize("kind", ["text", "paragraphs"])
def test_drawn_examples_are_read_anew_from_any_on(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Those of a corpus that is too large for memory; what is cut in others is not counted."""
    options = Options(kind=kind, limit=17, segment=8, offsets=PIECES)
    held = list(read(text(tmp_path), options))
    request.getfixturevalue("streamed")
    found = read(text(tmp_path), options)
    stream = found.again()
    assert isinstance(stream, Stream) and list(found) == held and len(held) == 17
    for first in (16, 3, 0, 17, 9):
        assert list(found.since(first)) == held[first:]
        stream.go(first)
        assert list(stream) == held[first:]
    everything = read(text(tmp_path), Options(kind=kind, segment=8, offsets=PIECES))
    examples = list(everything)
    assert [example for example in examples if example in held] == held
    assert found.skipped.get("words cut", 0) * len(examples) == everything.skipped.get("words cut", 0) * 17


def test_what_is_bad_anywhere_is_an_error_or_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("sentence\tlabel\n" + "A text.\t1\n" * 40 + "one column\n" * 3 + "A text.\t2\n" * 40)
    assert read(path, limit=9, skip_bad=True).skipped == {"bad": 3}
    assert read(path, limit=9, skip_bad=True).drawn == "9 of 80, drawn evenly over labels, seed 0"
    with pytest.raises(HeadscopeError, match="line 42: 1 columns"):
        read(path, limit=9)


def test_of_texts_in_memory_it_draws_and_of_a_stream_it_takes_the_first() -> None:
    datasets = pytest.importorskip("datasets")
    rows = [f"Text {number}." for number in range(30)]
    streamed = datasets.Dataset.from_dict({"text": rows}).to_iterable_dataset()

    def firsts(corpus: Corpus) -> list[str]:
        return [example.first[0].text for example in corpus]

    first = read(streamed, limit=5)
    assert firsts(first) == rows[:5] and first.drawn == "the first 5"
    drawn = read(rows, limit=5)
    assert drawn.drawn == "5 of 30, drawn evenly, seed 0" and firsts(drawn) != rows[:5]
    assert read((row for row in rows), limit=5).sha256 == drawn.sha256
