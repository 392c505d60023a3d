"""Sums of each sentence of a treebank, from which numbers of studies are made, in one pass a study."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int

from headscope import Corpus, Model, catalog
from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example
from headscope.outputs.gradient_importance import frozen
from headscope.outputs.losses import collated
from headscope.passes import Settings
from headscope.passes.batches import by_length, collator
from headscope.passes.forward import Forward, observing
from headscope.passes.observing import MeasureObserver
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.studies.geometry.hidden_pass import averages, is_word
from headscope.studies.geometry.mean_cosine import between
from headscope.studies.geometry.samples import of_length_one
from headscope.studies.gradients.attention_gradients import Sizes
from headscope.studies.gradients.objectives import objective_of
from headscope.studies.relations.link_kinds import links_of
from headscope.studies.relations.observer import LinkObserver
from headscope.studies.syntax.observer import DependencyObserver
from headscope.studies.trees.observer import TreeObserver
from headscope.studies.trees.scores import DISTANCES, ROOTS, SPECIAL_TOKENS

MEASURES = ("entropy", "attention_to")
RELATIONS = ("det", "nsubj", "obj", "advmod")
CLASSES = ("sep", "other")
BEST, LEFT_OUT, HELLINGER = ROOTS.index("best"), SPECIAL_TOKENS.index("left_out"), DISTANCES.index("hellinger")
COSINES = "geometry: anisotropy"
Group = list[Encoded]
# A number, its sums of a sentence by head (or layer), the cases of these, and the number of the sentence.
Row = tuple[str, np.ndarray, int, int]


@dataclass(frozen=True)
class Sums:
    """Of one number: the sums and the numbers of cases of each sentence that has it."""

    totals: Float[np.ndarray, "row *dims"]
    cases: Int[np.ndarray, " row"]
    sentence: Int[np.ndarray, " row"]

    def resampled(
        self, draws: Float[np.ndarray, "resample sentence"], unit: Int[np.ndarray, " sentence"]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The value [resample, head] in each resample of the sentences, and its number of cases.

        * `unit`: of each sentence the number of what was drawn, its document or itself.
        """
        drawn = draws[:, self.sentence]
        some = drawn.any(0)
        values = self._values(drawn[:, some], self.totals[some], self.cases[some], unit[self.sentence[some]])
        return values, drawn @ self.cases

    def _values(self, draws: np.ndarray, totals: np.ndarray, cases: np.ndarray, unit: np.ndarray) -> np.ndarray:
        return (draws @ totals) / np.maximum(draws @ cases, 1)[:, None]


@dataclass(frozen=True)
class Cosines(Sums):
    """The same of vectors of length 1, whose mean cosine is wanted, over pairs of tokens of different units."""

    def _values(self, draws: np.ndarray, totals: np.ndarray, cases: np.ndarray, unit: np.ndarray) -> np.ndarray:
        _, first, of_row = np.unique(unit, return_index=True, return_inverse=True)
        sums = np.zeros((len(first), *totals.shape[1:]), np.float32)
        np.add.at(sums, of_row, totals)
        return between(sums.swapaxes(0, 1), np.bincount(of_row, cases), draws[:, first])


def measured(model: Model, corpus: Corpus, studies: Iterable[str]) -> dict[str, Sums]:
    """The sums of numbers of some of `STUDIES`."""
    words = Words(model.tokenizer, model.max_tokens, aligned=True, by_document=True)
    groups = list(by_length(words.encode(_with_links(corpus)), Settings().batch_tokens))
    rows: dict[str, list[Row]] = defaultdict(list)
    for study in studies:
        for row in STUDIES[study](model, groups):
            rows[row[0]].append(row)
    return {name: _sums(name, some) for name, some in rows.items()}


def _sums(name: str, rows: list[Row]) -> Sums:
    kind = Cosines if name == COSINES else Sums
    _, totals, cases, sentence = zip(*rows, strict=True)
    return kind(np.stack(totals), np.array(cases), np.array(sentence))


def _with_links(corpus: Corpus) -> Corpus:
    """The corpus with the dependencies of its sentences as links."""

    def linked(example: Example) -> Example:
        return replace(
            example, first=tuple(replace(each, links=links_of(each, "dependency")) for each in example.first)
        )

    return replace(corpus, again=lambda: map(linked, corpus))


def _of_values(name: str, found: Values, group: Group, at: Callable[[np.ndarray], np.ndarray]) -> Iterator[Row]:
    """A row for each example of a group that has a statistic; `at` takes a value a head of those of an example."""
    for row, encoded in enumerate(group):
        if at(np.broadcast_to(found.valid[row][None], found.values[row].shape)).all():
            yield name, at(found.values[row].double().numpy()), 1, encoded.index


def _first(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1)[:, 0]


def _profile(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    observer = MeasureObserver({name: catalog.load("measures", name) for name in MEASURES})
    with observing(model, observer) as observe:
        for group in groups:
            for name, found in observe(group).items():
                yield from _of_values(f"profile: {name}", found, group, _first)


def _syntax(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    with observing(model, DependencyObserver()) as observe:
        for group in groups:
            found = observe(group)
            for relation in RELATIONS:
                here = found[found.relation == relation]
                for sentence in np.unique(here.input).tolist():
                    right = here[here.input == sentence].shares[..., 0]
                    yield f"syntax: {relation}", right.sum(0), len(right), sentence


def _trees(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    heads = sum(model.capture.heads)
    with observing(model, TreeObserver(model.capture.heads)) as observe:
        for group in groups:
            found = observe(group)
            right, f1 = found.uas[:, :heads, 0, LEFT_OUT, BEST], found.f1[:, :heads, HELLINGER, LEFT_OUT]
            for row, (words, sentence) in enumerate(zip(found.words, found.input, strict=True)):
                if words:
                    yield "trees: uas", right[row].astype(float), int(words), int(sentence)
                if found.bracketed[row]:
                    yield "trees: f1", f1[row].astype(float), 1, int(sentence)


def _relations(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    with observing(model, LinkObserver()) as observe:
        for group in groups:
            found = observe(group)
            for row in np.flatnonzero(np.isin(found.relation, RELATIONS)):
                largest = found.linked[row, :, 0].astype(float)
                yield f"relations: {found.relation[row]}", largest, 1, int(found.input[row])


@torch.inference_mode()
def _geometry(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
    read = Forward(model).states
    for group in groups:
        batch, states = read(group)
        among = is_word(batch)
        for name, found in averages(states, among).items():
            yield from _of_values(f"geometry: {name}", found, group, _first)
        for row, encoded in enumerate(group):
            units = of_length_one(states[:, row, among[row]].numpy())  # [space, token, width]
            if units.shape[1]:
                yield COSINES, units.sum(1), units.shape[1], encoded.index


def _gradients(model: Model, groups: Iterable[Group]) -> Iterator[Row]:
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
                place = TOKEN_CLASSES.index(name)
                yield from _of_values(f"gradients: {name}", found, group, lambda values, place=place: values[:, place])


STUDIES: dict[str, Callable[[Model, list[Group]], Iterator[Row]]] = {
    "profile": _profile,
    "syntax": _syntax,
    "trees": _trees,
    "relations": _relations,
    "geometry": _geometry,
    "gradients": _gradients,
}
