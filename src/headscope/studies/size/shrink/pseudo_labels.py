"""Pseudo-labels (Lee 2013): texts whose labels are what the whole model answers, as the splits of a task."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from headscope.corpora import Corpus
from headscope.corpora.corpus import joint_corpus
from headscope.corpora.tasks import Task, TaskKind
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.models.words_head import has_task_head, is_cross_encoder, with_task_head
from headscope.outputs.label_order import in_model_order
from headscope.outputs.losses import refuse_non_finite
from headscope.passes import Settings
from headscope.studies.size.shrink.answers import TaskAnswers
from headscope.studies.size.shrink.splits import Splits, encode, refuse_other_segments, split

NAME, INSTEAD = "pseudo-labels", "its embeddings are judged instead; name its task with --task"
METRICS = {
    "classification": ("class_agreement", "macro_f1_agreement"),
    "regression": ("pearson_agreement", "spearman_agreement"),
}


def judged_by(model: Model, task: Task | None, corpus: Corpus, settings: Settings) -> tuple[Model, Task | None]:
    """The whole model, and the task by whose outputs it is judged; None for the embeddings of texts.

    Without a task a model with a head for classes or scores has to answer the texts of the corpus as before, if it
    gives one answer to a text; else its embeddings are judged, which is said.

    Raises `HeadscopeError` for a model of another task, and for single texts of a cross-encoder.
    """
    if task is not None:
        return model, in_model_order(task, model)
    if not has_task_head(model):
        return model, None
    model = with_task_head(model)
    if is_cross_encoder(model):
        refuse_other_segments(f"model '{model.name}', a cross-encoder,", corpus, paired=True)
    config: Any = model.network.config
    labels = tuple(str(config.id2label[number]) for number in sorted(config.id2label))
    several = config.problem_type == "regression" and len(labels) > 1
    if config.problem_type == "multi_label_classification" or several or len(set(labels)) < len(labels):
        settings.on_notice(f"model '{model.name}' gives several answers, or classes of one name: {INSTEAD}")
        return model, None
    kind: TaskKind = "classification" if len(labels) > 1 else "regression"
    labels = labels if len(labels) > 1 else ()
    return model, Task(name=NAME, kind=kind, labels=labels, metrics=METRICS[kind], dev=corpus, pseudo_labelled=True)


def task_texts(model: Model, corpus: Corpus, task: Task | None, settings: Settings) -> tuple[Task | None, Splits]:
    """The task with the texts that score, and all texts by their use, see `split`.

    Texts that have the whole model's answers as labels cannot show what it loses if it answers them all alike: then
    its embeddings are judged, without a task, which is said.
    """
    if task is None or not task.pseudo_labelled:
        return task, split(model, corpus, task, settings.seed)
    plain = split(model, corpus, None, settings.seed)
    names = ("training", "stopping", "held_out")
    texts = replace(plain, **{name: _with_answers(model, task, getattr(plain, name), settings) for name in names})
    if len({example.label for example in texts.held_out}) < 2:
        settings.on_notice(f"model '{model.name}' answers all held-out texts alike: {INSTEAD}")
        return None, plain
    held_out = Corpus(corpus.name, corpus.sha256, len(texts.held_out), {}, partial(iter, texts.held_out))
    return replace(task, dev=held_out), texts


def corpus_read(corpus: Corpus, task: Task | None) -> Corpus:
    """The corpus for the provenance: with texts of one's own beside a task they and the dev split."""
    if task is None or task.pseudo_labelled or corpus is task.dev:
        return corpus
    return joint_corpus([corpus, task.dev])


def facts(corpus: Corpus, task: Task | None, texts: Splits) -> dict[str, Any]:
    """What the page says of texts of one's own for a task; nothing where there are none.

    * `texts`: how many texts these are, or pairs if `paired`; `left_out`: how many more were left out or cut.
    * `answers`: of pseudo-labels, how often each class is the answer to texts that score.
    * `unanswered`: the classes that are no answer to any text.
    """
    if task is None or corpus is task.dev:
        return {}
    labelled = (*texts.training, *(() if texts.stopping == texts.training else texts.stopping))
    labelled += texts.held_out if task.pseudo_labelled else ()
    said = {"texts": len(labelled), "paired": bool(labelled[0].second), "left_out": dict(texts.left_out)}
    if not task.pseudo_labelled:
        return {"own_texts": said}
    counted = Counter(str(example.label) for example in texts.held_out)
    answered = {str(example.label) for example in labelled}
    said |= {"answers": {name: counted[name] for name in task.labels}}
    return {"pseudo_labels": said | {"unanswered": [name for name in task.labels if name not in answered]}}


def _with_answers(model: Model, task: Task, examples: Sequence[Example], settings: Settings) -> tuple[Example, ...]:
    """The examples, each with the whole model's answer as its label: the class of the largest output, or the score."""
    outputs = TaskAnswers(task).of(model, encode(model, examples), settings)
    refuse_non_finite(model.name, torch.from_numpy(outputs))
    if task.kind == "classification":
        labels = [task.labels[number] for number in outputs.argmax(-1).tolist()]
    else:
        labels = outputs[:, 0].tolist()
    return tuple(replace(example, label=label) for example, label in zip(examples, labels, strict=True))
