"""Pseudo-labels (Lee 2013): what the whole model answers, in the place of labels that texts do not have."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from headscope.corpora import Corpus
from headscope.corpora.corpus import joint_corpus
from headscope.corpora.tasks import Task, TaskKind
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.models.task_head import is_cross_encoder, with_task_head
from headscope.outputs.label_order import in_model_order
from headscope.outputs.losses import refuse_non_finite
from headscope.passes import Settings
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.splits import Splits, encode, refuse_other_segments, split

NAME, KEY = "pseudo-labels", "pseudo_labels"
METRICS = {
    "classification": ("class_agreement", "macro_f1_agreement"),
    "regression": ("pearson_agreement", "spearman_agreement"),
}


def judged_by(model: Model, task: Task | None, corpus: Corpus, *, pseudo_labels: bool) -> tuple[Model, Task | None]:
    """The whole model, and the task by whose outputs it is judged; None for the embeddings of texts.

    * `pseudo_labels`: the task is to answer the texts of the corpus as the whole model does.

    Raises `HeadscopeError` for a model of another task, and for pseudo-labels beside a task or without a task head.
    """
    if task is not None:
        if pseudo_labels:
            raise HeadscopeError(
                f"task '{task.name}' has labels of its own, and these count; leave it or --pseudo-labels out"
            )
        return model, in_model_order(task, model)
    if not pseudo_labels:
        return model, None
    model = with_task_head(model)
    if is_cross_encoder(model):
        refuse_other_segments(f"model '{model.name}', a cross-encoder,", corpus, paired=True)
    kind, labels = _outputs(model)
    return model, Task(
        name=NAME, kind=kind, labels=labels, metrics=METRICS[kind], dev=corpus, pseudo_labelled=("train", "dev")
    )


def _outputs(model: Model) -> tuple[TaskKind, tuple[str, ...]]:
    """Whether a model answers with a class or a score, and the classes in the order of its outputs."""
    config: Any = model.network.config
    labels = tuple(str(config.id2label[number]) for number in sorted(config.id2label))
    if config.problem_type == "multi_label_classification" or (config.problem_type == "regression" and len(labels) > 1):
        raise HeadscopeError(
            f"model '{model.name}' gives several answers to a text ({config.problem_type}), and pseudo-labels are one; "
            "leave --pseudo-labels out to judge its embeddings"
        )
    if len(labels) == 1:
        return "regression", ()
    name, number = Counter(labels).most_common(1)[0]
    if number > 1:
        raise HeadscopeError(
            f"model '{model.name}' has {number} classes '{name}'; rename them in config.json (id2label)"
        )
    return "classification", labels


def labelled_splits(
    model: Model, corpus: Corpus, task: Task | None, settings: Settings, max_tokens: int | None
) -> tuple[Task | None, Splits]:
    """The texts by their use, see `split`; those that have no labels for the task get the whole model's answers.

    Returns: the task with these texts, and the splits.

    Raises `HeadscopeError` if the whole model answers all of them alike.
    """
    if task is None or (corpus is task.dev and not task.pseudo_labelled):
        return task, split(model, corpus, task, settings.seed, max_tokens)
    scores = "dev" in task.pseudo_labelled
    texts = split(model, corpus, None if scores else task, settings.seed, max_tokens)
    label = partial(_with_answers, model, task, settings=settings)
    texts = replace(texts, training=label(texts.training), stopping=label(texts.stopping))
    if scores:
        texts = replace(texts, held_out=label(texts.held_out))
        _refuse_one_answer(corpus, texts.held_out, "held-out texts")
        task = replace(task, dev=_corpus(corpus, texts.held_out))
    _refuse_one_answer(corpus, own_texts(task, texts), "texts")
    train = _corpus(corpus, (*texts.training, *texts.stopping))
    return replace(task, train=train, pseudo_labelled=task.pseudo_labelled or ("train",)), texts


def corpus_read(corpus: Corpus, task: Task | None) -> Corpus:
    """The corpus for the provenance: with texts of one's own beside a task they and the dev split."""
    if task is None or task.pseudo_labelled != ("train",):
        return corpus
    return joint_corpus([corpus, task.dev])


def own_texts(task: Task, texts: Splits) -> tuple[Example, ...]:
    """The texts that have pseudo-labels."""
    stopping = () if texts.stopping == texts.training else texts.stopping
    return (*texts.training, *stopping, *(texts.held_out if "dev" in task.pseudo_labelled else ()))


def facts(task: Task | None, texts: Splits) -> dict[str, Any]:
    """What the page says of pseudo-labels; nothing where there are none.

    * `splits`: that have them; `texts`: how many texts these are, or pairs if `paired`; `left_out`: how many more were
      left out or cut.
    * `answers`: how often each class is the answer, in those that score if these have pseudo-labels, else in all.
    * `unanswered`: the classes that are no answer to any text.
    """
    if task is None or not task.pseudo_labelled:
        return {}
    own = own_texts(task, texts)
    counted = Counter(str(example.label) for example in (texts.held_out if "dev" in task.pseudo_labelled else own))
    unanswered = set(task.labels) - {str(example.label) for example in own}
    return {
        KEY: {
            "splits": list(task.pseudo_labelled),
            "texts": len(own),
            "paired": bool(own[0].second),
            "left_out": dict(texts.left_out),
            "answers": {name: counted[name] for name in task.labels},
            "unanswered": [name for name in task.labels if name in unanswered],
        }
    }


def _with_answers(model: Model, task: Task, examples: Sequence[Example], settings: Settings) -> tuple[Example, ...]:
    """The examples, each with the whole model's answer as its label: the class of the largest output, or the score."""
    outputs = answers_of(model, task).of(model, encode(model, examples), settings)
    refuse_non_finite(model.name, torch.from_numpy(outputs))
    if task.kind == "classification":
        labels = [task.labels[number] for number in outputs.argmax(-1).tolist()]
    else:
        labels = outputs[:, 0].tolist()
    return tuple(replace(example, label=label) for example, label in zip(examples, labels, strict=True))


def _refuse_one_answer(corpus: Corpus, examples: Sequence[Example], which: str) -> None:
    if len({example.label for example in examples}) < 2:
        raise HeadscopeError(
            f"corpus '{corpus.name}': the whole model answers all {len(examples)} {which} with "
            f"'{examples[0].label}', so they cannot show what it loses; add texts that it answers otherwise"
        )


def _corpus(corpus: Corpus, examples: tuple[Example, ...]) -> Corpus:
    """Some texts of a corpus, held in memory."""
    return Corpus(corpus.name, corpus.sha256, len(examples), {}, partial(iter, examples))
