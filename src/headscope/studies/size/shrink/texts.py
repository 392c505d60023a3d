"""The texts by their use, and their labels: those of a task, or what the whole model answers.

The search and the training read some texts, and others only score. Without a task a classifier has to answer texts as
before: its answers are their labels (pseudo-labels, Lee 2013).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from headscope.corpora import Corpus
from headscope.corpora.corpus import joint_corpus
from headscope.corpora.tasks import Task, TaskKind
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model
from headscope.models.prediction_heads import has_task_head, is_cross_encoder, refuse_without_words_head, with_task_head
from headscope.outputs.label_order import in_model_order
from headscope.outputs.losses import refuse_non_finite
from headscope.outputs.outputs import logits
from headscope.outputs.task_inputs import refuse_other_head
from headscope.passes import Settings
from headscope.report.wording import several
from headscope.studies.size.shrink.scores import Outputs

# Shares of the texts that score, and of the others that say when to end the training.
HELD_OUT, STOPPING = 0.2, 0.1
NAME, INSTEAD = "pseudo-labels", "its embeddings are judged instead; name its task with --task"
METRICS = {
    "classification": ("class_agreement", "macro_f1_agreement"),
    "regression": ("pearson_agreement", "spearman_agreement"),
}


@dataclass(frozen=True)
class Splits:
    """Examples by their use.

    * `training`: the search measures parts on them, and the smaller model is trained on them.
    * `stopping`: choose the epoch of the training.
    * `held_out`: score; nothing is chosen on them. `units`: the number of what is resampled as a whole, for each.
    * `left_out`: how many texts of the corpus were left out or cut, by reason.
    """

    training: tuple[Example, ...]
    stopping: tuple[Example, ...]
    held_out: tuple[Example, ...]
    units: tuple[int, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def judged_by(model: Model, task: Task | None, corpus: Corpus, settings: Settings) -> tuple[Model, Task | None]:
    """The whole model, and the task by whose outputs it is judged; None for the embeddings of texts.

    Without a task a model with a head for classes or scores has to answer the texts of the corpus as before, if it
    gives one answer to a text; else its embeddings are judged, which is said.

    Raises `HeadscopeError` for a model of another task, and for single texts of a cross-encoder.
    """
    if task is not None and task.kind == "words":
        refuse_without_words_head(model)
    if task is not None:
        return model, in_model_order(task, model)
    if not has_task_head(model):
        return model, None
    model = with_task_head(model)
    if is_cross_encoder(model):
        refuse_other_segments(f"model '{model.name}', a cross-encoder,", corpus, paired=True)
    config: Any = model.network.config
    labels = tuple(str(config.id2label[number]) for number in sorted(config.id2label))
    many = config.problem_type == "regression" and len(labels) > 1
    if config.problem_type == "multi_label_classification" or many or len(set(labels)) < len(labels):
        settings.on_notice(f"model '{model.name}' gives several answers, or classes of one name: {INSTEAD}")
        return model, None
    kind: TaskKind = "classification" if len(labels) > 1 else "regression"
    labels = labels if len(labels) > 1 else ()
    return model, Task(name=NAME, kind=kind, labels=labels, metrics=METRICS[kind], dev=corpus, pseudo_labelled=True)


def task_texts(model: Model, corpus: Corpus, task: Task | None, settings: Settings) -> tuple[Task | None, Splits]:
    """The task with the texts that score, and all texts by their use, see `split`.

    A task of words has texts alone: embeddings are judged, and the loss of words is said.

    Texts that have the whole model's answers as labels cannot show what it loses if it gives all the same answer: then
    its embeddings are judged, without a task, which is said.
    """
    if task is None or not task.pseudo_labelled:
        texts = split(model, corpus, task, settings.seed)
        return (None if task and task.kind == "words" else task), texts
    plain = split(model, corpus, None, settings.seed)
    names = ("training", "stopping", "held_out")
    texts = replace(plain, **{name: _with_answers(model, task, getattr(plain, name), settings) for name in names})
    if len({example.label for example in texts.held_out}) < 2:
        settings.on_notice(f"model '{model.name}' gives all held-out texts the same answer: {INSTEAD}")
        return None, plain
    held_out = Corpus(corpus.name, corpus.sha256, len(texts.held_out), {}, partial(iter, texts.held_out))
    return replace(task, dev=held_out), texts


def split(model: Model, corpus: Corpus, task: Task | None, seed: int) -> Splits:
    """Split texts by the seed; with a task its train split is searched on, or other texts, and its dev split scores.

    * `corpus`: the texts; beside a task its dev split for none of one's own.

    Raises `HeadscopeError` for a task without a train split, fewer than two texts, and texts beside a task of pairs.
    """
    if task is not None and corpus is task.dev:
        if task.train is None:
            raise HeadscopeError(
                f"task '{task.name}' has no held-out data: its one split cannot both choose and score; "
                "add a train split to its folder (train.tsv), or name texts of your own to search on"
            )
        texts, left_out = tuple(task.train), Counter[str]()
    else:
        texts, left_out = _own_texts(model, corpus, task)
    if task is not None:
        training, stopping = _parted(texts, STOPPING, seed)
        return Splits(training, stopping or training, tuple(task.dev), tuple(task.dev.units), left_out)
    rest, held_out = _parted(texts, HELD_OUT, seed, least=1)
    training, stopping = _parted(rest, STOPPING, seed + 1)
    return Splits(training, stopping or training, held_out, tuple(range(len(held_out))), left_out)


def _own_texts(model: Model, corpus: Corpus, task: Task | None) -> tuple[tuple[Example, ...], Counter[str]]:
    """The texts of a corpus that a model can read and a task does not score, and how many are left out or cut.

    Raises `HeadscopeError` for fewer than two, single texts beside a task of pairs, and pairs beside one of texts.
    """
    words = Words(model.tokenizer, model.max_tokens, "truncate")
    texts = tuple(example for example, parts in words.tokenized(corpus) if parts)
    left_out = Counter(corpus.skipped) + words.counts
    if task is not None:
        scored, number = set(map(_segment_texts, task.dev)), len(texts)
        refuse_other_segments(f"task '{task.name}'", texts, paired=len(next(iter(scored))) == 2)
        texts = tuple(example for example in texts if _segment_texts(example) not in scored)
        left_out += Counter({"in the dev split": number - len(texts)})
    if len(texts) < 2:
        reasons = "".join(f", {number} {reason}" for reason, number in left_out.items() if reason != "truncated")
        others = "score" if task is None else "choose the epoch"
        raise HeadscopeError(
            f"corpus '{corpus.name}' has {several(len(texts), 'text').lower()} that the model can read{reasons}; "
            f"at least 2 are needed: some are searched on, and others {others}"
        )
    return texts, left_out


def refuse_other_segments(reader: str, texts: Iterable[Example], *, paired: bool) -> None:
    """Raise `HeadscopeError` for single texts where pairs are read, and for pairs where single texts are."""
    odd = next((example for example in texts if bool(example.second) != paired), None)
    if odd is not None:
        read, expected = ("pairs of texts", "a single text") if paired else ("single texts", "a pair of texts")
        raise HeadscopeError(
            f"{reader} reads {read}, example '{odd.id}' is {expected}; name a table, such as own.tsv, and its columns, "
            f"with --columns {'FIRST,SECOND' if paired else 'TEXT'}"
        )


def _segment_texts(example: Example) -> tuple[str, ...]:
    return tuple(map(segment_text, example.segments))


def _parted(
    examples: tuple[Example, ...], share: float, seed: int, least: int = 0
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """A seeded share of the examples, `least` or more, and before it the rest."""
    order = np.random.default_rng(seed).permutation(len(examples))
    chosen = set(order[: max(least, round(share * len(examples)))].tolist())
    rest = tuple(example for index, example in enumerate(examples) if index not in chosen)
    return rest, tuple(example for index, example in enumerate(examples) if index in chosen)


def _with_answers(model: Model, task: Task, examples: Sequence[Example], settings: Settings) -> tuple[Example, ...]:
    """The examples, each with the whole model's answer as its label: the class of the largest output, or the score."""
    outputs = task_outputs(model, task, encode(model, examples), settings)
    refuse_non_finite(model.name, torch.from_numpy(outputs))
    if task.kind == "classification":
        labels = [task.labels[number] for number in outputs.argmax(-1).tolist()]
    else:
        labels = outputs[:, 0].tolist()
    return tuple(replace(example, label=label) for example, label in zip(examples, labels, strict=True))


def task_outputs(model: Model, task: Task, inputs: Sequence[Encoded], settings: Settings) -> Outputs:
    """The outputs of a task head for inputs that are numbered from 0.

    Raises `HeadscopeError` for a task head of another kind.
    """
    outputs = logits(model, inputs, settings.quiet)
    refuse_other_head(torch.from_numpy(outputs), task.kind, model.name)
    return outputs


def encode(model: Model, examples: Sequence[Example]) -> list[Encoded]:
    """Each example as one input, cut to the length of the model.

    Raises `HeadscopeError` if one has no token, or is a pair that cannot be cut to this length.
    """
    inputs = list(Words(model.tokenizer, model.max_tokens, "truncate").encode(examples))
    if len(inputs) < len(examples):
        raise HeadscopeError(
            f"{len(examples) - len(inputs)} of {len(examples)} texts cannot be cut to {model.max_tokens} tokens; "
            "leave pairs of long texts out"
        )
    return inputs


def corpus_read(corpus: Corpus, task: Task | None) -> Corpus:
    """The corpus for the provenance: with texts of one's own beside a task they and the dev split."""
    if task is None or task.pseudo_labelled or corpus is task.dev:
        return corpus
    return joint_corpus([corpus, task.dev])


def text_facts(corpus: Corpus, task: Task | None, texts: Splits) -> dict[str, Any]:
    """What the page says of texts of one's own for a task; nothing where there are none.

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
