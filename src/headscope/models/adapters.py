"""Adapters of peft (LoRA and others): a folder with a configuration and safetensors, merged into its base model."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.models.weights import stored_weights

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
MERGEABLE = ("LORA", "ADALORA", "LOHA", "LOKR", "IA3", "OFT", "BOFT", "VERA", "HRA")
CLASSIFIER = "SEQ_CLS"
# The last weights of the classifiers of transformers, one row a label.
OUTPUTS = ("classifier.weight", "classifier.out_proj.weight", "score.weight")
MERGE = "merge it into its model with peft (merge_and_unload) and save_pretrained that"
START = "base_model.model."


ADAPTERS = (CONFIG, WEIGHTS, "adapter_model.bin")


def is_adapter(folder: Path) -> bool:
    """Whether a folder has an adapter and no model."""
    return (folder / CONFIG).is_file() and not (folder / "config.json").exists()


def refuse_adapters(folder: Path, name: str) -> None:
    """Raise `HeadscopeError` if adapter files lie beside the weights: they would not be read."""
    present = [file for file in ADAPTERS if (folder / file).exists()]
    if present:
        raise HeadscopeError(
            f"model '{name}': {', '.join(present)} would not be read; merge the adapter into the model with peft "
            "(merge_and_unload) and save it again, or remove these files"
        )


def adapter_files(folder: Path) -> tuple[Path, ...]:
    """The files of an adapter that its merged weights depend on."""
    return (folder / CONFIG, folder / WEIGHTS)


def base_of(folder: Path, name: str) -> tuple[str, str | None]:
    """The name of an adapter's base model, a folder or a hub name, and its revision.

    Raises `HeadscopeError` if the weights are not safetensors, or the configuration names no base model.
    """
    if not (folder / WEIGHTS).is_file():
        raise HeadscopeError(f"model '{name}': the adapter has no {WEIGHTS}; save it with safetensors")
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        base, revision, kind = (config.get(key) for key in ("base_model_name_or_path", "revision", "peft_type"))
    except (ValueError, AttributeError, RecursionError) as error:
        raise HeadscopeError(f"model '{name}': {CONFIG} is no JSON object ({error}); save the adapter again") from error
    if kind not in MERGEABLE:
        raise HeadscopeError(
            f"model '{name}': an adapter of type {str(kind)[:40]!r} cannot be merged into weights; name its base model"
        )
    if not isinstance(base, str) or not base or not isinstance(revision, str | None):
        raise HeadscopeError(
            f"model '{name}': {CONFIG} names no base model; set base_model_name_or_path to a folder or a hub name"
        )
    return base, revision


def shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of an adapter, under the name that it has in the model."""
    return {key.removeprefix(START): weight.shape for key, weight in stored_weights([folder / WEIGHTS]).items()}


def n_labels(folder: Path) -> int | None:
    """The number of labels of an adapter's own classifier of texts; None if it has no such classifier."""
    if json.loads((folder / CONFIG).read_text(encoding="utf-8")).get("task_type") != CLASSIFIER:
        return None
    return next((shape[0] for key, shape in shapes(folder).items() if key in OUTPUTS), None)


def merged(network: "PreTrainedModel", folder: Path, name: str, *, head: bool = False) -> "PreTrainedModel":
    """The base model with the adapter in its weights; those for a head only if the network has a task `head`.

    Raises `HeadscopeError` if peft is not installed, or the adapter does not fit the network.
    """
    peft = require("peft")
    from safetensors.torch import load_file

    from headscope.capture.transformers_logging import quiet, refusing

    with quiet(), warnings.catch_warnings(), refusing(f"model '{name}': the adapter cannot be merged", MERGE):
        warnings.simplefilter("ignore")  # what peft warns of is refused below
        weights = _weights_for(network, load_file(folder / WEIGHTS), head=head)
        config: Any = peft.PeftConfig.from_pretrained(str(folder))
        config.task_type, config.inference_mode, config.base_model_name_or_path = None, True, None
        kept = [module for module in config.modules_to_save or [] if any(f".{module}." in key for key in weights)]
        config.modules_to_save = kept or None
        adapted = peft.get_peft_model(network, config, autocast_adapter_dtype=False)
        report = peft.set_peft_model_state_dict(adapted, weights)
        problems = [*(key for key in report.missing_keys if ".default" in key), *report.unexpected_keys]
        network = adapted.merge_and_unload()
    if problems:
        raise HeadscopeError(
            f"model '{name}': {len(problems)} weights of the adapter do not fit its base model ({problems[0]}, ...); "
            f"{MERGE}"
        )
    return network


def _weights_for(network: "PreTrainedModel", weights: "dict[str, Tensor]", *, head: bool) -> "dict[str, Tensor]":
    """The weights under the names that they have in the network; without a head those of the base model alone."""
    prefix = f"{START}{network.base_model_prefix}."
    if head or not any(key.startswith(prefix) for key in weights):
        return weights
    return {key.replace(prefix, START, 1): value for key, value in weights.items() if key.startswith(prefix)}
