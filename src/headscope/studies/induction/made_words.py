"""A corpus of inputs that are made of tokens, not of texts."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from tokenizers import Encoding

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example


@dataclass(frozen=True)
class MadeWords(Words):
    """The encoder of a corpus of made inputs: the example with the id n is `made[n]`."""

    made: tuple[Encoded, ...] = ()

    def tokenized(self, examples: Iterable[Example]) -> Iterator[tuple[Example, list[Encoding]]]:
        """Each example, which is one input, with an encoding that says nothing."""
        for example in examples:
            yield example, [Encoding()]

    def encoded(self, index: int, example: Example, encoding: Encoding) -> Encoded:
        """The input that an example stands for."""
        return replace(self.made[int(example.id)], index=index)


def corpus_of(name: str, made: tuple[Encoded, ...]) -> Corpus:
    """The corpus whose examples stand for made inputs; its hash is that of their tokens."""
    sha256 = hashlib.sha256(b"".join(encoded.inputs["input_ids"].tobytes() for encoded in made)).hexdigest()
    examples = [Example(str(number), ()) for number in range(len(made))]
    return Corpus(name, sha256, len(made), {}, partial(iter, examples))
