"""Inputs of studies by their types: the same for the command line and for Python."""

from pathlib import Path

import pytest

from headscope import HeadscopeError, catalog
from headscope.front import signatures
from headscope.front.inputs import INPUT_TYPES, from_options, from_values, options_of
from headscope.front.signatures import names, read
from support.tiny import save_tiny

FUNCTIONS = [(study, "study", "run") for study in catalog.names("studies")]
FUNCTIONS += [(study, "commands", verb) for study in catalog.names("studies") for verb in names(study, "commands")]


@pytest.mark.parametrize("where", FUNCTIONS)
def test_a_function_has_one_input_of_a_type(where: tuple[str, str, str]) -> None:
    types = [*read(*where).inputs.values()]
    assert len(types) == len(set(types))


def test_each_type_is_an_input_of_a_study_or_a_verb() -> None:
    used = {kind for where in FUNCTIONS for kind in read(*where).inputs.values()}
    assert set(INPUT_TYPES) == used


def test_inputs_go_by_type_under_any_name(tmp_path: Path) -> None:
    inputs, model = {"network": "Model", "texts": "Corpus", "second": "Training | None"}, save_tiny(tmp_path)
    assert {"model", "corpus", "training", "limit"} <= options_of(inputs)
    made = from_values(inputs, {"texts": ["The cat slept."], "network": model, "second": None}, tokenizer=None)
    assert made["texts"].n_examples == 1 and made["network"].capture.heads and made["second"] is None
    given = {"corpus": "sample", "model": str(model), "training": "sample", "limit": 2, "training_limit": 1}
    given |= {"segment": 128, "skip_bad": False, "revision": None, "remote_code": False}
    made = from_options({"second": "Training | None", "texts": "Corpus"}, given)
    assert (made["texts"].n_examples, made["second"].n_examples) == (2, 1)


def test_a_missing_input_is_left_to_the_study_only_where_its_type_says_so() -> None:
    assert from_values({"training": "Training | None"}, {"training": None}, None) == {"training": None}
    with pytest.raises(HeadscopeError, match="a NoneType is no model"):
        from_values({"model": "Model"}, {"model": None}, None)


@pytest.mark.parametrize(("argument", "named"), [("corpus: Corpsu", "Corpsu"), ("corpus", "corpus")])
def test_an_unknown_type_names_the_argument(
    argument: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "studies" / "made"
    folder.mkdir(parents=True)
    (folder / "study.py").write_text(f"def run({argument}):\n    pass\n", encoding="utf-8")
    monkeypatch.setattr(signatures.catalog, "ROOT", tmp_path)
    with pytest.raises(TypeError, match=f"made.study.run: argument 'corpus': .*{named}.* is no type of an option"):
        read("made", "study", "run")
