"""The model card of a saved folder: removed heads, labels, scores and size."""

from collections.abc import Sequence
from typing import Any

from headscope.models.model import Model
from headscope.models.pruned_checkpoint import Pruning
from headscope.results.hub import plain


def card(model: Model, pruning: Pruning | None, classes: Sequence[str], *, carried: bool, notes: str) -> str:
    """Markdown with the header of a Hugging Face model card.

    * `classes`: Auto classes that load the folder.
    * `carried`: the folder has modules of sentence-transformers.
    * `notes`: further Markdown, such as scores.
    """
    tags = ["headscope", *(["pruned"] if pruning else []), *(["sentence-transformers"] if carried else [])]
    header = ["---", "library_name: transformers", "tags:", *(f"- {tag}" for tag in tags), "---", ""]
    kind = model.network.config.model_type
    body = [f"# {'Pruned' if pruning else 'Saved'} model ({kind})", ""]
    if pruning:
        body += [*_removed(pruning), ""]
    body += _labels(model)
    if notes:
        body += [notes, ""]
    return "\n".join([*header, *body, *_usage(classes, pruned=bool(pruning), carried=carried)]) + "\n"


def _removed(pruning: Pruning) -> list[str]:
    total, left = sum(pruning.heads), sum(map(len, pruning.kept))
    rows = [
        f"| {layer} | {heads} | {', '.join(str(head) for head in lost) or 'none'} |"
        for layer, heads in enumerate(pruning.heads, start=1)
        for lost in [pruning.as_config()["removed"].get(str(layer), [])]
    ]
    return [
        f"{total - left} of {total} attention heads were removed from the weights ({1 - left / total:.0%}).",
        "Layers and heads are numbered from 1, as in the original model.",
        "",
        "| layer | heads of the original model | removed heads |",
        "| --- | --- | --- |",
        *rows,
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
