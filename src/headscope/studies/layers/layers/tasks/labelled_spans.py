"""Tasks of labelled spans: the corpus has their cases (kinds "spans" and "linear_rule")."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.studies.layers.layers.tasks import ProbeCase, ProbingTask
from headscope.studies.layers.layers.texts import Part, Texts

NAME = "span_label"
MOST_GROUPS = 20
COUNTS = {1: "one span", 2: "two spans"}


def own_tasks(texts: Texts) -> list[ProbingTask]:
    """The task of the labels of all spans, then one for each group of tested spans; none without labelled spans.

    Groups share the training cases of the whole.

    Raises `HeadscopeError` if there are more than 20 groups.
    """
    spans = [span for sentence in texts.sentences for span in sentence.labelled]
    if not spans:
        return []
    is_set = any(len(span.labels) != 1 for span in spans)
    tested = (texts.sentences[number] for number in texts.order["report"])
    groups = sorted({span.group for sentence in tested for span in sentence.labelled} - {""})
    if len(groups) > MOST_GROUPS:
        raise HeadscopeError(f"labelled spans have {len(groups)} groups, at most {MOST_GROUPS} are scored apart")
    words = "label of two spans" if len(spans[0].spans) > 1 else TASK.words
    named = [("", NAME, words)] + [(group, f"{NAME}: {group}", f"{words}: {group}") for group in groups]
    return [
        replace(TASK, name=name, words=words, cases=partial(span_label, group=group, is_set=is_set), is_set=is_set)
        for group, name, words in named
    ]


def span_label(
    texts: Texts, part: Part, random: np.random.Generator, group: str = "", is_set: bool = False
) -> Iterator[ProbeCase]:
    """The label, or set of labels, of each span or pair of spans; of tested ones those of a group."""
    for number in texts.order[part]:
        sentence = texts.sentences[number]
        for span in sentence.labelled:
            if part != "report" or group in ("", span.group):
                word = " ".join(sentence.forms[slice(*span.spans[0])]).lower()
                yield ProbeCase(number, span.spans, span.labels if is_set else span.labels[0], word)


def refuse_mixed_spans(corpora: Sequence[Corpus]) -> None:
    """Raise `HeadscopeError` if one corpus labels single spans, and another one pairs."""
    names: dict[int, str] = {}
    for corpus in corpora:
        sentences = (sentence for example in corpus for sentence in example.sentences)
        if labelled := next((sentence.labelled for sentence in sentences if sentence.labelled), None):
            names.setdefault(len(labelled[0].spans), corpus.name)
    if len(names) > 1:
        said = " and ".join(f"'{name}' has {COUNTS[count]} a line" for count, name in names.items())
        raise HeadscopeError(f"{said}; give both files 'other_span', or none")


TASK = ProbingTask(
    NAME, "label of a span", "labelled spans (--kind spans)", "Tenney et al. 2019, on labels of the corpus", span_label
)
TASKS = (TASK,)
