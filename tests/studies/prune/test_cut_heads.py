"""A pruned model answers as the whole one does with the same heads zeroed, and so does the folder it is saved to."""

import copy
import json
import shutil
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.torch_version import TorchVersion
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    BertForSequenceClassification,
    LlamaConfig,
    PreTrainedModel,
)

import headscope
from headscope import Corpus, Model, Settings
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence
from headscope.models import head_slicing, wrap
from headscope.models.heads import existing
from headscope.models.pruned_checkpoint import KEY
from headscope.studies.size.prune.cut_heads import prune
from support.claim_cases import noisy
from support.tiers import in_turn
from support.tiny import tiny_bert, tiny_network, tiny_tokenizer
from support.tiny_families import EXACT, tiny_family

LENGTHS = (21, 13, 5)
# Two heads of the first layer, another of the second: layers are left with different numbers, and not with the first.
REMOVED = ((0, 2), (1,))
# Families whose heads cannot be cut out: part of the reason.
GROUPED = "its heads share keys and values in groups"
BIAS = "a layer makes a bias for the heads of all layers"
REFUSED = {
    **dict.fromkeys(["eurobert", "ultrabert", "doge"], GROUPED),
    **dict.fromkeys(["cohere2", "gemma", "gemma2", "gemma3_text", "glm4", "granite", "helium", "llama"], GROUPED),
    **dict.fromkeys(["ministral3", "mistral", "mixtral", "nemotron", "olmo2", "olmo3", "phi", "qwen2"], GROUPED),
    **dict.fromkeys(["qwen3", "smollm3", "stablelm", "starcoder2"], GROUPED),
    **dict.fromkeys(EXACT.keys() & {"embedding_gemma2_text"}, GROUPED),
    **dict.fromkeys(["t5", "mt5", "umt5", "switch_transformers"], BIAS),
    "albert": "its layers share their weights",
    **dict.fromkeys(["convbert", "ibert", "squeezebert", "xlnet"], "linear maps of its attention cannot be identified"),
}
# Their code counts on what is no linear map, or on a fused one laid out in another way; in some releases only.
CHECKED = ("bloom", "codegen", "deberta", "esmc", "falcon", "gpt_bigcode", "layoutlmv3", "mpt", "phi3", "prophetnet")
# One norm, or one map, of all their heads; or other groups in each layer.
SPANNED = ("doge", "embedding_gemma2_text", "olmo2", "olmo3")
PRUNED = [kind for kind in EXACT if kind not in (*REFUSED, *CHECKED)]
# These read the heads' size off the number of heads, which is a division by 0 where there is none.
NEVER_EMPTY = ("deberta-v2", "flaubert", "gpt2", "mvp", "openai-gpt", "opt", "xglm", "xlm")
# Saved and loaded again, which takes long, with and without a task head.
CLASSIFIERS = (
    "roberta",
    "electra",
    "distilbert",
    "camembert",
    "xlm-roberta",
    "deberta-v2",
    "mpnet",
    "modernbert",
    "gpt2",
)
ENCODERS = ("bert", "bart", "mpnet", "gpt2")


@cache
def model_of(family: str) -> Model:
    with quiet():
        return wrap(tiny_family(family), tiny_tokenizer(), family)


def removing(model: Model, removed: Any = REMOVED) -> np.ndarray:
    remove = np.zeros((len(model.capture.heads), max(model.capture.heads)), dtype=bool)
    for layer, heads in enumerate(removed):
        remove[layer, list(heads)] = True
    return remove


def inputs_of(network: PreTrainedModel) -> dict[str, Tensor]:
    pad = getattr(network.config, "pad_token_id", None) or 0
    ids = torch.randint(3, 60, (len(LENGTHS), max(LENGTHS)), generator=torch.Generator().manual_seed(1))
    real = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return {"input_ids": ids.where(real, pad), "attention_mask": real.long()}


@torch.inference_mode()
def answers(network: PreTrainedModel) -> Tensor:
    """What a network gives for a padded batch, at real tokens, as a share of the largest number."""
    inputs = inputs_of(network)
    with quiet():
        output = network(**inputs)[0]
    real = inputs["attention_mask"].bool()
    return output[real] if output.shape[:2] == real.shape else output


def zeroed(model: Model, remove: np.ndarray) -> PreTrainedModel:
    """The whole network, in which nothing reads the outputs of the removed heads any more."""
    masked = copy.deepcopy(model)
    for layer, projection in enumerate(masked.projections):
        weight: Any = projection.output.weight
        for head in np.flatnonzero(remove[layer]):
            columns = slice(head * projection.width, (head + 1) * projection.width)
            with torch.no_grad():
                if isinstance(projection.output, nn.Linear):
                    weight[:, columns] = 0
                else:
                    weight[columns] = 0
    return masked.network


def assert_same(ours: Tensor, theirs: Tensor) -> None:
    scale = max(1.0, theirs.abs().amax().item())
    torch.testing.assert_close(ours / scale, theirs / scale, rtol=0, atol=1e-5)


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("family", in_turn(PRUNED))
def test_answers_as_with_the_heads_zeroed(family):
    model = model_of(family)
    remove = removing(model)
    before = answers(model.network)
    pruned = prune(model, remove)
    assert pruned.capture.heads[:2] == (2, 3)
    assert pruned.capture.method == model.capture.method
    assert_same(answers(pruned.network), answers(zeroed(model, remove)))
    assert torch.equal(answers(model.network), before), "the model given is left as it was"
    assert (answers(pruned.network) - before).abs().amax() > 1e-2
    assert parameters(pruned.network) < parameters(model.network)


@pytest.mark.parametrize("family", in_turn(REFUSED))
def test_is_refused_with_its_reason(family):
    model = model_of(family)
    remove = np.zeros((len(model.capture.heads), max(model.capture.heads)), dtype=bool)
    remove[0, 0] = True
    before = answers(model.network)
    with pytest.raises(HeadscopeError) as error:
        prune(model, remove)
    assert str(error.value).startswith(f"model type '{family}'")
    assert REFUSED[family] in str(error.value)
    assert "\n" not in str(error.value)
    assert torch.equal(answers(model.network), before)


@pytest.mark.parametrize("family", in_turn([family for family, reason in REFUSED.items() if reason == GROUPED]))
def test_heads_that_share_keys_go_together(family):
    """Unless something else of their layer spans all of them, which the check finds."""
    model = model_of(family)
    remove = removing(model, ((2, 3),))
    try:
        pruned = prune(model, remove)
    except HeadscopeError as error:
        assert str(error).startswith(f"model type '{family}' cannot be pruned: ") and family in SPANNED
    else:
        assert pruned.capture.heads[:2] == (2, 4) and family not in SPANNED
        assert_same(answers(pruned.network), answers(zeroed(model, remove)))


@pytest.mark.parametrize("family", in_turn(CHECKED))
def test_is_pruned_exactly_or_refused_by_the_check(family):
    model = model_of(family)
    remove = removing(model)
    before = answers(model.network)
    try:
        pruned = prune(model, remove)
    except HeadscopeError as error:
        assert str(error).startswith(f"model type '{family}' cannot be pruned")
    else:
        assert_same(answers(pruned.network), answers(zeroed(model, remove)))
    assert torch.equal(answers(model.network), before)


EMPTIED = [family for family in (*CLASSIFIERS, "bert", "bart") if family not in NEVER_EMPTY]


@pytest.mark.parametrize("family", in_turn(EMPTIED, at=1, of=2))
def test_a_layer_can_lose_all_of_its_heads(family):
    model = model_of(family)
    remove = removing(model, ((0, 2), (0, 1, 2, 3)))
    pruned = prune(model, remove)
    assert pruned.capture.heads[:2] == (2, 0)
    assert_same(answers(pruned.network), answers(zeroed(model, remove)))


@pytest.mark.parametrize("family", NEVER_EMPTY)
def test_a_family_whose_code_wants_a_head_in_each_layer_says_so(family):
    model = model_of(family)
    expected = rf"layer 2 would have no head left, which model type '{family}' does not support .*; keep at least"
    with pytest.raises(HeadscopeError, match=expected):
        prune(model, removing(model, ((), (0, 1, 2, 3))))


def test_a_torch_that_ends_without_heads_is_refused(monkeypatch):
    model = model_of("bert")
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.11.0+cu130"))
    with pytest.raises(
        HeadscopeError, match=r"layer 2 has no head left, .* with torch 2\.11\.0\+cu130; use torch 2\.13"
    ):
        prune(model, removing(model, ((), (0, 1, 2, 3))))
    assert prune(model, removing(model, ((0,), (0, 1, 2)))).capture.heads[:2] == (3, 1)


def test_removing_all_heads_is_refused():
    with pytest.raises(HeadscopeError, match="would have no head left; remove fewer"):
        prune(model_of("bert"), removing(model_of("bert"), ((0, 1, 2, 3), (0, 1, 2, 3))))


def test_heads_with_keys_of_their_own_are_cut_where_others_of_the_family_share_them():
    config = LlamaConfig(
        vocab_size=172, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4
    )
    model = wrap(tiny_network(config), tiny_tokenizer())
    assert_same(answers(prune(model, removing(model)).network), answers(zeroed(model, removing(model))))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_dtypes(dtype):
    model = wrap(tiny_bert().to(dtype), tiny_tokenizer())
    pruned = prune(model, removing(model))
    assert pruned.network.dtype == dtype and pruned.capture.heads == (2, 3, 4)


def test_what_is_frozen_stays_frozen():
    network = tiny_bert()
    network.requires_grad_(False)
    model = wrap(network, tiny_tokenizer())
    assert not any(parameter.requires_grad for parameter in prune(model, removing(model)).network.parameters())


@cache
def peaked() -> Model:
    """Random attention that is peaked enlarges the rounding of single precision beyond the tolerance."""
    return wrap(noisy(0, 20.0, AutoModel), tiny_tokenizer())


def test_rounding_is_no_reason_to_refuse():
    model = peaked()
    remove = removing(model)
    pruned, unpruned = prune(model, remove).network, zeroed(model, remove)
    assert pruned.dtype == torch.float32, "compared in double precision, not changed to it"
    torch.testing.assert_close(answers(pruned.double()), answers(unpruned.double()), rtol=0, atol=1e-9)


@pytest.mark.parametrize("model_", [partial(model_of, "bert"), peaked], ids=["bert", "peaked"])
def test_a_cut_that_gives_other_numbers_is_refused(model_, monkeypatch):
    """Of the output projection the columns of other heads are left than of the values."""
    model, keep = model_(), head_slicing.keep_rows
    width = model.projections[0].width
    monkeypatch.setattr(
        head_slicing, "keep_rows", lambda linear, index, *, inputs: keep(linear, index - width * inputs, inputs=inputs)
    )
    with pytest.raises(HeadscopeError, match=r"its outputs would differ by .* from those with the heads zeroed"):
        prune(model, removing(model, ((0,), ())))


def test_pruned_again_is_pruned_at_once():
    """Heads are numbered as the model is now; the configuration counts those of the whole model."""
    model = wrap(tiny_bert(), tiny_tokenizer())
    once = prune(model, removing(model, ((0, 2), (1,), ())))
    twice = prune(once, removing(once, ((1,), (0, 2), ())))
    assert twice.network.config.headscope_pruning == {"heads": [4, 4, 4], "removed": {"1": [1, 3, 4], "2": [1, 2, 4]}}
    at_once = prune(model, removing(model, ((0, 2, 3), (0, 1, 3), ())))
    assert torch.equal(answers(twice.network), answers(at_once.network))
    assert_same(answers(twice.network), answers(zeroed(model, removing(model, ((0, 2, 3), (0, 1, 3), ())))))


def test_pruned_again_where_layers_share_a_bias():
    model = model_of("mpnet")
    once = prune(model, removing(model))
    twice = prune(once, removing(once, ((1,), (0,))))
    assert_same(answers(twice.network), answers(zeroed(model, removing(model, ((0, 2, 3), (0, 1))))))


def test_no_head_removed_is_the_same_model():
    model = model_of("bert")
    same = prune(model, removing(model, ()))
    assert torch.equal(answers(same.network), answers(model.network))
    assert not hasattr(same.network.config, KEY)


# Folders.


def save(model: Model, folder: Path) -> Path:
    with quiet():
        model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("family", "head"),
    in_turn([*((family, True) for family in CLASSIFIERS), *((family, False) for family in ENCODERS)]),
)
def test_the_folder_gives_the_same(family, head, tmp_path):
    with quiet():
        network = tiny_family(family)
        if head:
            network = tiny_network(network.config, kind=AutoModelForSequenceClassification)
    model = wrap(network, tiny_tokenizer())
    remove = removing(model)
    folder = save(prune(model, remove), tmp_path)
    loaded = headscope.load(str(folder), head=head)
    assert type(loaded.network) is type(model.network)
    assert loaded.capture.heads[:2] == (2, 3)
    assert_same(answers(loaded.network), answers(zeroed(model, remove)))
    assert loaded.sha256


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pruned classifier of three layers; the second has no head left."""
    model = wrap(tiny_bert(kind=BertForSequenceClassification), tiny_tokenizer())
    return save(prune(model, removing(model, ((0, 2), (0, 1, 2, 3), ()))), tmp_path_factory.mktemp("pruned"))


def configured(folder: Path, stored: Any, copied: Path) -> str:
    """A copy of a folder whose configuration has another list of removed heads."""
    shutil.copytree(folder, copied)
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {KEY: stored}))
    return str(copied)


def test_the_folder_of_a_classifier_also_gives_its_encoder(folder):
    classifier, encoder = headscope.load(str(folder), head=True), headscope.load(str(folder))
    assert encoder.capture.heads == (2, 0, 4)
    with torch.inference_mode():
        inner = classifier.network.base_model(**inputs_of(classifier.network))[0]
    torch.testing.assert_close(encoder.network(**inputs_of(encoder.network))[0], inner)


def test_stored_weights_are_really_smaller(folder):
    with safe_open(folder / "model.safetensors", "np") as stored:
        assert stored.get_slice("bert.encoder.layer.0.attention.self.query.weight").get_shape() == [12, 24]
        assert stored.get_slice("bert.encoder.layer.1.attention.output.dense.weight").get_shape() == [24, 0]


def test_a_loaded_model_is_pruned_again_and_saved_again(folder, tmp_path):
    loaded = headscope.load(str(folder), head=True)
    again = prune(loaded, removing(loaded, ((), (), (3,))))
    reloaded = headscope.load(str(save(again, tmp_path / "again")), head=True)
    assert reloaded.network.config.headscope_pruning["removed"] == {"1": [1, 3], "2": [1, 2, 3, 4], "3": [4]}
    assert_same(answers(reloaded.network), answers(again.network))


@pytest.mark.parametrize("kind", [AutoModel, AutoModelForSequenceClassification])
def test_transformers_alone_refuses_the_folder(kind, folder):
    with quiet(), pytest.raises(RuntimeError, match="ignore_mismatched_sizes"):
        kind.from_pretrained(folder)


@pytest.mark.parametrize(
    "stored",
    [
        {"heads": [4, 4, 4], "removed": {"1": [5]}},
        {"heads": [4, 4, 4], "removed": {"4": [1]}},
        {"heads": [4, 4, 4]},
        {"1": [3]},
        [[1, 3]],
        "1-3",
    ],
    ids=str,
)
def test_a_configuration_that_makes_no_sense(stored, folder, tmp_path):
    with pytest.raises(
        HeadscopeError, match=f"{KEY} in config.json is no list of removed heads .*; prune the original"
    ):
        headscope.load(configured(folder, stored, tmp_path / "other"))


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"heads": [4, 4, 4], "removed": {"1": [1]}}, "weights are of another size than in config.json"),
        ({"heads": [4, 4], "removed": {"1": [1, 3]}}, "cannot be loaded"),
    ],
    ids=["other heads", "other layers"],
)
def test_weights_that_do_not_fit_the_configuration(stored, message, folder, tmp_path):
    with pytest.raises(HeadscopeError, match=message):
        headscope.load(configured(folder, stored, tmp_path / "other"), head=True)


def test_the_first_layer_profiles_as_its_heads_did_before():
    """Later layers see other inputs."""
    texts = ["The cat sat by the river.", "A dog ran!", "She was not in the old house, and he saw a bird."]
    examples = [Example(text, (Sentence(text),)) for text in texts]
    corpus = Corpus("texts", "", len(examples), {}, lambda: iter(examples))
    model = wrap(tiny_bert(), tiny_tokenizer())
    pruned = prune(model, removing(model, ((0, 2), (0, 1, 2, 3), (1,))))
    before, after = (headscope.profile(variant, corpus, Settings(resamples=10)) for variant in (model, pruned))
    there = existing(pruned.capture.heads)
    for name in ("attention_to", "entropy", "attention_offset"):
        kept = before[name].sel(layer=1, head=[2, 4])
        np.testing.assert_allclose(after[name].sel(layer=1, head=[1, 2]), kept, atol=1e-5)
    np.testing.assert_array_equal(~np.isnan(after["entropy"].values), there)
