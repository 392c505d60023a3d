"""Passes over inputs that are encoded already."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headscope import Model
from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.engine import DEFAULTS, Pass, Settings
from headscope.types import Example


@dataclass(frozen=True)
class Ready(Words):
    """An encoder whose inputs are there already."""

    inputs: Iterable[Encoded] = ()

    def encode(self, examples: Iterable[Example]) -> Iterator[Encoded]:
        yield from self.inputs


def pass_over(model: Model, inputs: Iterable[Encoded], settings: Settings = DEFAULTS, pad_to: int = 0) -> Pass:
    """A pass over some inputs, which keep their numbers."""
    corpus = Corpus("made", "", 0, {}, lambda: iter(()))
    return Pass(model, corpus, settings, Ready(model.tokenizer, model.max_tokens, inputs=inputs), pad_to)
