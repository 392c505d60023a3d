"""The score of embeddings that others quote: similarities of pairs of sentences beside those of people."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.report.wording import Estimate
from headscope.results.tables import markdown_table
from headscope.storage.files import write_atomically
from headscope.studies.size.shrink.judge import EmbeddingJudge, Judge
from headscope.studies.size.shrink.scores import of_task
from headscope.studies.size.shrink.texts import encode

TITLE, METRIC = "## Sentence similarity", "spearman"
NOT_MEASURED = (
    "Not measured. `headscope verify DIR --task stsb --data GLUE` writes here the Spearman correlation on the dev "
    "pairs of STS-B, of this model and of the whole one (DIR is the folder of the result, GLUE that of the data)."
)


def quoted_score(judge: Judge, saved: Model, pairs: Task) -> dict[str, Any]:
    """The Spearman correlation of cosines with labels, on the dev pairs of a task such as STS-B (Cer et al. 2017).

    Embeddings are those of the model's modules, as sentence-transformers makes them. Returns: the task, its number of
    pairs, and of the whole model, of the saved one and of the change the value with its 95% interval, which is paired.

    Raises `HeadscopeError` for a task without pairs of sentences and scores, and a model without embeddings.
    """
    examples = list(pairs.dev)
    if pairs.kind != "regression" or not all(example.second for example in examples):
        raise HeadscopeError(f"task '{pairs.name}' has no scores of pairs of sentences; use stsb, or a table of such")
    if not isinstance(judge, EmbeddingJudge):
        raise HeadscopeError(f"model '{saved.name}' is of a task, not of embeddings; leave out --task")
    sides = [[replace(example, first=example.segments[side], second=()) for example in examples] for side in (0, 1)]
    cosines = []
    for model in (judge.model, saved):
        first, second = (judge.outputs(model, encode(model, sentences)) for sentences in sides)
        cosines.append((first * second).sum(-1, keepdims=True))
    targets, settings = pairs.targets(examples), judge.settings
    scores = of_task(replace(pairs, metrics=(METRIC,)), cosines, targets, settings.seed, settings.resamples)
    before, after = ([float(scores.values[model, 0]), *scores.bounds[model, 0].tolist()] for model in (0, 1))
    change = [float(scores.changes[1, 0]), *scores.change_bounds[1, 0].tolist()]
    values = {"whole_model": before, "saved_model": after, "change": change}
    return {"task": pairs.name, "pairs": len(examples), METRIC: values}


def in_card(folder: Path, quoted: Mapping[str, Any]) -> None:
    """Write the score into the model card of a folder, in the place of an earlier one."""
    rows = [
        (name.replace("_", " "), *Estimate(*values).cell("+.3f" if name == "change" else ".3f"))
        for name, values in quoted[METRIC].items()
    ]
    words = "Spearman correlation of the cosine of two sentences with their label"
    text = f"{words}, {quoted['pairs']:,} dev pairs of {quoted['task']}."
    section = [TITLE, "", text, "", *markdown_table(["", "Spearman", "95% interval"], rows), "", ""]
    path = folder / "README.md"
    card = path.read_text(encoding="utf-8") if path.is_file() else ""
    start = card.find(TITLE) if TITLE in card else len(card)
    end = card.find("\n## ", start) + 1 or len(card)
    write_atomically(path, card[:start] + "\n".join(section) + card[end:])
