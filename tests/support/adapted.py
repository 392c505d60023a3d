"""A tiny model with an adapter of peft, both in files."""

import json
import warnings
from pathlib import Path
from typing import Any

import peft
import torch
from transformers import PreTrainedModel

from support.tiny import save_tiny


def adapted(folder: Path, network: PreTrainedModel, **options: Any) -> Any:
    """Save a model in `folder/base` and a seeded LoRA adapter of it in `folder/adapter`; return peft's own model."""
    base = save_tiny(folder / "base", network)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peft warns of a base model that is in no file
        config = peft.LoraConfig(r=2, target_modules=["query", "value"], init_lora_weights=False, **options)
        model = peft.get_peft_model(network, config).eval()
        model.save_pretrained(str(folder / "adapter"))
    stored = json.loads((folder / "adapter" / "adapter_config.json").read_text())
    stored["base_model_name_or_path"] = str(base)
    (folder / "adapter" / "adapter_config.json").write_text(json.dumps(stored))
    return model
