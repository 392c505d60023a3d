"""Files as lines: encodings, packed files, files that cannot be read."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.corpora import read
from headscope.errors import HeadscopeError
from support.written import corpus, texts

EMPTY = "\t_" * 7 + "\t"
KINDS = {
    "x.txt": "Zoë slept.\n",
    "x.tsv": "sentence\nZoë slept.\n",
    "x.csv": "sentence\nZoë slept.\n",
    "x.jsonl": '{"sentence": "Zoë slept."}\n',
    "x.conllu": f"1\tZoë{EMPTY}_\n2\tslept{EMPTY}SpaceAfter=No\n3\t.{EMPTY}_\n",
}


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", KINDS)
def test_packed_files_and_byte_order_marks_are_read(name, mark, end):
    assert texts(corpus(name + end, mark + KINDS[name].encode())) == [["Zoë slept."]]


@pytest.mark.parametrize("name", KINDS)
def test_line_ends_of_windows_are_line_ends(name):
    assert texts(corpus(name, KINDS[name].replace("\n", "\r\n"))) == [["Zoë slept."]]


@pytest.mark.parametrize("name", KINDS)
def test_bytes_that_are_not_utf8_are_an_error_with_file_and_line(name):
    content = KINDS[name].encode() + "Zoë".encode("latin-1")
    line = content.count(b"\n") + 1
    with pytest.raises(HeadscopeError, match=rf"{name}', line {line}: byte 0xeb is not UTF-8; save the file as UTF-8$"):
        corpus(name, content)


@pytest.mark.parametrize(
    "content",
    [b"not packed", gzip.compress(b"One.\n" * 1000)[:-12], gzip.compress(b"One.\n")[:-1]],
    ids=["not packed", "cut", "without its end"],  # names without the time that is in packed bytes
)
def test_a_broken_gzip_file_is_an_error(tmp_path, content):
    (tmp_path / "x.txt.gz").write_bytes(content)
    with pytest.raises(HeadscopeError, match=r"x.txt.gz' cannot be read: .*; check the file"):
        read(tmp_path / "x.txt.gz")


@given(st.lists(st.text(st.characters(exclude_characters="\0\n\r", exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_only_a_newline_ends_a_line(sentences):
    kept = [sentence.removeprefix("\ufeff") if n == 0 else sentence for n, sentence in enumerate(sentences)]
    expected = [[sentence.strip()] for sentence in kept if sentence.strip()]
    content = "\n".join(sentences)
    if expected:
        assert texts(corpus("x.txt", content)) == expected
    else:
        with pytest.raises(HeadscopeError, match="no examples"):
            corpus("x.txt", content)
