"""What every reader of the folder keeps to."""

import re
from collections import Counter

import pytest

from headscope import catalog
from headscope.corpora import Options
from headscope.corpora.options import tell
from headscope.errors import HeadscopeError

KINDS = catalog.names("corpora/readers")


def test_the_readers_are_found():
    assert {"conllu", "glue", "hub", "paragraphs", "sample", "table", "text"} <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_says_in_a_line_what_it_reads(kind):
    assert 10 < len(catalog.summary("corpora/readers", kind)) < 120


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_has_suffixes_and_examples(kind):
    reader = catalog.load("corpora/readers", kind)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in reader.SUFFIXES)
    assert callable(reader.examples)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_a_source_is_told_by_its_suffix_or_its_prefix(kind):
    assert tell(f"{kind}:there", Options()) == (kind, "there")
    for suffix in catalog.load("corpora/readers", kind).SUFFIXES:
        for name in (f"there{suffix}", f"there{suffix}.gz"):
            assert tell(name, Options()) == (kind, name)


def test_no_two_readers_share_a_suffix():
    suffixes = Counter(suffix for kind in KINDS for suffix in catalog.load("corpora/readers", kind).SUFFIXES)
    assert set(suffixes.values()) == {1}


@pytest.mark.parametrize(
    ("suffix", "near"), [(".tvs", "'.tsv' (kind 'table')"), (".conll", "'.conllu' (kind 'conllu')")]
)
def test_a_suffix_that_is_unknown_is_likened_to_a_known_one(tmp_path, suffix, near):
    (tmp_path / f"x{suffix}").write_text("A text.")
    with pytest.raises(HeadscopeError, match=re.escape(f"did you mean {near}? name its kind with")):
        tell(str(tmp_path / f"x{suffix}"), Options())
