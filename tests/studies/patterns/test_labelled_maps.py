"""Labelled maps are written and read again; what is wrong is said with its line."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.labelled_maps import Map, read
from pattern_workshop.written_maps import labels, write

TOKENS = ("[CLS]", "a", ",", "[SEP]")


def some(**known: object) -> Map:
    return Map(7, np.full((4, 4), 0.25, np.float32), TOKENS, **({"label": "block"} | known))  # type: ignore[arg-type]


def lines(folder: Path, *changed: dict) -> Path:
    """A folder of one map whose line is as these, one after another."""
    write(folder, [some()])
    known = json.loads((folder / "labels.jsonl").read_text())
    (folder / "labels.jsonl").write_text("\n".join(json.dumps(known | change) for change in changed))
    return folder


def test_what_is_written_is_read(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    maps = [
        some(layer=2, head=12, model="m", corpus="c", annotator_a="vertical", annotator="me"),
        Map(8, random.dirichlet(np.ones(9), 9), tuple("abcdefgh\u2028"), "", ("cls", *["other"] * 7, "sep")),
    ]
    write(tmp_path, maps)
    for one, other in zip(maps, read(tmp_path), strict=True):
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-3)
        known, stored = vars(one) | {"attention": 0}, vars(other) | {"attention": 0}
        assert known == stored
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.jsonl", "maps.npz"]


def test_no_maps_at_all(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert read(tmp_path) == []


def test_classes_are_told_from_tokens_unless_they_are_given() -> None:
    assert some().classes.tolist() == [0, 3, 2, 1]
    assert some(token_class=("other", "cls", "sep", "punct")).classes.tolist() == [3, 0, 1, 2]


def test_labels_may_be_compressed(tmp_path: Path) -> None:
    write(tmp_path, [some()])
    plain = tmp_path / "labels.jsonl"
    (tmp_path / "labels.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert read(tmp_path)[0].label == "block"
    assert labels(tmp_path / "labels.jsonl.gz") == {7: "block"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"label": "star"}, f"label .star. is not one of {', '.join(PATTERNS)}"),
        ({"id": 8}, "id 8 is not that of the map, 7"),
        ({"id": "7"}, "id '7' is not a whole number"),
        ({"tokens": [1, 2, 3, 4]}, "tokens must be a list of 4"),
        ({"tokens": None}, "tokens must be a list of 4"),
        ({"token_class": 4}, "token_class must be 4 of"),
        ({"layer": "2"}, "layer '2' is not a number"),
        ({"model": ["m"]}, r"model \['m'\] is not a name"),
        ({"tokens": ["a"]}, "tokens must be a list of 4"),
        ({"token_class": ["cls"] * 3}, "token_class must be 4 of cls, sep, punct, other"),
        ({"token_class": ["verb"] * 4}, "token_class must be 4 of cls, sep, punct, other"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, changed: dict, said: str) -> None:
    with pytest.raises(HeadscopeError, match=rf"labels.jsonl', line 1: {said}"):
        read(lines(tmp_path, changed))


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    write(tmp_path, [some()])
    for text, said in (("{", "not JSON"), ("[]", "not an object"), ("\n", "not JSON")):
        (tmp_path / "labels.jsonl").write_text(text)
        with pytest.raises(HeadscopeError, match=f"line 1: {said}"):
            read(tmp_path)


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"maps.npz has 1 maps, labels.jsonl has 2 lines"):
        read(lines(tmp_path, {}, {}))
    np.savez(tmp_path / "maps.npz", length=[4], values=np.zeros(15), id=[7])
    with pytest.raises(HeadscopeError, match="do not fit together"):
        read(tmp_path)


def test_no_labels_no_maps_and_no_arrays(tmp_path: Path) -> None:
    with pytest.raises(HeadscopeError, match=r"has no labels.jsonl or labels.jsonl.gz"):
        read(tmp_path)
    (tmp_path / "labels.jsonl").write_text("")
    with pytest.raises(HeadscopeError, match=r"maps.npz' cannot be read"):
        read(tmp_path)
    np.savez(tmp_path / "maps.npz", length=[4])
    with pytest.raises(HeadscopeError, match="it needs the arrays length, values and id"):
        read(tmp_path)


def test_arrays_of_objects_are_never_unpickled(tmp_path: Path) -> None:
    write(tmp_path, [some()])
    np.savez(tmp_path / "maps.npz", length=[4], values=np.array([{}], object), id=[7])
    with pytest.raises(HeadscopeError, match="cannot be read"):
        read(tmp_path)
