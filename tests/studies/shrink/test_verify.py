"""`headscope verify` scores the saved model again, and notices one that has changed."""

import json
import shutil
from collections.abc import Callable, Iterator
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from transformers import AutoModel, AutoTokenizer

import headscope
from headscope import HeadscopeError, results
from headscope.front.cli.study import command
from headscope.studies.size.shrink.quoted_score import NOT_MEASURED, in_card
from headscope.studies.size.shrink.verification import MOST_TOKENS, recorded
from support.every_study import WHOLE_RESULTS, Run, run
from support.tiny import save_tiny

QUICK = ("--size", "0.05MB", "--groups", "2", "--epochs", "1", "--resamples", "20")


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the command wrote."""
    folder = tmp_path_factory.mktemp("verified")
    ended = run(
        "shrink", save_tiny(folder / "model"), "sample", "--limit", "40", *QUICK, out=folder / "out", page=False
    )
    assert ended.status == 0, ended.errors
    return folder / "out"


def test_saved_model_scores_as_its_result_says(ended: Callable[[str, str], Run]) -> None:
    """Of layers that differ, with a task and an ONNX file."""
    verified = run("verify", ended("shrink", WHOLE_RESULTS).directory, "--json")
    assert verified.status == 0, verified.errors
    found = json.loads(verified.output)
    assert found["same"] and found["parameters"][0] == found["parameters"][1]
    for before, now in (found["scores"]["accuracy"], found["eight_bit"]["scores"]["accuracy"]):
        assert before == pytest.approx(now, abs=1e-6)
    assert found["milliseconds"][0]["now"] > 0


def test_the_card_gets_a_score_that_others_quote(shrunk: Path, tmp_path: Path) -> None:
    """Spearman's correlation of cosines with scores of pairs, of both models; a later one takes the place of it."""
    texts = ["The cat slept.", "It rained.", "A dog ran to the house.", "We stayed in.", "The old man saw a ship."]
    pairs = [(first, second, n % 7 / 2) for n, (first, second) in enumerate(combinations(texts, 2))]
    rows = "".join("\t".join(map(str, pair)) + "\n" for pair in pairs)
    (tmp_path / "dev.tsv").write_text(f"sentence1\tsentence2\tscore\n{rows}", encoding="utf-8")
    card = shrunk / "model" / "README.md"
    assert NOT_MEASURED in card.read_text(encoding="utf-8")
    ended = run("verify", shrunk, "--task", "pairs", "--data", tmp_path, "--json")
    assert ended.status == 0, ended.errors
    quoted = json.loads(ended.output)["quoted"]
    for name, folder in {"whole_model": shrunk.parent / "model", "saved_model": shrunk / "model"}.items():
        network, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
        with torch.no_grad():
            means = [network(**tokenizer(text, return_tensors="pt"))[0][0].mean(0) for text in texts]
        cosines = [float(torch.cosine_similarity(first, second, dim=0)) for first, second in combinations(means, 2)]
        assert quoted["spearman"][name][0] == pytest.approx(spearmanr(cosines, [pair[2] for pair in pairs])[0])
    in_card(card.parent, quoted | {"pairs": 9_999})
    written = card.read_text(encoding="utf-8")
    assert written.count("## Sentence similarity") == 1 and "9,999 dev pairs of pairs" in written
    assert NOT_MEASURED not in written and written.count("## Use") == 1


def changed(shrunk: Path, folder: Path, **attributes: object) -> Path:
    """A copy of the folder, of whose result some attributes are other ones."""
    shutil.copytree(shrunk, folder)
    result = results.read(folder)
    results.save(result.assign_attrs(attributes), folder)
    return folder


def value_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values within JSON."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from value_paths(part, (*path, key))


READ = ("parameters", "timed", "times_as_fast", "model_class", "eight_bit")
VALUES = st.sampled_from([None, True, -1, 0, 10**9, 1e400, float("nan"), "x", [], [1], {}, [{}], {"megabytes": []}])


@pytest.fixture(scope="module")
def result(shrunk: Path) -> xr.Dataset:
    return headscope.open_result(shrunk).load()


@settings(max_examples=40)
@given(st.data())
def test_any_facts_are_read_or_refused_in_one_line(result: xr.Dataset, data: st.DataObject) -> None:
    known = {name: value for name, value in json.loads(result.attrs["shrinking"]).items() if name in READ}
    path = data.draw(st.sampled_from([*value_paths(known), *((name,) for name in READ)]))
    value, within = data.draw(VALUES), known
    for key in path[:-1]:
        within = within[key]
    if path:
        within[path[-1]] = value
    attributes = {"shrinking": json.dumps(known if path else value)}
    try:
        facts = recorded(result.assign_attrs(attributes), "it")
    except HeadscopeError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert all(examples * tokens <= MOST_TOKENS for examples, tokens in facts.shapes)


def test_lacking_scores_are_refused_before_anything_is_read(result: xr.Dataset) -> None:
    with pytest.raises(HeadscopeError, match="result 'it' does not have the sizes, times and scores"):
        recorded(result.drop_vars([name for name in result if str(name).startswith("shrunk_score")]), "it")
    with pytest.raises(HeadscopeError, match="shrunk_score is no number for each metric"):
        recorded(result.assign(shrunk_score=("metric", ["a"] * result.sizes["metric"])), "it")


def test_a_link_out_of_the_folder_is_refused_by_name(shrunk: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(shrunk, tmp_path / "out"))
    (folder / "model").rename(tmp_path / "elsewhere")
    (folder / "model").symlink_to(tmp_path / "elsewhere")
    ended = run("verify", folder)
    assert ended.status == 2 and f"'{folder / 'model'}' leads out of folder '{folder}'" in ended.errors


def test_the_hub_is_named_before_it_is_asked(shrunk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def download(name: str, *_: object, **__: object) -> Path:
        asked.append(name)
        raise HeadscopeError("no hub here")

    monkeypatch.setattr("headscope.models.checkpoint.download", download)
    words = json.dumps(["shrink", "some/model", "sample", "--limit", "40", "-o", "X"])
    ended = run("verify", changed(shrunk, tmp_path / "named", command=words))
    assert ended.status == 2 and asked == ["some/model"]
    said = " ".join(ended.errors.split())
    assert "scoring again: headscope shrink some/model" in said and ", without -o" in said
    assert said.index("the Hugging Face hub is asked for model 'some/model'") < said.index("no hub here")

    monkeypatch.chdir(tmp_path)  # a relative folder that is missing has a name as models of the hub have
    shutil.rmtree(changed(shrunk, tmp_path / "lost") / "model")
    ended = run("verify", Path("lost"))
    assert ended.status == 2 and "'lost/model', the saved model, is missing" in ended.errors
    shutil.rmtree(changed(shrunk, tmp_path / "adapted") / "model")
    (tmp_path / "adapted" / "model").mkdir()
    (tmp_path / "adapted" / "model" / "adapter_config.json").write_text('{"base_model_name_or_path": "some/base"}')
    ended = run("verify", Path("adapted"))
    assert ended.status == 2 and "is an adapter, not the saved model" in ended.errors and len(asked) == 1


def test_a_model_that_has_changed_is_noticed(shrunk: Path) -> None:
    network = AutoModel.from_pretrained(shrunk / "model")
    with torch.no_grad():
        network.get_input_embeddings().weight.mul_(-1)
    network.save_pretrained(shrunk / "model")
    ended = run("verify", shrunk, "--json")
    assert ended.status == 1 and not json.loads(ended.output)["same"]


def test_result_of_another_study_is_refused(tmp_path: Path) -> None:
    words = ("profile", save_tiny(tmp_path / "model"), "sample", "--limit", "2", "--resamples", "5")
    assert run(*words, out=tmp_path / "out", page=False).status == 0
    ended = run("verify", tmp_path / "out")
    assert ended.status == 2 and "is of 'profile'; name a folder of 'shrink'" in ended.errors


def test_options_that_have_no_effect_are_not_offered() -> None:
    """A step of the search has to know the one before it."""
    offered = set(signature(command("shrink")).parameters)
    assert "batch_tokens" in offered and not {"workers", "engine", "address", "gpus_per_worker"} & offered
