"""An index of the examples of a corpus in which each head is most itself.

For each head and each focus (a class of token, a relation of the treebank) the examples with the highest attention are
kept. The index grows with heads and relations, not with the corpus.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, Self

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import segment_text
from headscope.models import Model
from headscope.passes.forward import observing
from headscope.passes.passes import Pass
from headscope.passes.provenance import provenance
from headscope.passes.settings import DEFAULTS, Settings
from headscope.passes.shards import Fold
from headscope.results.variables import Variables, by_layer
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.study import Number, by_name
from headscope.viewer.focus_observer import SHORT, Focus, FocusObserver
from headscope.viewer.saved_index import RANKED

NONE = -1
LETTERS = 300
# Texts that no head keeps any more are dropped when there are this many times as many texts as kept ones.
SPARE = 2

NUMBERS = (
    Number("value", "highest attention to a class of token, or along a relation", "share of attention", RANKED),
    Number("text", "number of the text, from 0; -1 for none", "number", RANKED),
    Number("first", "first segment of a text", "text", ("kept_text",)),
    Number("second", "second segment of a text", "text", ("kept_text",)),
)
Texts = tuple[str, str]


@dataclass(frozen=True, eq=False)
class BestExamples:
    """The examples of each head with the highest values, the highest first; of equal values the first in the corpus.

    * `values`: -inf where there are fewer examples; `examples`: their numbers in the corpus, and there -1.
    """

    values: Float[np.ndarray, "head rank"]
    examples: Int[np.ndarray, "head rank"]

    @classmethod
    def none(cls, heads: int, number: int) -> Self:
        """No examples yet, and room for `number` of each head."""
        return cls(np.full((heads, number), -np.inf, np.float32), np.full((heads, number), NONE, np.int64))

    def add(self, examples: Int[np.ndarray, " example"], values: Float[np.ndarray, "example head"]) -> Self:
        """The best of these and further examples.

        >>> best = BestExamples.none(heads=1, number=2).add(np.array([5, 6, 7]), np.array([[0.25], [0.75], [0.5]]))
        >>> best.examples.tolist(), best.values.tolist()
        ([[6, 7]], [[0.75, 0.5]])
        """
        columns = np.broadcast_to(examples, values.T.shape)  # [head, example]
        return self.merge(type(self)(values.T.astype(np.float32), columns))

    def before(self, other: "BestExamples") -> Self:
        """These examples, then the first of another tally in the places that are left.

        >>> first = BestExamples.none(1, 2).add(np.array([5]), np.array([[0.25]]))
        >>> first.before(BestExamples.none(1, 2).add(np.array([6, 7]), np.array([[0.5], [0.75]]))).examples.tolist()
        [[5, 7]]
        """
        values, examples = (
            np.concatenate(pair, axis=1) for pair in ((self.values, other.values), (self.examples, other.examples))
        )
        order = np.argsort(examples == NONE, axis=1, kind="stable")[:, : self.values.shape[1]]
        return type(self)(np.take_along_axis(values, order, 1), np.take_along_axis(examples, order, 1))

    def merge(self, other: "BestExamples") -> Self:
        """The best of these and of another tally's examples, which are all others."""
        number = self.values.shape[1]
        values = np.concatenate([self.values, other.values], axis=1)
        examples = np.concatenate([self.examples, other.examples], axis=1)
        order = np.lexsort((examples, -values), axis=1)[:, :number]
        return type(self)(np.take_along_axis(values, order, 1), np.take_along_axis(examples, order, 1))


@dataclass
class IndexTally:
    """The best examples of all heads by focus, and the texts of these examples; tallies can be merged."""

    heads: int
    number: int
    best: dict[str, BestExamples] = field(default_factory=dict)
    texts: dict[int, Texts] = field(default_factory=dict)
    limit: int = 1000

    def add(self, focus: Focus, texts: dict[int, Texts]) -> None:
        """Add the examples of a batch."""
        for name, (examples, values) in focus.items():
            self.best[name] = self.of(name).add(examples, values)
        self._keep(texts)

    def merge(self, other: "IndexTally") -> None:
        """Add the examples of another part of the corpus."""
        for name, best in other.best.items():
            self.best[name] = self.of(name).merge(best)
        self._keep(other.texts)

    def __add__(self, other: "IndexTally") -> "IndexTally":
        """The best examples of both parts of the corpus."""
        both = replace(self, best=dict(self.best), texts=dict(self.texts))
        both.merge(other)
        return both

    def prune(self) -> None:
        """Drop the texts that no head keeps."""
        kept = set(chain.from_iterable(np.unique(best.examples).tolist() for best in self.best.values()))
        self.texts = {number: text for number, text in self.texts.items() if number in kept}
        self.limit = max(1000, SPARE * len(self.texts))

    def of(self, name: str) -> BestExamples:
        """The best examples of a focus, maybe none."""
        return self.best.get(name) or BestExamples.none(self.heads, self.number)

    def _keep(self, texts: dict[int, Texts]) -> None:
        self.texts |= texts
        if len(self.texts) > self.limit:
            self.prune()


class IndexAccumulator:
    """The index of the batches of a shard."""

    def __init__(self, observe: Callable[[list[Encoded]], Focus], heads: int, number: int):
        self.observe, self.tally = observe, IndexTally(heads, number)

    def add(self, group: list[Encoded]) -> None:
        self.tally.add(self.observe(group), _texts(group))

    def state(self) -> IndexTally:
        """The best examples of all batches so far."""
        return self.tally


def example_index(model: Model, corpus: Corpus, settings: Settings = DEFAULTS, *, per_head: int = 10) -> xr.Dataset:
    """Find the examples in which each head attends most to each focus, in one pass over a corpus.

    Examples of fewer than 12 tokens come last: attention to one token is high where there are few others.

    * `per_head`: the number of examples of a head and a focus.

    Returns: `value[focus, layer, head, rank]`, `text[focus, layer, head, rank]` (the number of a text, -1 for none),
    and the texts `first[kept_text]` and `second[kept_text]`, cut at 300 letters.

    Raises `HeadscopeError` if no example fits into the model.
    """
    heads = model.capture.heads
    observer = FocusObserver()
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    settings.on_total(corpus.n_examples)
    with observing(model, observer) as observe:
        start = partial(IndexAccumulator, observe, sum(heads), per_head)
        result = Pass(model, corpus, settings, words).fold(Fold(start, IndexTally.__add__, IndexTally)).read()
    result.value.prune()
    dataset = xr.Dataset(_variables(result.value, heads))
    return dataset.assign_attrs(provenance("index", model, corpus, settings) | result.attributes)


def _texts(group: Iterable[Encoded]) -> dict[int, Texts]:
    examples = ((encoded.index, encoded.example) for encoded in group if encoded.example is not None)
    return {index: (_short(example.first), _short(example.second)) for index, example in examples}


def _short(sentences: Sequence[Any]) -> str:
    text = segment_text(tuple(sentences))
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


def _variables(tally: IndexTally, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    numbers = sorted(tally.texts)
    focuses = {name.removeprefix(SHORT) for name in tally.best}
    names = [*filter(focuses.__contains__, TOKEN_CLASSES), *sorted(focuses - set(TOKEN_CLASSES))]
    ranked = [tally.of(name).before(tally.of(SHORT + name)) for name in names]
    values = np.stack([by_layer(best.values, heads) for best in ranked])
    examples = np.stack([by_layer(best.examples, heads) for best in ranked])
    # [focus, layer, head, rank]
    text = np.where(examples >= 0, np.searchsorted(numbers, np.nan_to_num(examples)), NONE).astype(np.int32)
    variables = Variables({"focus": names}, "headscope index", by_name(NUMBERS))
    variables.add("value", np.where(text == NONE, np.nan, values).astype(np.float32))
    variables.add("text", text)
    for segment, name in enumerate(("first", "second")):
        variables.add(name, np.array([tally.texts[number][segment] for number in numbers], dtype=object))
    return variables.arrays
