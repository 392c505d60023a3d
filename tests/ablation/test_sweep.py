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
from headscope.ablation import fastest_exact
from headscope.ablation.head_means import head_means
from headscope.ablation.journal import Journal, opened
from headscope.ablation.partial_rerun import Rerun
from headscope.ablation.sweep import Sweep, sweep
from headscope.corpora import Corpus
from headscope.corpora.tasks import Task, masked
from headscope.linguistics.sentence import Example, Sentence
from headscope.models.heads import parse
from headscope.models.model import wrap
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.passes.batches import batches
from headscope.studies.ablate.fingerprint import fingerprint
from support.ablated import ablated
from support.planted_task import DECIDES, planted_classifier, planted_task
from support.tiny import tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_classifier

FULL, RERUN = "full forward passes", "from the layer of the disabled head"
ROWS = f"{RERUN}, the last layer for the tokens that are read"
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
    (batch,) = batches(one.model, one.inputs, Settings(batch_tokens=10**6))
    order = batch.index.argsort()
    return {name: tensor[order] for name, tensor in batch.inputs.items()}


def assert_same(found: Sweep, other: Sweep) -> None:
    for name in ("plain", "heads", "layers", "sets"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.fixture(scope="module")
def planted() -> TaskInputs:
    task = planted_task()
    return task_inputs(wrap(planted_classifier(), tiny_tokenizer()), task, task.dev)


@pytest.mark.parametrize("mode", ["uniform", "zero", "mean"])
@pytest.mark.parametrize("family", STRATEGIES)
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


def test_why_full_passes_were_made_is_said() -> None:
    assert "its layers are not called one after the other" in sweep(inputs_of("albert"), SETTINGS).strategy
    assert "does not support `softcap`" in sweep(inputs_of("gemma2"), SETTINGS).strategy


@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_masked_words(family: str) -> None:
    one = inputs_of(family, kind=AutoModelForMaskedLM)
    found, inputs = sweep(one, SETTINGS), whole_batch(one)
    for layer, head in np.ndindex(found.heads.shape[:2]):
        disabled = np.zeros(found.heads.shape[:2], dtype=bool)
        disabled[layer, head] = True
        logits = ablated(one.model.network, inputs, disabled).log_softmax(-1)
        for example, answers in enumerate(one.masked_pieces):
            places = [place for place, answer in enumerate(answers) if answer != -100]
            loss = -sum(float(logits[example, place, answers[place]]) for place in places)
            total, count = found.heads[layer, head, example]
            assert count == len(places) >= 1
            assert total == pytest.approx(loss, rel=1e-5, abs=2e-5)
    assert found.strategy == (ROWS if family == "bert" else RERUN)


def test_batched_is_one_by_one() -> None:
    one = inputs_of("bert")
    alone = sweep(one, Settings(batch_tokens=1))
    np.testing.assert_allclose(sweep(one, Settings(batch_tokens=10**6)).heads, alone.heads, rtol=1e-5, atol=1e-5)


def test_the_planted_head_is_found(planted: TaskInputs) -> None:
    found, targets = sweep(planted), planted.task.targets(planted.task.dev)
    right = (found.heads.argmax(-1) == targets).mean(-1)
    expected = np.ones_like(right)
    expected[DECIDES[0] - 1, DECIDES[1] - 1] = 0.5
    np.testing.assert_array_equal(right, expected)


def test_sets_of_one_head_or_layer_are_as_alone(planted: TaskInputs) -> None:
    heads = planted.model.capture.heads
    found = sweep(planted, SETTINGS, sets=[parse(each, heads) for each in ("2-3", "1-*")])
    np.testing.assert_allclose(found.sets, [found.heads[1, 2], found.layers[0]], rtol=1e-5, atol=1e-6)


def test_layers_with_fewer_heads_than_others() -> None:
    from headscope.studies.prune.cut_heads import prune

    model = inputs_of("bert", layers=3).model
    remove = parse("1-1,1-3,2-*", model.capture.heads)
    whole, task = (
        sweep(task_inputs(model, texts_task(), texts_task().dev), SETTINGS, mode="zero", sets=[remove]),
        texts_task(),
    )
    found = sweep(task_inputs(prune(model, remove), task, task.dev), SETTINGS, mode="zero")
    np.testing.assert_allclose(found.plain, whole.sets[0], rtol=1e-5, atol=1e-5)
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
        return tuple(each * 1.01 for each in given) if isinstance(given, tuple) else given * 1.01

    monkeypatch.setattr(Rerun, spoilt, wrong)
    found = sweep(one, SETTINGS)
    assert found.strategy.startswith(RERUN if spoilt == "_answers_at" else FULL)
    np.testing.assert_allclose(found.heads, expected.heads, rtol=1e-5, atol=1e-5)


def test_a_whole_journal_needs_no_forward_pass(
    planted: TaskInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets, run = [parse(SET, planted.model.capture.heads)], fingerprint(planted, SETTINGS)
    with opened(tmp_path / "journal", run) as journal:
        first = sweep(planted, SETTINGS, journal=journal, mode="mean", sets=sets)
    size = (tmp_path / "journal").stat().st_size
    monkeypatch.setattr(type(planted.model.network), "forward", None)
    with opened(tmp_path / "journal", run) as journal:
        again = sweep(planted, SETTINGS, journal=journal, mode="mean", sets=sets)
    assert_same(first, again)
    assert again.strategy == first.strategy == ROWS
    assert (tmp_path / "journal").stat().st_size == size


def test_a_journal_of_version_0_1_is_gone_on_with(planted: TaskInputs, tmp_path: Path) -> None:
    """There the name of the strategy was an array; outputs are kept."""
    run, old = fingerprint(planted, SETTINGS), tmp_path / "old"
    with opened(tmp_path / "journal", run) as journal:
        first = sweep(planted, SETTINGS, journal=journal)
        outputs = {unit: values for unit, values in journal.units.items() if unit != "strategy"}
    with opened(old, run) as journal:
        for unit, values in outputs.items():
            journal.add_array(unit, values)
        journal.add_array("way", np.array(ROWS))
    with opened(old, run) as journal:
        assert_same(sweep(planted, SETTINGS, journal=journal), first)
        assert set(journal.units) - {*outputs, "way"} == {"strategy"}


def test_a_set_that_is_added_is_all_that_is_computed(planted: TaskInputs, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, heads = Journal(), planted.model.capture.heads
    sweep(planted, SETTINGS, journal=journal)
    before, computed = set(journal.units), []
    real = Rerun.disabled
    monkeypatch.setattr(Rerun, "disabled", lambda self, *given: computed.append(given[1]) or real(self, *given))
    monkeypatch.setattr(fastest_exact, "_difference", lambda *_: "")
    monkeypatch.setattr(fastest_exact, "_trial", lambda *_: None)
    sweep(planted, SETTINGS, journal=journal, sets=[parse("1-1,2-2", heads)])
    assert {unit.partition(", ")[2] for unit in set(journal.units) - before} == {"heads 1-1,2-2"}
    assert all(len(chosen) == 1 for chosen in computed)


def test_stopped_anywhere_it_ends_with_the_same_numbers_to_the_bit(planted: TaskInputs, tmp_path: Path) -> None:
    sets, run = [parse(SET, planted.model.capture.heads)], fingerprint(planted, SETTINGS)
    parts: list[int] = []
    whole = sweep(planted, Settings(batch_tokens=32, on_progress=parts.append), sets=sets)
    for stop in range(1, len(parts), 7):
        path = tmp_path / f"journal {stop}"
        with pytest.raises(KeyboardInterrupt, match="start the same command again"), opened(path, run) as journal:
            sweep(planted, interrupted_at(stop), journal=journal, sets=sets)
        with opened(path, run) as journal:
            before = len(journal)
            assert_same(sweep(planted, SETTINGS, journal=journal, sets=sets), whole)
            assert before < len(journal) and (before > 0) == (stop > 1)


def test_several_processes_give_the_bits_of_one_and_go_on(planted: TaskInputs, tmp_path: Path) -> None:
    done, sets, path = list[int](), [parse(SET, planted.model.capture.heads)], tmp_path / "journal"
    whole, run = sweep(planted, SETTINGS, sets=sets), fingerprint(planted, SETTINGS)
    with pytest.raises(KeyboardInterrupt), opened(path, run) as journal:
        sweep(planted, replace(interrupted_at(9), workers=2), journal=journal, sets=sets)
    with opened(path, run) as journal:
        several = replace(SETTINGS, workers=3, on_progress=done.append)
        assert_same(sweep(planted, several, journal=journal, sets=sets), whole)
    variants = sum(each + 1 for each in planted.model.capture.heads) + len(sets)
    assert sum(done) == len(planted.inputs) * variants


def interrupted_at(stop: int) -> Settings:
    calls = iter(range(1, stop + 1))

    def progress(done: int) -> None:
        if next(calls, stop) >= stop:
            raise KeyboardInterrupt

    return Settings(batch_tokens=SETTINGS.batch_tokens, on_progress=progress)


def test_progress_reaches_what_was_expected(planted: TaskInputs) -> None:
    journal = Journal()
    for _ in range(2):  # what the journal holds counts as done
        told: dict[str, int] = {"done": 0}
        settings = Settings(
            batch_tokens=64,
            on_progress=lambda done, told=told: told.update(done=told["done"] + done),
            on_total=lambda total, told=told: told.update(total=total),
        )
        sweep(planted, settings, journal=journal, mode="mean")
        assert told["done"] == told["total"] == len(planted.inputs) * 10


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
    with pytest.raises(HeadscopeError, match="not words; name a model for this task"):
        sweep(task_inputs(classes.model, words.task, words.task.dev), SETTINGS)


def test_heads_of_a_set_are_disabled_in_every_layer_at_once(planted: TaskInputs) -> None:
    """Not one after the other: with all heads but the planted one gone, the model still tells."""
    heads = planted.model.capture.heads
    every = [parse("*-*", heads), parse("*-*", heads)]
    every[1][DECIDES[0] - 1, DECIDES[1] - 1] = False
    found, targets = sweep(planted, SETTINGS, sets=every), planted.task.targets(planted.task.dev)
    assert [(each.argmax(-1) == targets).mean() for each in found.sets] == [0.5, 1.0]


def test_modes_differ(planted: TaskInputs) -> None:
    found = {mode: sweep(planted, SETTINGS, mode=mode).heads for mode in ("uniform", "zero", "mean")}  # type: ignore[arg-type]
    for one, other in product(found, repeat=2):
        assert one == other or np.abs(found[one] - found[other]).max() > 1e-4
