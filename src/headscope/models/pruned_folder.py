"""Save a model as a folder that transformers loads, pruned or not, with the modules of sentence-transformers.

Its model card has removed heads, labels, scores and size.
"""

import inspect
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedModel

from headscope.capture.projections import attentions
from headscope.capture.transformers_logging import quiet
from headscope.models import modeling_pruned
from headscope.models.head_slicing import HEADS, KEY_HEADS, WIDTHS
from headscope.models.hub import HUB_ID
from headscope.models.loading import load
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import KEY, Pruning, pruning_of
from headscope.results.tables import markdown_table, plain
from headscope.storage.files import new_folder

CODE = "modeling_pruned"
# What a model is for, as the hub has it, by the end of the name of its class.
PIPELINES = {
    "ForSequenceClassification": "text-classification",
    "ForTokenClassification": "token-classification",
    "ForQuestionAnswering": "question-answering",
    "ForMaskedLM": "fill-mask",
    "ForCausalLM": "text-generation",
    "LMHeadModel": "text-generation",
}
# Lines of an original's card that the card of a smaller model repeats.
STATED = [
    re.compile(rf"^{field}:[ \t]*(?:[\w.-]+|(?:\n-[ \t]+[\w.-]+)+)[ \t]*$", re.MULTILINE)
    for field in ("license", "language")
]
AUTO = (
    "AutoModel",
    "AutoModelForPreTraining",
    *("AutoModelForMaskedLM", "AutoModelForCausalLM", "AutoModelForSequenceClassification"),
    *("AutoModelForTokenClassification", "AutoModelForQuestionAnswering", "AutoModelForMultipleChoice"),
)


def save(model: Model, folder: str | Path, notes: str = "") -> Path:
    """Save a model and its tokenizer as a Hugging Face folder, with a model card.

    A pruned model has layers with different numbers of heads, or of neurons, which the configurations of transformers
    do not allow.
    Its folder holds a modelling file of its own; with `trust_remote_code=True` it loads through `AutoModel`, `pipeline`
    and sentence-transformers. `headscope.load` loads it without that file.

    * `notes`: Markdown for the card, such as scores.

    Raises `HeadscopeError` if the folder cannot be written.
    """
    folder = Path(folder)
    with new_folder(folder) as scratch:
        carried = _carry_modules(Path(str(model.network.name_or_path)), scratch)
        if carried:
            _limit_length(scratch / "sentence_bert_config.json", model.max_tokens)
        classes = write(model, scratch)
        text = card(model, pruning_of(model.network.config), classes, carried=carried, notes=notes)
        (scratch / "README.md").write_text(text, encoding="utf-8")
    return folder


def saved(model: Model, folder: Path, notes: str, *, head: bool) -> Model:
    """Save a model, see `save`, and load it again in its number format; `head`: with the head of its task."""
    save(model, folder, notes)
    dtype = str(model.network.dtype).removeprefix("torch.")
    return load(str(folder), head=head, device=str(model.device), dtype=dtype)


def write(model: Model, folder: Path) -> list[str]:
    """Write weights, tokenizer and the modelling file of a pruned model. Returns: the Auto classes that load that."""
    with quiet():
        model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    pruning = pruning_of(model.network.config)
    classes = _classes(model.network) if pruning else {}
    if pruning and classes:
        _write_code(model.network, pruning, classes, folder)
    return list(classes)


def _classes(network: PreTrainedModel) -> dict[str, type[PreTrainedModel]]:
    """The classes of transformers by the name of their Auto class; of an encoder-decoder the encoder alone."""
    if network.config.is_encoder_decoder:
        return {"AutoModel": type(network)}
    kind, classes = type(network.config), {}
    for auto in AUTO:
        mapping = getattr(transformers, auto)._model_mapping
        if kind in mapping:
            classes[auto] = mapping[kind][0] if isinstance(mapping[kind], tuple) else mapping[kind]
    return classes


def _write_code(
    network: PreTrainedModel, pruning: Pruning, classes: dict[str, type[PreTrainedModel]], folder: Path
) -> None:
    """Write the modelling file, and the entries of config.json that it reads."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["auto_map"] = {auto: f"{CODE}.{kind.__name__}" for auto, kind in classes.items()}
    config[KEY] |= _parts(network, pruning)
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    imports = {"from {0} import {2}".format(*kind.__module__.rpartition(".")) for kind in classes.values()}
    code = inspect.getsource(modeling_pruned).replace(
        "from torch import nn\n", "\n".join(["from torch import nn", *sorted(imports), ""])
    )
    for kind in dict.fromkeys(classes.values()):
        name = kind.__module__.rpartition(".")[2]
        doc = f'    """{kind.__name__} without the removed parts."""\n'
        code += f"\n\nclass {kind.__name__}(PrunedHeads, {name}.{kind.__name__}):\n{doc}"
    (folder / f"{CODE}.py").write_text(code, encoding="utf-8")


def _parts(network: PreTrainedModel, pruning: Pruning) -> dict[str, Any]:
    """The parts of the base model that differ from the original one."""
    with torch.device("meta"), quiet():
        original: nn.Module = type(network)(network.config).base_model
    base: nn.Module = network.base_model
    maps, numbers, bias = {}, {}, {}
    for path, module in base.named_modules():
        twin = original.get_submodule(path)
        weight, full = getattr(module, "weight", None), getattr(twin, "weight", None)
        if isinstance(weight, nn.Parameter) and isinstance(full, nn.Parameter) and weight.shape != full.shape:
            maps[path] = list(weight.shape)
        if changed := dict(_changed_numbers(module, twin)):
            numbers[path] = changed
    paths = {module: path for path, module in base.named_modules()}
    for attention, kept, heads in zip(attentions(network), pruning.kept, pruning.heads, strict=True):
        parameters = inspect.signature(attention.module.forward).parameters
        if len(kept) < heads and "position_bias" in parameters:
            bias[paths[attention.module]] = list(kept)
    return {"maps": maps, "numbers": numbers, "bias": bias}


def _changed_numbers(module: nn.Module, original: nn.Module) -> Iterator[tuple[str, int]]:
    for name in (*HEADS, *KEY_HEADS, *WIDTHS):
        number = getattr(module, name, None)
        if isinstance(number, int) and number != getattr(original, name, None):
            yield name, number


def _carry_modules(source: Path, folder: Path) -> bool:
    """Copy the modules of sentence-transformers from the model's own folder. Returns: whether it has any."""
    modules = source / "modules.json"
    if not modules.is_file() or source.resolve() == folder.resolve():
        return False
    paths = [str(entry.get("path", "")) for entry in json.loads(modules.read_text(encoding="utf-8"))]
    for path in filter(None, paths):
        if Path(path).name == path and (source / path).is_dir():
            shutil.copytree(source / path, folder / path, ignore=shutil.ignore_patterns("*.bin", "*.py", "*.pkl"))
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    return True


def _limit_length(path: Path, tokens: int) -> None:
    """Lower the longest input of sentence-transformers to that of the model."""
    if path.is_file():
        options = json.loads(path.read_text(encoding="utf-8"))
        if (options.get("max_seq_length") or 0) > tokens:
            path.write_text(json.dumps(options | {"max_seq_length": tokens}, indent=2) + "\n", encoding="utf-8")


def card(model: Model, pruning: Pruning | None, classes: Sequence[str], *, carried: bool, notes: str) -> str:
    """Markdown with the header of a Hugging Face model card, for a folder that these Auto classes load.

    * `carried`: the folder has modules of sentence-transformers; `notes`: further Markdown, such as scores.
    """
    tags = ["headscope", *(["pruned"] if pruning else []), *(["sentence-transformers"] if carried else [])]
    used = next((task for end, task in PIPELINES.items() if type(model.network).__name__.endswith(end)), "")
    header = [
        *("---", f"library_name: {'sentence-transformers' if carried else 'transformers'}"),
        f"pipeline_tag: {used or ('sentence-similarity' if carried else 'feature-extraction')}",
        *_of_original(model),
        *("tags:", *(f"- {tag}" for tag in tags), "---", ""),
    ]
    kind = model.network.config.model_type
    body = [f"# {'Pruned' if pruning else 'Saved'} model ({kind})", ""]
    if pruning:
        body += [*_removed(pruning), ""]
    body += _labels(model)
    if notes:
        body += [notes, ""]
    return "\n".join([*header, *body, *_usage(classes, pruned=bool(pruning), carried=carried)]) + "\n"


def _of_original(model: Model) -> list[str]:
    """Lines of a card: the name of the original model on the hub, and the licence and the language of its own card."""
    text = ""
    with suppress(OSError):  # it has no card, or none that may be read
        text = (Path(str(model.network.name_or_path)) / "README.md").read_text(encoding="utf-8", errors="replace")
    front = text.split("---")[1] if text.startswith("---") else ""
    name = HUB_ID if model.name == "minilm" else model.name if model.revision else ""
    stated = [line[0].rstrip() for field in STATED if (line := field.search(front))]
    return [*([f"base_model: {name}"] if name else []), *stated]


def _removed(pruning: Pruning) -> list[str]:
    total, left = sum(pruning.heads), sum(map(len, pruning.kept))
    lost = pruning.as_config()["removed"]
    rows = [
        [str(layer), str(heads), ", ".join(map(str, lost.get(str(layer), []))) or "none"]
        for layer, heads in enumerate(pruning.heads, start=1)
    ]
    titles = ["layer", "heads of the original model", "removed heads"]
    if pruning.neurons is not None:
        titles.append("neurons that stay")
        rows = [[*row, f"{number:,}"] for row, number in zip(rows, pruning.neurons, strict=True)]
    return [
        f"{total - left} of {total} attention heads were removed from the weights ({1 - left / total:.0%}).",
        "Layers and heads are numbered from 1, heads as in the original model.",
        "",
        *markdown_table(titles, rows),
    ]


def _labels(model: Model) -> list[str]:
    """The names of the outputs of a model with a task head."""
    names: Any = model.network.config.id2label or {}
    if model.network.base_model is model.network or not names:
        return []
    return ["## Labels", "", *(f"{number}. {plain(str(names[number]))}" for number in sorted(names)), ""]


def _usage(classes: Sequence[str], *, pruned: bool, carried: bool) -> list[str]:
    code = ", trust_remote_code=True" if pruned else ""
    lines = ["## Use", "", "```python"]
    if classes or not pruned:
        lines += ["from transformers import AutoModel", f'model = AutoModel.from_pretrained("FOLDER"{code})', ""]
    if carried:
        lines += [
            "from sentence_transformers import SentenceTransformer",
            f'model = SentenceTransformer("FOLDER"{code})',
            "",
        ]
    return [*lines, "import headscope", 'model = headscope.load("FOLDER")', "```"]
