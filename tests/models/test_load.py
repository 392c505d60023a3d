"""What `load` accepts, and the one line it says about anything else."""

import json
import logging as standard_logging
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    BartConfig,
    BartForSequenceClassification,
    BertForMaskedLM,
    BertForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
)
from transformers.utils import logging

from headscope.capture.transformers_logging import quiet
from headscope.models import checkpoint, hub, load
from support.loading import edit, refusal
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary

TEXTS = ["The cat sat by the river.", "A dog!"]
ENCODER_DECODER: dict[str, Any] = {
    "vocab_size": len(tiny_vocabulary()), "d_model": 24, "encoder_layers": 2, "decoder_layers": 1,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with quiet():
        return save_tiny(tmp_path / "model")


def test_minilm():
    model = load("minilm", device="cpu")
    assert model.sha256 == hub.SHA256
    assert model.capture.method == "attention interface"
    assert model.capture.heads == (12,) * 6
    assert model.max_tokens == 512
    assert model.device == torch.device("cpu")


def test_minilm_with_other_weights_is_refused(folder, monkeypatch):
    monkeypatch.setattr(checkpoint, "package_folder", lambda: folder)
    assert re.fullmatch(
        rf"model 'minilm': weights have sha256 \w{{64}}, expected {hub.SHA256}; install 'headscope\[demo\]' again",
        refusal("minilm"),
    )


def test_a_saved_folder(folder):
    model = load(str(folder), device="cpu")
    inputs = model.tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        torch.testing.assert_close(model.network(**inputs)[0], tiny_bert()(**inputs)[0], rtol=1e-5, atol=1e-5)
    assert model.name == str(folder)
    assert model.max_tokens == 64
    assert not model.network.training
    assert model.revision == ""


@pytest.mark.parametrize("kind", [BertForSequenceClassification, BertForMaskedLM])
def test_the_head_gives_the_logits_of_the_plain_model(kind, tmp_path):
    with quiet():
        save_tiny(tmp_path, tiny_bert(kind=kind))
        plain = kind.from_pretrained(tmp_path, attn_implementation="eager").eval()
    model = load(str(tmp_path), head=True, device="cpu")
    inputs = model.tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = plain(**inputs).logits
        torch.testing.assert_close(model.network(**inputs).logits, expected, rtol=0, atol=0)
        with model.observed(lambda *shown: None):
            torch.testing.assert_close(model.network(**inputs).logits, expected, rtol=1e-5, atol=1e-5)


def test_without_its_head_a_classifier_is_its_encoder(tmp_path):
    with quiet():
        save_tiny(tmp_path, tiny_bert(kind=AutoModelForSequenceClassification))
    assert type(load(str(tmp_path)).network).__name__ == "BertModel"


def test_a_causal_model(tmp_path):
    with quiet():
        save_tiny(tmp_path, tiny_gpt2())
    assert load(str(tmp_path)).capture.heads == (4, 4)


def test_an_encoder_decoder_gives_its_encoder(tmp_path):
    config = T5Config(vocab_size=len(tiny_vocabulary()), d_model=24, d_kv=6, d_ff=32, num_layers=2, num_heads=4)
    with quiet():
        save_tiny(tmp_path, tiny_network(config, kind=T5ForConditionalGeneration))
    model = load(str(tmp_path))
    assert type(model.network).__name__ == "T5Stack"
    assert model.capture.heads == (4, 4)


def test_an_encoder_decoder_has_no_head_to_keep(tmp_path):
    with quiet():
        save_tiny(tmp_path, tiny_network(BartConfig(**ENCODER_DECODER), kind=BartForSequenceClassification))
    assert refusal(tmp_path, head=True).endswith("has no task head; use an encoder or a decoder")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_dtypes(folder, dtype):
    assert load(str(folder), dtype=dtype).network.dtype == getattr(torch, dtype)


def test_it_prints_nothing_and_leaves_logging_as_it_was(folder, capfd):
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_info()
    logging.enable_progress_bar()
    try:
        load(str(folder))
        load("minilm")
        edit(folder / "config.json", num_hidden_layers=4)
        refusal(folder)
        assert logging.get_verbosity() == standard_logging.INFO
        assert logging.is_progress_bar_enabled()
    finally:
        logging.set_verbosity(level)
        if not bars:
            logging.disable_progress_bar()
    assert capfd.readouterr() == ("", "")


def only_vocabulary(text: str, name: str = "vocab.txt") -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "tokenizer.json").unlink()
        (folder / "tokenizer_config.json").unlink()
        (folder / name).write_text(text)

    return change


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")


def japanese(folder: Path) -> None:
    only_vocabulary("\n".join(tiny_vocabulary()))(folder)
    settings = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "basic"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def config(**changes: object) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "config.json", **changes)


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def written(name: str, text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_text(text)

    return change


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "pickled weights": (pickled, " has no .safetensors weights, but pytorch_model.bin; load it with transformers where "
        "you trust it and save_pretrained it again"),
    "no weights": (without("model.safetensors"), " has no .safetensors weights; load it with transformers where "
        "you trust it and save_pretrained it again"),
    "cut weights": (written("model.safetensors", "version https"), " cannot be loaded (Error while deserializing "
        "header: header too large); save or download it again"),
    "missing weights": (config(num_hidden_layers=4), ": 16 weights are missing from the checkpoint (encoder.layer.3."
        "attention.output.LayerNorm.bias, ...); they would be random: name a complete checkpoint"),
    "other sizes": (config(intermediate_size=40), ": 9 weights are of another size than in config.json (encoder.layer."
        "0.intermediate.dense.bias, ...); they would be random: name a complete checkpoint"),
    "own code": (config(auto_map={"AutoModel": "modeling.Model"}),
        " needs code from its own folder; read it, then allow it with --trust-remote-code"),
    "no config": (without("config.json"), ": the folder has no config.json; name a folder that save_pretrained wrote"),
    "broken config": (written("config.json", "{'a"), ": config.json is no JSON object (Expecting property name "
        "enclosed in double quotes: line 1 column 2 (char 1)); save the model again"),
    "list as config": (written("config.json", "[1]"),
        ": config.json is no JSON object ('list' object has no attribute 'get'); save the model again"),
    "endless layers": (config(num_hidden_layers=10**9), ": num_hidden_layers in config.json is 1000000000, and the "
        "weights are 55 arrays; correct it"),
    "wrong value": (config(hidden_size="big"), ": its config.json cannot be used (Validation error for field "
        "'hidden_size': TypeError: Field 'hidden_size' expected int, got str (value: 'big')); correct "
        "it or use another model"),
    "unknown type": (config(model_type="nosuch"), ": its config.json cannot be used (The checkpoint you are trying to "
        "load has model type `nosuch` but Transformers does not recognize this architecture."),
    "refused type": (config(model_type="longformer"), ": type 'longformer' computes attention over windows and blocks, "
        "not over all pairs of tokens; use another model"),
    "no tokenizer": (without("tokenizer.json"),
        " has no tokenizer files; save its tokenizer into the folder with save_pretrained"),
    "broken tokenizer": (written("tokenizer.json", "{"), ": its tokenizer cannot be loaded (Expecting property name "
        "enclosed in double quotes: line 1 column 2 (char 1)); save it again with save_pretrained"),
    "empty vocabulary": (only_vocabulary(""), f": its tokenizer has 5 pieces, the model {len(tiny_vocabulary())}; "
        "save the model's own tokenizer, whole, into the folder"),
    "vocabulary of another kind": (only_vocabulary(json.dumps(tiny_vocabulary()), "vocab.json"),
        f": its tokenizer has 5 pieces, the model {len(tiny_vocabulary())}; "
        "save the model's own tokenizer, whole, into the folder"),
    "larger vocabulary": (only_vocabulary("\n".join([*tiny_vocabulary(), *map(str, range(1000, 1030))])),
        f": its tokenizer has {len(tiny_vocabulary()) + 30} pieces, the model {len(tiny_vocabulary())}; "
        "save the model's own tokenizer, whole, into the folder"),
    "slow tokenizer": (japanese, ": tokenizer BertJapaneseTokenizer does not give character offsets; "
        "convert it to a fast one (tokenizer.json)"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_folder(folder, case):
    change, message = BROKEN[case]
    change(folder)
    line = refusal(folder)
    assert line.startswith(f"model '{folder}'{message}")
    assert line == f"model '{folder}'{message}" or case == "unknown type"


def test_a_vocabulary_alone_is_enough(folder):
    only_vocabulary("\n".join(tiny_vocabulary()))(folder)
    assert load(str(folder)).tokenizer("The cat")["input_ids"] == tiny_tokenizer()("The cat")["input_ids"]


@pytest.mark.parametrize("named", [["BertModel"], ["NoSuchModel"], ["pipeline"], None, "BertModel"])
def test_a_head_that_the_checkpoint_does_not_name(folder, named):
    edit(folder / "config.json", architectures=named)
    shown = named or []
    assert (
        refusal(folder, head=True)
        == f"model '{folder}' names no task head (architectures: {shown}); 'headscope finetune' trains one"
    )


def test_a_head_whose_weights_are_missing(folder):
    edit(folder / "config.json", architectures=["BertForSequenceClassification"])
    assert "2 weights are missing from the checkpoint (classifier.bias," in refusal(folder, head=True)


def test_a_missing_pooler_matters_only_to_a_head(tmp_path):
    with quiet():
        save_tiny(tmp_path, tiny_bert(kind=BertForMaskedLM))
    edit(tmp_path / "config.json", architectures=["BertForSequenceClassification"])
    assert load(str(tmp_path)).capture.heads == (4, 4, 4)
    assert "4 weights are missing from the checkpoint (bert.pooler." in refusal(tmp_path, head=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float8"}, "dtype 'float8' is unknown; use one of float32, bfloat16, float16, float64"),
        ({"device": "tpu"}, "device 'tpu' is unknown; use one of cpu, cuda, mps, xpu, auto, or cuda:1"),
        ({"device": "meta"}, "device 'meta' is unknown; use one of cpu, cuda, mps, xpu, auto, or cuda:1"),
        ({"device": "cpu:x"}, "device 'cpu:x' cannot be used here (Invalid device string: 'cpu:x'); use cpu"),
    ],
)
def test_unknown_options(folder, options, message):
    assert refusal(folder, **options) == message


def test_a_device_that_is_not_there(folder, monkeypatch):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert re.fullmatch(r"device 'cuda:7' cannot be used here \(.+\); use cpu", refusal(folder, device="cuda:7"))


def test_a_revision_of_a_folder(folder):
    assert (
        refusal(folder, revision="v2") == f"model '{folder}' is a local folder and has no revision 'v2'; leave it out"
    )


def test_paths_that_do_not_exist(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    near = (
        f"model '{folder}s' is no folder and no hub name; did you mean '{folder}'? name a folder that holds config.json"
    )
    assert refusal(f"{folder}s") == near
    for name in ("./nothing", "a/b/c"):
        said = refusal(name)
        assert said.startswith(f"model '{name}' is no folder") and said.endswith("name a folder that holds config.json")
    assert refusal("model/config.json").endswith("is a file; name the folder that holds it")
    assert refusal("minlm") == "model 'minlm' is no folder; did you mean 'minilm'?"


def test_a_home_folder(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    assert load("~/model").capture.heads == (4, 4, 4)


@pytest.fixture
def silent_hub(hub_library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A server that takes connections and never answers, as a network behind a captive portal does."""
    from huggingface_hub import HfApi

    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        hub_library(ENDPOINT=endpoint, HF_HUB_CACHE=str(tmp_path))
        monkeypatch.setattr(HfApi, "__init__", lambda self, **given: _api(self, endpoint))
        yield


def _api(api: Any, endpoint: str) -> None:
    vars(api).update(
        endpoint=endpoint, token=False, library_name=None, library_version=None, user_agent=None, headers={}
    )


UNREACHABLE = (
    "model 'org/name' is no folder here and the hub cannot be reached; name a local folder, or connect and try again"
)


def test_a_hub_that_does_not_answer(silent_hub, monkeypatch):
    monkeypatch.setattr(hub, "SECONDS", 0.5)
    start = time.perf_counter()
    assert refusal("org/name") == UNREACHABLE
    assert time.perf_counter() - start < 5


def test_offline(hub_library, monkeypatch, tmp_path):
    hub_library(HF_HUB_OFFLINE=True, HF_HUB_CACHE=str(tmp_path))
    assert refusal("org/name") == UNREACHABLE
    monkeypatch.setattr(checkpoint, "package_folder", lambda: None)
    said = refusal("minilm")
    assert said.startswith(f"model '{hub.HUB_ID}'") and said.endswith("install 'headscope[demo]'")


def test_offline_the_cache_is_used(hub_library, tmp_path, folder):
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached = tmp_path / "models--org--name"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text(commit)
    (cached / "snapshots").mkdir()
    folder.rename(cached / "snapshots" / commit)
    hub_library(HF_HUB_OFFLINE=True, HF_HUB_CACHE=str(tmp_path))
    model = load("org/name")
    assert (model.name, model.revision, model.capture.heads) == ("org/name", commit, (4, 4, 4))


def test_names_that_the_hub_does_not_take():
    assert refusal("x..y").endswith("is not on the hub; check its name")


@pytest.mark.parametrize("method", ["gptq", "bitsandbytes"])
def test_a_quantised_folder_says_which_weights_are_wanted(folder, method):
    edit(folder / "config.json", quantization_config={"quant_method": method, "bits": 4, "load_in_4bit": True})
    said = refusal(folder)
    assert f"is quantised ({method})" in said and "name the model that it was made" in said
    assert said.endswith("with weights in float32, bfloat16, float16, float64") and "pip" not in said
