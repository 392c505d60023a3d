"""Numbers of heads: what a pass over a treebank gives of each of its sentences."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from benchmarks.coverage.numbers import Numbers, Sums, from_zero

from headscope import Corpus, Model, catalog
from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example
from headscope.measures import SURFACE
from headscope.outputs.gradient_importance import frozen
from headscope.outputs.losses import collated
from headscope.passes import Settings
from headscope.passes.batches import by_length, collator
from headscope.passes.forward import observing
from headscope.passes.observing import MeasureObserver
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.heads.clusters.observer import DivergenceObserver
from headscope.studies.heads.relations.link_kinds import links_of
from headscope.studies.heads.relations.observer import LinkObserver
from headscope.studies.heads.syntax.observer import DependencyObserver
from headscope.studies.heads.trees.observer import TreeObserver, means_of
from headscope.studies.heads.trees.scores import DISTANCES, ROOTS, SPECIAL_TOKENS
from headscope.studies.words.gradients.attention_gradients import Sizes
from headscope.studies.words.gradients.objectives import objective_of

RELATIONS = ("det", "nsubj", "obj", "advmod")
CLASSES = ("sep", "other")
BEST, LEFT_OUT, HELLINGER = ROOTS.index("best"), SPECIAL_TOKENS.index("left_out"), DISTANCES.index("hellinger")
Group = list[Encoded]
# A number, its sums of a sentence by head, the cases of these, and the number of the sentence.
Row = tuple[str, np.ndarray, int, int]
Read = Callable[[Model, Iterable[Group]], Iterator[Row]]


def measured(read: Read, model: Model, corpus: Corpus, shares: bool = False) -> Numbers:
    """The numbers of a study; those of `shares` are of cases that are right or wrong."""
    rows: Mapping[str, list[Row]] = defaultdict(list)
    for row in read(model, groups_of(model, corpus)):
        rows[row[0]].append(row)
    by_name = {name: _sums(some, corpus.n_examples, shares and "f1" not in name) for name, some in rows.items()}
    return Numbers(from_zero(corpus.units), by_name)


def groups_of(model: Model, corpus: Corpus) -> list[Group]:
    """The sentences of a corpus in batches, with their dependencies as links."""
    words = Words(model.tokenizer, model.max_tokens, aligned=True, by_document=True)
    return list(by_length(words.encode(_with_links(corpus)), Settings().batch_tokens))


def _sums(rows: list[Row], sentences: int, share: bool) -> Sums:
    totals, cases = np.zeros((sentences, len(rows[0][1]))), np.zeros(sentences, dtype=np.int64)
    for _, total, number, sentence in rows:
        totals[sentence] += total
        cases[sentence] += number
    return Sums(totals, cases, share)


def _with_links(corpus: Corpus) -> Corpus:
    def linked(example: Example) -> Example:
        return replace(
            example,
            first=tuple(replace(sentence, links=links_of(sentence, "dependency")) for sentence in example.first),
        )

    return replace(corpus, again=lambda: map(linked, corpus))


def of_values(name: str, found: Values, group: Group, at: int = 0) -> Iterator[Row]:
    """A row for each example of a group that has a statistic, of which each head has one value of several."""
    values = found.values.double().flatten(2) if found.values.dim() > 2 else found.values.double()[..., None]
    valid = found.valid.reshape(len(group), -1)
    for row, encoded in enumerate(group):
        if valid[row, min(at, valid.shape[1] - 1)]:
            yield name, values[row, :, at].numpy(), 1, encoded.index


def profile(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    """The first value of each measure of a profile."""
    observer = MeasureObserver({name: catalog.load("measures", name) for name in SURFACE})
    with observing(model, observer) as observe:
        for group in groups:
            for name, found in observe(group).items():
                yield from of_values(f"profile: {name}", found, group)


def clusters(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    """Divergences of all pairs of heads."""
    with observing(model, DivergenceObserver(model.capture.heads)) as observe:
        for group in groups:
            yield from of_values("clusters: divergence", observe(group)["divergence"], group)


def syntax(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    """Accuracies of some relations."""
    with observing(model, DependencyObserver()) as observe:
        for group in groups:
            found = observe(group)
            for relation in RELATIONS:
                here = found[found.relation == relation]
                for sentence in np.unique(here.input).tolist():
                    right = here[here.input == sentence].shares[..., 0]
                    yield f"syntax: {relation}", right.sum(0), len(right), sentence


def trees(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    """Shares of words with the right head, and F1 where there are phrases."""
    heads = sum(model.capture.heads)
    with observing(model, TreeObserver(means_of(model.capture.heads)[:heads])) as observe:
        for group in groups:
            found = observe(group)
            right, f1 = found.uas[:, :, 0, LEFT_OUT, BEST], found.f1[:, :, HELLINGER, LEFT_OUT]
            for row, (words, sentence) in enumerate(zip(found.words, found.input, strict=True)):
                if words:
                    yield "trees: uas", right[row].astype(float), int(words), int(sentence)
                if found.bracketed[row]:
                    yield "trees: f1", f1[row].astype(float), 1, int(sentence)


def relations(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    """The largest attention of links of some relations."""
    with observing(model, LinkObserver()) as observe:
        for group in groups:
            found = observe(group)
            for row in np.flatnonzero(np.isin(found.relation, RELATIONS)):
                largest = found.linked[row, :, 0].astype(float)
                yield f"relations: {found.relation[row]}", largest, 1, int(found.input[row])


def gradients(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    """Of the loss of sentence embeddings, which needs no head for words."""
    objective = objective_of(model, Corpus("", "", 0, {}, partial(iter, [])))
    sizes, collate = Sizes(model.capture.heads, torch.float32), collator(model)
    with frozen(model.network), model.intervened(sizes):
        for group in groups:
            questions, answers = zip(*map(objective.question, group), strict=True)
            batch = collate(list(questions))
            sizes.start(batch)
            loss, has_answer = objective.loss(model.network, batch, collated(answers, model.device))
            loss.sum().backward()
            found = sizes.finish(has_answer)["gradient"]
            for name in CLASSES:
                yield from of_values(f"gradients: {name}", found, group, TOKEN_CLASSES.index(name))
