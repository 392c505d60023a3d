"""Every method beside naive loops over Hugging Face's own attentions; what is in memory at a time."""

import weakref
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, BertForSequenceClassification, GPT2LMHeadModel, PreTrainedModel

from headscope import Model, wrap
from headscope.capture.layer_stack import Stack
from headscope.corpora import Corpus
from headscope.encoding.batch import Batch
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Sentence
from headscope.models.sentence_modules import SentenceModules
from headscope.passes.batches import collator
from headscope.studies.words.attributions import integrated_gradients
from headscope.studies.words.attributions.altered_inputs import Copies, Search, altered_input
from headscope.studies.words.attributions.blanking import blank_token
from headscope.studies.words.attributions.descent import descend
from headscope.studies.words.attributions.explaining_pass import explainer, importance_shares
from headscope.studies.words.attributions.integrated_gradients import Path, start_token
from headscope.studies.words.attributions.methods import METHODS, Importance
from headscope.studies.words.attributions.targets import Target, target_of
from support.reference_attributions import TARGET, Naive
from support.tiny import tiny_bert, tiny_gpt2, tiny_tokenizer

TEXTS = ("the cat saw it.", "she walked by the old house.")


assert_close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6)


def texts(*lines: str) -> Corpus:
    """A corpus of a sentence each."""
    return [Example(str(number), (Sentence(line),)) for number, line in enumerate(lines)]  # pyright: ignore[reportReturnType]


def batch_of(model: Model, *lines: str) -> Batch:
    return collator(model)(list(Words(model.tokenizer, 64).encode(texts(*lines))))


def explained(model: Model, batch: Batch) -> Importance:
    examples = torch.ones(len(batch.real), dtype=torch.bool)
    last = batch.real.sum(1) - 1
    with explainer(model, target_of(model)) as explain, pytest.MonkeyPatch.context() as patch:
        patch.setattr(integrated_gradients, "TOLERANCE", 1e-5)
        return replace(explain, points=64).explain(batch, last, examples, examples)


@pytest.fixture(scope="module")
def classifier() -> Model:
    labels = {"id2label": {0: "a", 1: "b", 2: "c"}, "label2id": {"a": 0, "b": 1, "c": 2}}
    return wrap(tiny_bert(0, BertForSequenceClassification, **labels), tiny_tokenizer())


@pytest.fixture(scope="module")
def computed(classifier: Model) -> Importance:
    return explained(classifier, batch_of(classifier, *TEXTS))


@pytest.fixture(scope="module")
def naive(classifier: Model, computed: Importance) -> Iterator[list[Naive]]:
    batch = batch_of(classifier, *TEXTS)
    before = classifier.network.config._attn_implementation
    yield [
        Naive(classifier.network, ids[real]) for ids, real in zip(batch.inputs["input_ids"], batch.real, strict=True)
    ]
    classifier.network.set_attn_implementation(before or "eager")


@pytest.fixture(scope="module")
def expected(naive: list[Naive]) -> list[dict[str, np.ndarray]]:
    return [reference.importance() for reference in naive]


@pytest.mark.parametrize("method", METHODS)
def test_importance_equals_naive_loops(
    method: str, computed: Importance, expected: list[dict[str, np.ndarray]]
) -> None:
    for tokens, references in zip(computed.tokens, expected, strict=True):
        own, reference = tokens[METHODS.index(method)], references[method]
        length = reference.shape[1]
        close = 1e-3 if method == "integrated_gradients" else 2e-5  # sums along a path, of other points
        np.testing.assert_allclose(own[:, :length], reference, atol=close * np.abs(reference).max(), rtol=1e-4)
        assert not own[:, length:].any()


def test_heads_equal_naive_loops(classifier: Model, computed: Importance, naive: list[Naive]) -> None:
    batch = batch_of(classifier, *TEXTS)
    for example, reference in enumerate(naive):
        classes = batch.token_class[example, : int(batch.lengths[example])].numpy()
        for index, (layer, head) in enumerate(np.ndindex(3, 4)):
            norms = reference.head_norm(layer, head)
            rows = {
                "attention_to": reference.attentions[layer][0, head].numpy(),
                "norm_to": norms / norms.sum(1, keepdims=True),
            }
            for name, row in rows.items():
                shares = [row[:, classes == kind].sum(1).mean() for kind in range(4)]
                np.testing.assert_allclose(computed.heads[name].values[example, index], shares, atol=1e-5)


def test_rollout_and_flow_share_what_they_read(computed: Importance) -> None:
    # Rows of rollout sum to 1; of flow none is more than the capacity of the source.
    for name in ("rollout", "norm_rollout", "value_zeroing_rollout"):
        np.testing.assert_allclose(computed.tokens[:, METHODS.index(name)].sum(-1), 1, atol=1e-5)
    assert computed.tokens[:, METHODS.index("flow")].max() <= 1 + 1e-6


def test_slow_methods_are_missing_where_they_are_not_taken(classifier: Model) -> None:
    batch, none = batch_of(classifier, *TEXTS), torch.tensor([False, True])
    with explainer(classifier, target_of(classifier)) as explain:
        tokens = explain.explain(batch, batch.real.sum(1) - 1, none, ~none).tokens
    missing = {name: np.isnan(tokens[:, number, 0, 0]).tolist() for number, name in enumerate(METHODS)}
    assert {name: flags for name, flags in missing.items() if True in flags} == {
        "value_zeroing": [True, False],
        "value_zeroing_rollout": [True, False],
        "integrated_gradients": [True, False],
        "flow": [False, True],
    }
    shares = importance_shares(batch, tokens)
    assert torch.equal(shares.valid[0, METHODS.index("flow"), 0], batch.class_exists)
    assert not shares.valid[1, METHODS.index("flow")].any()


@pytest.mark.parametrize(
    ("network", "kind", "reads_mean"),
    [
        (tiny_bert(), "representation", True),
        (tiny_bert(0, BertForMaskedLM), "word", False),
        (tiny_gpt2(0, GPT2LMHeadModel), "word", False),
        (tiny_bert(0, BertForSequenceClassification, num_labels=1), "number", False),
    ],
    ids=["encoder", "masked words", "decoder", "regression"],
)
def test_other_heads_have_their_target(network: PreTrainedModel, kind: str, reads_mean: bool) -> None:
    model = wrap(network, tiny_tokenizer())
    assert target_of(model).kind == kind
    tokens = explained(model, batch_of(model, *TEXTS)).tokens
    alone = explained(model, batch_of(model, TEXTS[0])).tokens
    length = alone.shape[-1]
    # Padding changes nothing.
    np.testing.assert_allclose(tokens[0][..., :length], alone[0], atol=1e-5 * np.abs(alone).max())
    attention = tokens[0, METHODS.index("attention"), 0, :length]
    batch = batch_of(model, TEXTS[0])
    with torch.no_grad(), explainer(model, target_of(model)):
        pass
    assert attention.sum() == pytest.approx(1, abs=1e-5)
    assert len(batch.real) == 1 and (reads_mean or kind in ("word", "number"))


def test_representation_of_the_first_token() -> None:
    target = Target("representation", SentenceModules(("first",)))
    output = type("Output", (), {"last_hidden_state": torch.eye(3)[None]})
    vectors = target.vectors(output, torch.ones(1, 3), torch.tensor([2]))
    assert vectors.tolist() == [[1.0, 0.0, 0.0]]
    assert float(target.scores(vectors, 3 * vectors)) == pytest.approx(1)
    assert float(target.objective(2 * vectors, 3 * vectors)) == pytest.approx(2)


def test_value_zeroing_keeps_the_digits_of_double_precision() -> None:
    network: Any = tiny_bert(0, BertForSequenceClassification, num_labels=3)
    with torch.no_grad():  # a token moves the output by cosine distances of 1e-7 and less
        for layer in network.bert.encoder.layer:
            layer.attention.output.dense.weight.mul_(1e-2)
    model = wrap(network, tiny_tokenizer())
    ids = batch_of(model, TEXTS[0]).inputs["input_ids"][0]
    found = explained(model, batch_of(model, TEXTS[0])).tokens[0, METHODS.index("value_zeroing")]
    naive = Naive(deepcopy(network).double(), ids)
    expected = [naive.value_zeroing(layer)[TARGET] for layer in range(len(found))]
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_value_zeroing_rollout_passes_a_layer_that_moves_nothing() -> None:
    network: Any = tiny_bert(0, BertForSequenceClassification, num_labels=3)
    with torch.no_grad():
        network.bert.encoder.layer[1].attention.output.dense.weight.zero_()
    model = wrap(network, tiny_tokenizer())
    tokens = explained(model, batch_of(model, *TEXTS)).tokens
    rolled, zeroing = (tokens[:, METHODS.index(name)] for name in ("value_zeroing_rollout", "value_zeroing"))
    assert not zeroing[:, 1].any()
    np.testing.assert_allclose(rolled[:, 1], rolled[:, 0], atol=1e-6)
    np.testing.assert_allclose(rolled.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_types_have_the_importances_of_single_precision(dtype: torch.dtype, computed: Importance) -> None:
    labels = {"id2label": {0: "a", 1: "b", 2: "c"}, "label2id": {"a": 0, "b": 1, "c": 2}}
    network = tiny_bert(0, BertForSequenceClassification, **labels)
    torch.nn.Module.to(network, dtype)
    model = wrap(network, tiny_tokenizer())
    found = explained(model, batch_of(model, *TEXTS)).tokens
    size = np.abs(computed.tokens).max(-1, keepdims=True)
    close = {torch.bfloat16: 0.15, torch.float16: 0.02, torch.float64: 1e-4}[dtype]
    np.testing.assert_allclose(found / size, computed.tokens / size, atol=close)


@pytest.mark.parametrize("network", [tiny_gpt2(0, GPT2LMHeadModel), tiny_bert(0, BertForMaskedLM)])
def test_the_head_of_words_gets_no_states_but_those_that_are_read(network: Any) -> None:
    model = wrap(network, tiny_tokenizer())
    batch, everywhere = batch_of(model, TEXTS[0]), target_of(model)
    alone, found, seen = replace(everywhere, alone=True), [], set[int]()
    positions, both = batch.real.sum(1) - 1, torch.ones(1, dtype=torch.bool)
    for target in (everywhere, alone):
        if target is alone:
            network.get_output_embeddings().register_forward_pre_hook(lambda head, args: seen.add(args[0].shape[1]))
        with explainer(model, target, blank_token(model, "mask")) as explain:
            seen.clear()  # of the check of the layers
            found.append(explain.explain(batch, positions, both, both))
            copies = Copies(model, explain.stack, target, batch.inputs, positions[0], found[-1].reference)
            found.append(altered_input(copies, Search(0.01, 64, 0), 1, 1, by_head=False))
    assert seen == {1}
    assert_close(found[2].tokens, found[0].tokens)
    assert_close(found[3].change, found[1].change)
    assert_close(found[3].distance, found[1].distance)


def test_maps_of_one_layer_are_in_memory_at_a_time() -> None:
    model = wrap(tiny_bert(num_hidden_layers=5), tiny_tokenizer())
    batch, target = batch_of(model, TEXTS[0]), target_of(model)
    positions, maps = torch.zeros(1, dtype=torch.long), list[weakref.ref[torch.Tensor]]()
    with explainer(model, target) as explain:
        with torch.no_grad():
            calls, answer = explain.stack.calls(batch.inputs)
            reference = target.vectors(answer, batch.real, positions)

        def objective(inputs: Any, states: torch.Tensor) -> torch.Tensor:
            output = explain.stack.finish(inputs, states)
            return target.objective(target.vectors(output, batch.real, positions), reference)

        def before(module: torch.nn.Module, args: tuple) -> None:
            alive.append(sum(weak() is not None for weak in maps))

        alive: list[int] = []
        for module in explain.stack.layers:
            module.register_forward_pre_hook(before)
        layers = descend(explain.stack, explain.projections, batch.inputs, calls, objective)
        for layer in layers:
            maps += [weakref.ref(tensor) for tensor in (layer.attention, layer.attention_gradient)]
            del layer
    # When a layer runs, the maps of the one above are gone. At first all layers are passed for the target.
    assert len(maps) == 2 * 5 and len(alive) == 2 * 5 and not any(alive)


def test_integrated_gradients_of_a_linear_target_have_a_closed_form() -> None:
    network: Any = tiny_bert(0, BertForSequenceClassification, num_labels=1)
    model = wrap(network, tiny_tokenizer())
    inputs = {"input_ids": batch_of(model, TEXTS[0]).inputs["input_ids"]}
    blanked, weights = torch.arange(inputs["input_ids"].shape[1]) > 1, torch.randn(network.config.hidden_size)
    with explainer(model, target_of(model), blank=4) as explain, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stack, "run", lambda stack, layer, states, call: 2 * states)
        objective = lambda copies, states: (states @ weights).sum(-1)  # noqa: E731
        path = Path(explain.stack, inputs, blanked, 4, objective, batch_tokens=16)
        tokens, errors = path.gradients()
    blank = {"input_ids": inputs["input_ids"].masked_fill(blanked, 4)}
    with torch.no_grad():
        states, other = (network(**rows, output_hidden_states=True).hidden_states for rows in (inputs, blank))
    assert tokens.shape[0] == len(errors) == 3
    # The layers after the first three double what enters them, and so does each of them.
    np.testing.assert_allclose(tokens[0], 8 * ((states[0] - other[0])[0] @ weights), atol=1e-5)
    assert not tokens[0, :2].any() and errors[0] < 1e-5


@pytest.mark.parametrize("network", [tiny_gpt2(0, GPT2LMHeadModel), tiny_bert()], ids=["causal", "encoder"])
def test_integrated_gradients_add_up_to_the_difference_from_the_blank_input(network: PreTrainedModel) -> None:
    model = wrap(network, tiny_tokenizer())
    batch, target, blank = batch_of(model, TEXTS[1]), target_of(model), blank_token(model, "mask")
    last, both = batch.real.sum(1) - 1, torch.ones(1, dtype=torch.bool)
    with explainer(model, target, blank) as explain:
        found = explain.explain(batch, last, both, ~both)
        start = start_token(model, blank)
        blanked = target.blankable(batch, last)
        inputs = {**batch.inputs, "input_ids": batch.inputs["input_ids"].masked_fill(blanked, start)}
        with torch.no_grad():
            vectors = [target.vectors(model.network(**rows), batch.real, last) for rows in (batch.inputs, inputs)]
    assert start == (blank if model.looks_ahead else model.tokenizer.pad_token_id)
    full, nothing = (float(target.objective(row, found.reference)) for row in vectors)
    tokens = found.tokens[0, METHODS.index("integrated_gradients")]
    sizes = np.abs(tokens).sum(-1)
    np.testing.assert_allclose(abs(tokens.sum(-1) - (full - nothing)) / sizes, found.errors[0], atol=1e-5)
    assert found.errors.max() < integrated_gradients.TOLERANCE
