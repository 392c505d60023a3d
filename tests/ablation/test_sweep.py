"""The sweep gives what whole forward passes with overwritten attention give, whatever way it takes and wherever it
was stopped."""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification

from headscope import HeadscopeError, Settings
from headscope.ablation.partial_rerun import Rerun
from headscope.ablation.strategies import FullPasses, head_means
from headscope.ablation.sweep import Sweep, fastest_exact, sweep
from headscope.ablation.swept_parts import SweptParts
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, masked
from headscope.linguistics.sentence import Example, Sentence
from headscope.models.heads import parse
from headscope.models.model import wrap
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.passes.batches import batches
from headscope.passes.settings import PassJournal
from headscope.storage.codec import encode
from headscope.storage.hashes import Fingerprint
from headscope.storage.lines import line_of, record_of
from support.ablated import ablated
from support.planted_task import planted_classifier, planted_task
from support.tiers import paired
from support.tiny import tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_classifier

FULL, RERUN = "full forward passes", "from the layer of the disabled head"
ROWS, HEAD = (f"{RERUN}, the {part} for the tokens that are read" for part in ("last layer", "head for words"))
STRATEGIES = {
    "bert": ROWS, "roberta": ROWS, "distilbert": ROWS, "electra": ROWS,
    "modernbert": RERUN, "gpt2": RERUN, "llama": RERUN,
    "albert": FULL, "deberta-v2": FULL, "gemma2": FULL,
}  # fmt: skip
SINGLE = {"modernbert", "gemma2"}  # see tests/ablation/test_partial_rerun.py
TEXTS = ("the cat saw the old bird in the garden.", "a dog ran", "she was in town, not at school.", "it", "they sat.")
SETTINGS = Settings(batch_tokens=32)
SET = "1-2,2-1,2-3"


def texts_task() -> Task:
    examples = [Example(str(number), (Sentence(text),), label=str(number % 2)) for number, text in enumerate(TEXTS)]
    corpus = Corpus("texts", "", len(examples), {}, partial(iter, examples))
    return Task(name="texts", kind="classification", labels=("0", "1"), metrics=("accuracy",), dev=corpus)


def inputs_of(family: str, kind: type = AutoModelForSequenceClassification, **config: Any) -> TaskInputs:
    network: Any = tiny_classifier(family, kind, **{"vocab_size": len(tiny_vocabulary())} | config)
    model = wrap(network if family in SINGLE else network.double(), tiny_tokenizer())
    task = masked(texts_task().dev) if kind is AutoModelForMaskedLM else texts_task()
    return task_inputs(model, task, task.dev)


def whole_batch(one: TaskInputs) -> dict[str, torch.Tensor]:
    """All inputs in one padded batch, in their order."""
    (batch,) = batches(one.model, one.inputs, Settings(batch_tokens=65_536))
    order = batch.index.argsort()
    return {name: tensor[order] for name, tensor in batch.inputs.items()}


def assert_same(found: Sweep, other: Sweep) -> None:
    for name in ("plain", "heads", "layers", "sets"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.fixture(scope="module")
def planted() -> TaskInputs:
    task = planted_task()
    return task_inputs(wrap(planted_classifier(), tiny_tokenizer()), task, task.dev)


@pytest.mark.parametrize(("family", "mode"), paired(STRATEGIES, ["uniform", "zero", "mean"]))
def test_every_head_layer_and_set_as_in_whole_passes(family: str, mode: Any) -> None:
    one = inputs_of(family)
    heads = one.model.capture.heads
    sets = [parse(SET, heads)]
    found = sweep(one, SETTINGS, mode=mode, sets=sets)
    means = head_means(one.model, one.inputs, SETTINGS).astype(np.float32)
    inputs, shape = whole_batch(one), (len(heads), max(heads))

    def expected(disabled: np.ndarray) -> np.ndarray:
        return ablated(one.model.network, inputs, disabled, mode, means).numpy()

    close = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5 if family not in SINGLE else 3e-5)
    close(found.plain, expected(np.zeros(shape, dtype=bool)))
    for layer, head in np.ndindex(shape):
        disabled = np.zeros(shape, dtype=bool)
        disabled[layer, head] = True
        close(found.heads[layer, head], expected(disabled))
        disabled[layer] = True
        close(found.layers[layer], expected(disabled))
    close(found.sets[0], expected(sets[0]))
    assert found.strategy.startswith(STRATEGIES[family])
    assert np.abs(found.heads - found.plain).max() > 0.01


@pytest.mark.parametrize("family", ["bert", "gpt2", "albert"])
def test_one_head_of_a_layer_as_in_whole_passes(family: str) -> None:
    one = inputs_of(family)
    found, inputs, shape = sweep(one, SETTINGS, alone=True), whole_batch(one), one.model.capture.heads
    assert found.alone is not None
    for layer, head in np.ndindex(len(shape), max(shape)):
        disabled = np.zeros((len(shape), max(shape)), dtype=bool)
        disabled[layer] = np.arange(max(shape)) != head
        expected = ablated(one.model.network, inputs, disabled, "uniform", None)
        np.testing.assert_allclose(found.alone[layer, head], expected, rtol=1e-5, atol=1e-5)


def test_heads_that_share_keys_are_disabled_together() -> None:
    inputs = inputs_of("llama")  # of four heads two share their keys
    pairs = [parse(names, (4, 4)) for names in ("1-1,1-2", "1-3,1-4", "2-1,2-2", "2-3,2-4")]
    found = sweep(inputs, SETTINGS, sets=pairs, alone=True, together=2)
    expected = found.sets.reshape(2, 2, *found.plain.shape).repeat(2, axis=1)
    np.testing.assert_allclose(found.heads, expected, atol=1e-5)
    assert found.alone is not None
    np.testing.assert_allclose(found.alone[:, ::-1], expected, atol=1e-5)  # the other pair is left
    assert np.abs(found.heads - sweep(inputs, SETTINGS).heads).max() > 1e-3


@pytest.mark.parametrize("family", ["bert", "gpt2", "gemma2"])
def test_skipped_layers_as_in_whole_passes(family: str) -> None:
    one = inputs_of(family)
    found, inputs = sweep(one, SETTINGS, skipped=True), whole_batch(one)
    layers = next(
        module for module in one.model.network.modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == len(one.model.capture.heads)
    )  # fmt: skip
    assert found.skipped is not None
    for part, layer in product((0, 1), range(len(layers))):
        module = layers[layer] if part else one.model.projections[layer].output
        instead: Any = (lambda _, args, output: args[0]) if part else (lambda _, args, output: torch.zeros_like(output))
        handle = module.register_forward_hook(instead)
        with torch.no_grad():
            expected = one.model.network(**inputs).logits
        handle.remove()
        np.testing.assert_allclose(found.skipped[part, layer], expected, rtol=1e-4, atol=3e-5)
        assert np.abs(found.skipped[part, layer] - found.plain).max() > 1e-3


def test_layers_that_do_not_follow_each_other_are_not_skipped() -> None:
    with pytest.raises(HeadscopeError, match="not called one after the other; skip none"):
        sweep(inputs_of("albert"), SETTINGS, skipped=True)


def test_why_full_passes_were_made_is_said() -> None:
    assert "its layers are not called one after the other" in sweep(inputs_of("albert"), SETTINGS).strategy
    capped = sweep(inputs_of("gemma2"), SETTINGS).strategy
    # Older releases of transformers leave the cap out of sdpa, which the comparison of outputs finds.
    assert "does not support `softcap`" in capped or "outputs would differ" in capped


@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_masked_words(family: str) -> None:
    one = inputs_of(family, kind=AutoModelForMaskedLM)
    found, inputs = sweep(one, SETTINGS), whole_batch(one)
    for layer, head in np.ndindex(found.heads.shape[:2]):
        disabled = np.zeros(found.heads.shape[:2], dtype=bool)
        disabled[layer, head] = True
        logits = ablated(one.model.network, inputs, disabled).log_softmax(-1)
        for example, answers in enumerate(one.masked_pieces):
            positions = [number for number, answer in enumerate(answers) if answer != -100]
            loss = -sum(float(logits[example, position, answers[position]]) for position in positions)
            total, count = found.heads[layer, head, example]
            assert count == len(positions) >= 1
            assert total == pytest.approx(loss, rel=1e-5, abs=2e-5)
    assert found.strategy == (ROWS if family == "bert" else HEAD)


def test_layers_with_fewer_heads_than_others() -> None:
    from headscope.studies.size.prune.cut_heads import prune

    model = inputs_of("bert", layers=3).model
    remove = parse("1-1,1-3,2-*", model.capture.heads)
    unpruned, task = (
        sweep(task_inputs(model, texts_task(), texts_task().dev), SETTINGS, mode="zero", sets=[remove]),
        texts_task(),
    )
    found = sweep(task_inputs(prune(model, remove), task, task.dev), SETTINGS, mode="zero")
    np.testing.assert_allclose(found.plain, unpruned.sets[0], rtol=1e-5, atol=1e-5)
    assert np.isnan(found.heads[1]).all() and np.isnan(found.heads[0, 2:]).all()
    assert not np.isnan(found.heads[0, :2]).any() and not np.isnan(found.heads[2]).any()
    np.testing.assert_allclose(found.layers[1], found.plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("spoilt", ["_outputs", "_layer", "_answers_at"])
def test_a_faster_way_that_is_wrong_is_not_taken(spoilt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = inputs_of("bert", layers=3)
    expected = sweep(one, SETTINGS)

    real: Any = getattr(Rerun, spoilt)

    def wrong(*arguments: Any) -> Any:
        given: Any = real(*arguments)
        if callable(given):
            outputs: Any = given
            return lambda chosen: outputs(chosen) * 1.01
        return tuple(tensor * 1.01 for tensor in given) if isinstance(given, tuple) else given * 1.01

    monkeypatch.setattr(Rerun, spoilt, wrong)
    found = sweep(one, SETTINGS)
    assert found.strategy.startswith(RERUN if spoilt == "_answers_at" else FULL)
    np.testing.assert_allclose(found.heads, expected.heads, rtol=1e-5, atol=1e-5)


def kept(folder: Path, settings: Settings = SETTINGS, **run: str) -> Settings:
    return replace(settings, journal=PassJournal(folder, run, kept=True))


def test_a_whole_journal_needs_no_forward_pass(
    planted: TaskInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [parse(SET, planted.model.capture.heads)]
    first = sweep(planted, kept(tmp_path), mode="mean", sets=sets)
    contents = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    monkeypatch.setattr(type(planted.model.network), "forward", None)
    again = sweep(planted, kept(tmp_path), mode="mean", sets=sets)
    assert_same(first, again)
    assert again.strategy == first.strategy == ROWS
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == contents


def test_a_set_that_is_added_is_all_that_is_computed(
    planted: TaskInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(planted, kept(tmp_path))
    strategies, computed, real = fastest_exact, list[Any](), Rerun.disabled

    def noted(*given: Any) -> Any:
        strategy = strategies(*given)
        monkeypatch.setattr(Rerun, "disabled", lambda self, *given: computed.append(given[1]) or real(self, *given))
        return strategy

    monkeypatch.setattr("headscope.ablation.sweep.fastest_exact", noted)
    chosen = [parse("1-1,2-2", planted.model.capture.heads)]
    found = sweep(planted, kept(tmp_path), sets=chosen)
    assert computed and all(len(disabled) == 1 for disabled in computed)
    assert_same(found, sweep(planted, SETTINGS, sets=chosen))


def test_several_processes_give_the_bits_of_one_and_go_on(planted: TaskInputs, tmp_path: Path) -> None:
    done, sets = list[int](), [parse(SET, planted.model.capture.heads)]
    single = sweep(planted, SETTINGS, sets=sets)
    with pytest.raises(KeyboardInterrupt):
        sweep(planted, kept(tmp_path, replace(interrupted_at(9), workers=2)), sets=sets)
    several = replace(SETTINGS, workers=3, on_progress=done.append)
    assert_same(sweep(planted, kept(tmp_path, several), sets=sets), single)
    passes = 1 + sum(head + 1 for head in planted.model.capture.heads) + 1 + len(sets)
    assert sum(done) == len(planted.inputs) * passes


def test_from_the_middle_of_a_batch_several_processes_go_on(
    planted: TaskInputs, tmp_path: Path, journal_often: None
) -> None:
    uninterrupted, notices = sweep(planted, SETTINGS), list[str]()
    for stop in (3, 5, 6):  # of parts of which a batch has three
        folder, threads = tmp_path / str(stop), torch.get_num_threads()
        torch.set_num_threads(1)  # as those of workers
        with pytest.raises(KeyboardInterrupt):
            sweep(planted, kept(folder, interrupted_at(stop)))
        torch.set_num_threads(threads)
        several = replace(SETTINGS, workers=2, on_notice=notices.append)
        assert_same(sweep(planted, kept(folder, several)), uninterrupted)
        assert "resumes from there" in notices.pop()


@pytest.mark.parametrize("change", ["variants", "examples", "outputs", "more"])
def test_outputs_of_other_sizes_are_computed_again(planted: TaskInputs, tmp_path: Path, change: str) -> None:
    """Right in their checksums and types: a journal may be forged."""
    first, notices, path = sweep(planted, kept(tmp_path)), list[str](), tmp_path / "pass-1"
    header, line = path.read_bytes().splitlines(keepends=True)
    record = record_of(line)
    assert record is not None
    parts = record["part"]["state"]
    shape = list(parts[4]["outputs"]["shape"])
    shape[["variants", "examples", "outputs"].index(change) if change != "more" else 0] += 1
    forged = parts[4] | {"outputs": encode(np.zeros(shape, np.float32))}
    record["part"]["state"] = [*parts, forged] if change == "more" else [*parts[:4], forged, *parts[5:]]
    path.write_bytes(header + line_of(record))
    assert_same(sweep(planted, replace(kept(tmp_path), on_notice=notices.append)), first)
    assert len(notices) == 1 and notices[0].endswith("does not fit; the pass starts again")


@pytest.mark.parametrize("content", [b"", b"my notes\n", line_of({"headscope": "journal"}), line_of({"run": 1})])
def test_a_damaged_or_another_file_is_said_and_the_sweep_starts_anew(
    planted: TaskInputs, tmp_path: Path, content: bytes
) -> None:
    notices = list[str]()
    (tmp_path / "pass-1").write_bytes(content)
    sweep(planted, replace(kept(tmp_path), on_notice=notices.append))
    assert [notice.endswith("is damaged; the pass starts again") for notice in notices] == [True]


def interrupted_at(stop: int) -> Settings:
    calls = iter(range(1, stop + 1))

    def progress(done: int) -> None:
        if next(calls, stop) >= stop:
            raise KeyboardInterrupt

    return Settings(batch_tokens=SETTINGS.batch_tokens, on_progress=progress)


def test_progress_reaches_what_was_expected(planted: TaskInputs, tmp_path: Path) -> None:
    for _ in range(2):  # what the journal holds counts as done
        progress: dict[str, int] = {"done": 0}
        settings = Settings(
            batch_tokens=64,
            on_progress=lambda done, progress=progress: progress.update(done=progress["done"] + done),
            on_total=lambda total, progress=progress: progress.update(total=total),
        )
        sweep(planted, kept(tmp_path, settings), mode="mean")
        assert progress["done"] == progress["total"] == len(planted.inputs) * 11


def fingerprint(one: TaskInputs, settings: Settings) -> Fingerprint:
    return SweptParts(one, (), "uniform", lambda: FullPasses(one.model, "uniform"), settings).fingerprint()


@pytest.mark.parametrize("change", ["seed", "batch_tokens"])
def test_the_fingerprint_tells_settings_apart(planted: TaskInputs, change: str) -> None:
    before = fingerprint(planted, SETTINGS)
    now = fingerprint(planted, replace(SETTINGS, **{change: 33}))
    assert [name for name in before if before[name] != now[name]] == [change]


def test_the_fingerprint_tells_models_and_inputs_apart() -> None:
    one = inputs_of("bert")
    before = fingerprint(one, SETTINGS)
    assert before == fingerprint(inputs_of("bert"), SETTINGS)
    fewer = TaskInputs(one.model, one.task, one.inputs[:-1], (), one.cut)
    assert fingerprint(fewer, SETTINGS)["inputs"] != before["inputs"]
    with torch.no_grad():
        next(iter(one.model.network.parameters()))[0, 0] += 1
    assert fingerprint(one, SETTINGS)["model"] != before["model"]
    one.model.network.config.hidden_act = "relu"
    third = fingerprint(one, SETTINGS)["model"]
    one.model.network.config.id2label = {0: "no", 1: "yes"}
    assert fingerprint(one, SETTINGS)["model"] == third != before["model"]


def test_outputs_that_are_no_numbers_are_refused() -> None:
    one = inputs_of("bert")
    with torch.no_grad():
        one.model.network.classifier.bias[0] = torch.nan  # type: ignore[union-attr, index]
    with pytest.raises(HeadscopeError, match="outputs that are not finite; use --dtype float32, or another model"):
        sweep(one, SETTINGS)


def test_a_task_head_of_another_kind_is_refused() -> None:
    words, classes = inputs_of("bert", kind=AutoModelForMaskedLM), inputs_of("bert")
    with pytest.raises(HeadscopeError, match="not one class or number for each example; name a model for this task"):
        sweep(task_inputs(words.model, classes.task, classes.task.dev), SETTINGS)
    with pytest.raises(HeadscopeError, match="not words; name its task with --task NAME --data FOLDER, or a model"):
        sweep(task_inputs(classes.model, words.task, words.task.dev), SETTINGS)
