"""Amnesic probing (Elazar, Ravfogel et al. 2021): the loss of words of a model whose states lose a property.

The model goes on from states that have lost it at all tokens but special ones. As many random directions, those of
shuffled answers, are removed for comparison. Whether classifiers still read it is tested on sentences that the erasers
have not seen.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.attention_switch import fast
from headscope.capture.layer_stack import Stack, instead, stack
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.outputs.losses import log_probabilities
from headscope.outputs.words.few_tokens import by_head
from headscope.outputs.words.read_texts import ReadTexts, chosen_texts
from headscope.passes.settings import Settings
from headscope.statistics.intervals import Score
from headscope.studies.layers.layers.erasers import Eraser, whitening
from headscope.studies.layers.layers.features import ClassifierSettings
from headscope.studies.layers.layers.groups import CaseGroup, Units, grouped, with_vectors
from headscope.studies.layers.layers.measure import UnitDraws, score
from headscope.studies.layers.layers.sampling import TaskCases, named
from headscope.studies.layers.layers.texts import Part, Texts
from headscope.studies.layers.layers.train import train
from headscope.studies.layers.layers.unit_states import UnitStates

DRAWS = 5
States = Float[Tensor, "row token width"]


@dataclass(frozen=True)
class Erasers:
    """The erasers of a task by space: of its property, then of shuffled answers; and what classifiers read of both.

    * `before`, `after`: scores on tested sentences, by classifiers that are trained on other tested sentences.
    """

    by_space: Sequence[Sequence[Eraser]]
    before: Score
    after: Score


@dataclass(frozen=True)
class Removal:
    """The loss of words before a task's property is removed, and what each removal adds to it, by space, in nats."""

    erasers: Erasers
    loss: Score
    harm: Score
    harm_random: Float[np.ndarray, "draw space"]


def removable(names: str, sampled: Sequence[TaskCases]) -> list[TaskCases]:
    """The tasks of a list such as "part_of_speech,tense" whose property can be removed: of words, with classes.

    Raises `HeadscopeError` for another one.
    """
    possible = {
        cases.task.name: cases
        for cases in sampled
        if cases.classes
        and not (cases.task.is_set or cases.task.is_sense)
        and all(case.spans for case in cases.cases["train"])
    }
    wanted = [task.name for task in named(names)]
    if lacking := [name for name in wanted if name not in possible]:
        raise HeadscopeError(
            f"--remove {','.join(lacking)}: no measured task of words with classes; use {', '.join(possible) or 'none'}"
        )
    return [possible[name] for name in wanted]


def fit_erasers(
    tasks: Sequence[TaskCases], states: UnitStates, units: Units, scales: Float[Tensor, " space"], draws: UnitDraws
) -> dict[str, Erasers]:
    """Fit the erasers of tasks to their training cases: to the first span, such as the dependent of an arc."""
    return {cases.task.name: _fitted(cases, states, units, scales, draws) for cases in tasks}


def _fitted(
    cases: TaskCases, states: UnitStates, units: Units, scales: Float[Tensor, " space"], draws: UnitDraws
) -> Erasers:
    (group,) = grouped([cases], units, draws.seed, controls=False)
    group = with_vectors(group, states.filled)
    rows = {part: spans[:, 0] for part, spans in group.units.items()}
    answers = {part: numbers.astype(int) for part, numbers in group.answers[0].numbers.items()}
    random = np.random.default_rng(draws.seed)
    by_space = []
    for table, scale in zip(states.tables, scales.tolist(), strict=True):
        space = whitening(table[rows["train"]].astype(float) / scale)
        shuffled = [random.permutation(answers["train"]) for _ in range(DRAWS)]
        by_space.append([space.property(some) for some in (answers["train"], *shuffled)])
    maps = [erasers[0] for erasers in by_space]
    return Erasers(by_space, *(_read_anew(group, states, scales, draws, some) for some in (None, maps)))


def _read_anew(
    group: CaseGroup,
    states: UnitStates,
    scales: Float[Tensor, " space"],
    draws: UnitDraws,
    erasers: Sequence[Eraser] | None,
) -> Score:
    """The score of classifiers of half of the tested sentences (or documents) on the other half."""
    unit = draws.unit[group.texts["report"]]
    held = np.isin(unit, np.unique(unit)[::2])
    parts: dict[Part, tuple[Part, np.ndarray]] = {
        "train": ("report", held & (group.answers[0].numbers["report"] >= 0)),
        "choose": ("choose", np.ones(len(group.texts["choose"]), bool)),
        "report": ("report", ~held),
    }
    chosen = {part: np.flatnonzero(kept) for part, (_, kept) in parts.items()}
    rows = {part: group.units[of][chosen[part], 0] for part, (of, _) in parts.items()}
    places = np.cumsum([0, *map(len, rows.values())])
    tables = []
    for space, (table, scale) in enumerate(zip(states.tables, scales.tolist(), strict=True)):
        vectors = torch.from_numpy(table[np.concatenate(list(rows.values()))].astype(np.float32)) / scale
        tables.append((vectors if erasers is None else erasers[space](vectors)).numpy())
    numbers = {part: group.answers[0].numbers[of][chosen[part]] for part, (of, _) in parts.items()}
    anew = CaseGroup(
        {part: np.arange(*places[number : number + 2])[:, None] for number, part in enumerate(rows)},
        {part: group.texts[of][chosen[part]] for part, (of, _) in parts.items()},
        [replace(group.answers[0], numbers=numbers)],
    )
    (trained,) = train(anew, tables, ClassifierSettings((100.0,), codes=False), torch.device("cpu"))
    return score(trained.loss, trained.base, anew.texts["report"], draws, of_answers=True)


@dataclass(frozen=True)
class WordLosses:
    """The losses of the right pieces of tested sentences, while the states of a space may be changed.

    Raises `HeadscopeError` for a model whose layers are not called one after the other.
    """

    model: Model
    stack: Stack
    texts: ReadTexts
    draws: UnitDraws
    tokens: int

    @torch.inference_mode()
    def losses(self, space: int = 0, change: Eraser | None = None) -> Float[np.ndarray, " prediction"]:
        """The loss of each prediction, in nats; space 0 are the embeddings, and the last one what the head reads."""
        read, last, special = [], space == len(self.stack.layers), self._special
        for part in self.texts.parts(self.model, self.tokens):
            kept = torch.from_numpy(np.isin(part.ids, special))[..., None].to(self.model.device)

            def changed(states: States, kept: Tensor = kept) -> States:
                return states if change is None else torch.where(kept, states, change(states))

            def choose(states: States, part: Any = part, changed: Any = changed) -> Float[Tensor, "read width"]:
                return (changed(states) if last else states)[part.row, part.token]

            first, body = 0, self._changed(space, None if last else changed)
            for logits in by_head(self.model, part, choose, body):
                reads = part.reads(first, first + len(logits))
                index, targets = (torch.from_numpy(of).to(logits.device) for of in (reads.read, reads.target))
                read.append(-log_probabilities(logits[index], targets).double().cpu().numpy())
                first += len(logits)
        return np.concatenate(read)

    @property
    def _special(self) -> list[int]:
        """The pieces whose states stay: special ones, which are no words, but the mask, which is for one."""
        tokenizer = self.model.tokenizer
        return [piece for piece in tokenizer.all_special_ids if piece != tokenizer.mask_token_id]

    def mean(self, cases: Float[np.ndarray, "prediction space"]) -> Score:
        """The mean over predictions, with the sentences (or documents) as units."""
        texts = [part.text for part in self.texts.parts(self.model, self.tokens)]
        return score(1 - cases, np.ones(len(cases)), self.texts.units[np.concatenate(texts)], self.draws)

    @contextmanager
    def _changed(self, space: int, change: Callable[[States], States] | None) -> Iterator[None]:
        """Context in which the states of a space that is not the last one are changed."""
        layer: Any = self.stack.layers[max(space - 1, 0)]
        forward = layer.forward

        def run(states: States, *arguments: Any, **keywords: Any) -> States:
            if space or change is None:
                left = forward(states, *arguments, **keywords)
                return left if change is None else change(left)
            return forward(change(states), *arguments, **keywords)

        body: AbstractContextManager[None] = instead({layer: run} if change else {})
        with fast(self.model.network), body:
            yield


def word_losses(model: Model, texts: Texts, most: int, draws: UnitDraws, settings: Settings) -> WordLosses:
    """What measures losses of at most this many pieces of tested sentences; see `WordLosses` for what is raised."""
    layers = stack(model.network, len(model.capture.heads))
    if layers is None:
        kind = model.network.config.model_type
        raise HeadscopeError(f"--remove: model type '{kind}' does not call its layers one after the other")
    order = np.array(texts.order["report"])
    examples = [Example(str(number), (texts.sentences[number],)) for number in order.tolist()]
    read = chosen_texts(model, examples, order, most, np.random.default_rng(settings.seed))
    if not read.texts:
        raise HeadscopeError("--remove: no tested sentence has a piece to predict; name a larger treebank")
    return WordLosses(model, layers, read, draws, settings.batch_tokens)


def removal(words: WordLosses, erasers: Erasers, done: Callable[[int], None]) -> Removal:
    """What the removal of a property, and of random directions, adds to the loss; `done` receives spaces."""
    before = words.losses()
    added = []
    for space, maps in enumerate(erasers.by_space):
        added.append(np.stack([words.losses(space, change) - before for change in maps]))
        done(1)
    by_map: Int[np.ndarray, "map prediction space"] = np.stack(added, -1)
    return Removal(erasers, words.mean(before[:, None]), words.mean(by_map[0]), by_map[1:].mean(1))
