"""Files of word vectors: every format, and every way in which one can be damaged."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from headscope.errors import HeadscopeError
from headscope.studies.heads.probe.word_vectors import read_vectors

WORDS = {"the": [0.5, -1.25, 3e-3], "Katze": [1, 2, 3], "ǆ¹": [0, 0, -7], "-": [4, 5, 6], "12": [7, 8, 9]}
LINES = [f"{word} {' '.join(map(str, numbers))}" for word, numbers in WORDS.items()]
BINARY = b"".join(word.encode() + b" " + np.array(its, "<f4").tobytes() + b"\n" for word, its in WORDS.items())
FILES = {
    "glove.txt": "\n".join(LINES).encode() + b"\n",
    "no-last-newline.txt": "\n".join(LINES).encode(),
    "windows.txt": "\r\n".join(LINES).encode(),
    "word2vec.txt": ("5 3\n" + "\n".join(f"{line} " for line in LINES) + "\n").encode(),
    "tabs.tsv": "\n".join(line.replace(" ", "\t", 1) for line in LINES).encode(),
    "all-tabs.tsv": "\n".join(line.replace(" ", "\t") for line in LINES).encode(),
    "word2vec.bin": b"5 3\n" + BINARY,
    "without-newlines.bin": b"5 3\n" + BINARY.replace(b"\n", b""),
}


def written(folder: Path, content: bytes | str, name: str = "vectors.txt") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("zipped", [False, True])
def test_all_formats_give_the_same_vectors(name: str, zipped: bool, tmp_path: Path) -> None:
    content = gzip.compress(FILES[name]) if zipped else FILES[name]
    found = read_vectors(written(tmp_path, content, name + ".gz" * zipped), [*WORDS, "absent"])
    assert set(found.row_of) == set(WORDS)
    for word, numbers in WORDS.items():
        np.testing.assert_array_equal(found.table[found.row_of[word]], np.float32(numbers))


def test_only_what_is_asked_for_is_kept(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, FILES["glove.txt"]), ["12", "absent"])
    assert found.row_of == {"12": 0} and found.table.tolist() == [[7, 8, 9]]
    assert read_vectors(written(tmp_path, FILES["glove.txt"]), ["absent"]).table.shape == (0, 3)


def test_of_a_word_that_is_there_twice_the_first_counts_and_words_may_have_blanks(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, "a 1 2\n. . . 3 4\na 5 6\n"), ["a", ". . ."])
    assert found.table[found.row_of["a"]].tolist() == [1, 2]
    assert found.table[found.row_of[". . ."]].tolist() == [3, 4]


def test_a_binary_file_is_read_in_pieces(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = random.normal(size=(9000, 100)).astype("<f4")
    content = b"9000 100\n" + b"".join(b"word%d " % number + row.tobytes() for number, row in enumerate(table))
    assert len(content) > 3 << 20
    found = read_vectors(written(tmp_path, content, "v.bin"), [f"word{number}" for number in range(0, 9000, 7)])
    assert len(found.row_of) == 1286
    for word, row in found.row_of.items():
        np.testing.assert_array_equal(found.table[row], table[int(word[4:])])


DAMAGED = {
    "a number too few": ("a 1 2 3\nb 1 2\n", "line 2: 2 numbers, expected 3"),
    "a number too many": ("a 1 2 3\nb 1 2 3 4\n", "line 2: 4 numbers, expected 3"),
    "an empty line": ("a 1 2 3\n\nb 1 2 3\n", "line 2: 0 numbers, expected 3"),
    "a word for a number": ("a 1 2 3\nb 1 x 3\n", "line 2: a value is not a number"),
    "not a number": ("a 1 2 3\nb 1 nan 3\n", "line 2: a number is not finite"),
    "infinite": ("a 1 2 3\nb 1 1e39 3\n", "line 2: a number is not finite"),
    "no vectors": ("It rained all day.\n", "line 1: no word with its numbers"),
    "nothing": ("", "line 1: no word with its numbers"),
    "a header that promises more": ("3 2\na 1 2\nb 3 4\n", "2 words, its first line says 3"),
    "a header that promises less": ("1 2\na 1 2\nb 3 4\n", "2 words, its first line says 1"),
    "another size than the header says": ("2 3\na 1 2\nb 3 4\n", "line 2: 2 numbers, expected 3"),
    "a size that cannot be": ("2 99999\na 1 2\n", "line 1: 99999 numbers a word"),
    "a binary file that ends too early": (b"2 3\n" + BINARY[:-4][:20], "word 2: the file ends there"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_what_is_damaged_is_refused_with_its_line(kind: str, tmp_path: Path) -> None:
    content, message = DAMAGED[kind]
    with pytest.raises(HeadscopeError, match=message) as refused:
        read_vectors(written(tmp_path, content), ["a", "b", "the"])
    assert "\n" not in str(refused.value) and "vectors.txt" in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="No such file"):
        read_vectors(str(tmp_path / "absent.txt"), ["a"])
    for content in (b"no gzip", gzip.compress(FILES["glove.txt"])[:-12]):
        with pytest.raises(HeadscopeError, match="cannot be read"):
            read_vectors(written(tmp_path, content, "cut.txt.gz"), ["a"])


def test_the_vectors_at_hand(real_data: Path) -> None:
    source = str(real_data / "wordvecs" / "word2vec_googlenews_top1000_300d.tsv.gz")
    found = read_vectors(source, ["in", "for", "xyzzy"])
    assert found.table.shape == (2, 300) and "xyzzy" not in found.row_of
    np.testing.assert_allclose(np.linalg.norm(found.table, axis=1), 1, atol=1e-3)


def test_the_longest_word_bounds_what_is_searched(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match="word 1: the file ends there"):
        read_vectors(written(tmp_path, b"1 3\n" + b"\xff" * 30_000), ["a"])
