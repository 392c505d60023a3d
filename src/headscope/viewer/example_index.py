"""An index of the examples of a corpus in which each head is most itself.

For each head and each focus (a class of token, a relation of the treebank) the examples with the highest attention are
kept. The index grows with heads and relations, not with the corpus.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import xarray as xr

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
from headscope.results.variables import Label, Variables, by_layer
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.viewer.best_examples import NONE, BestExamples
from headscope.viewer.focus_observer import SHORT, Focus, FocusObserver

LETTERS = 300
# Texts that no head keeps any more are dropped when there are so many times more texts than kept ones.
SPARE = 2

RANKED = ("focus", "layer", "head", "rank")
LABELS = {
    "value": Label("highest attention to a class of token, or along a relation", "share of attention", RANKED),
    "text": Label("number of the text, from 0; -1 for none", "number", RANKED),
    "first": Label("first segment of a text", "text", ("kept_text",)),
    "second": Label("second segment of a text", "text", ("kept_text",)),
}
Texts = tuple[str, str]


@dataclass
class IndexTally:
    """The best examples of all heads by focus, and the texts of these examples; tallies can be merged.

    * `heads`: the number of heads; `number`: the most examples of a head and a focus.
    """

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
        """See `Accumulator`."""
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
        result = Pass(model, corpus, settings, words).fold(Fold(start, IndexTally.__add__, IndexTally))
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
    found = {name.removeprefix(SHORT) for name in tally.best}
    names = [*filter(found.__contains__, TOKEN_CLASSES), *sorted(found - set(TOKEN_CLASSES))]
    ranked = [tally.of(name).before(tally.of(SHORT + name)) for name in names]
    values = np.stack([by_layer(best.values, heads) for best in ranked])
    examples = np.stack([by_layer(best.examples, heads) for best in ranked])
    # [focus, layer, head, rank]
    text = np.where(examples >= 0, np.searchsorted(numbers, np.nan_to_num(examples)), NONE).astype(np.int32)
    variables = Variables({"focus": names}, "headscope index", LABELS)
    variables.add("value", np.where(text == NONE, np.nan, values).astype(np.float32))
    variables.add("text", text)
    for segment, name in enumerate(("first", "second")):
        variables.add(name, np.array([tally.texts[number][segment] for number in numbers], dtype=object))
    return variables.arrays
