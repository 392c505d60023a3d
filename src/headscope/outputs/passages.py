"""Answers that are spans of a passage: their tokens, and how an answer is scored (SQuAD: Rajpurkar et al. 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headscope.corpora import Corpus
from headscope.corpora.tasks.answers import answer_scores, answer_spans
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import segment_text
from headscope.models import Model

# Tokens of the longest answer.
LONGEST = 30


@dataclass(frozen=True)
class Passage:
    """A passage in an input: the characters [start, end) of its tokens, -1 of all other tokens, and of its answers."""

    text: str
    tokens: Int[np.ndarray, "token 2"]
    answers: Sequence[tuple[int, int]]

    @property
    def target(self) -> tuple[int, int] | None:
        """The first and the last token of the first answer; None if it is cut off."""
        start, end = self.answers[0]
        within = np.flatnonzero((self.tokens[:, 0] < end) & (self.tokens[:, 1] > start))
        is_whole = len(within) > 0 and self.tokens[within[-1], 1] >= end
        return (int(within[0]), int(within[-1])) if is_whole else None

    def answer(self, starts: Float[np.ndarray, " token"], ends: Float[np.ndarray, " token"]) -> str:
        """The span of at most 30 tokens with the largest sum of its logits."""
        inside = np.flatnonzero(self.tokens[:, 0] >= 0)
        sums = np.add.outer(starts[inside], ends[inside])
        allowed = np.triu(np.ones_like(sums, bool)) & ~np.triu(np.ones_like(sums, bool), LONGEST)
        first, last = np.unravel_index(np.where(allowed, sums, -np.inf).argmax(), sums.shape)
        return self.text[self.tokens[inside[first], 0] : self.tokens[inside[last], 1]]

    def scores(self, answer: str) -> tuple[float, float]:
        """The F1 of an answer, and whether it is right; see `answer_scores`."""
        return answer_scores(answer, [self.text[start:end] for start, end in self.answers])


def passage_inputs(model: Model, corpus: Corpus, max_tokens: int) -> tuple[list[Encoded], list[Passage], Words]:
    """Each question with its passage as one input, cut at its end, the passages, and what has counted those cut."""
    words = Words(model.tokenizer, max_tokens, "truncate")
    inputs, passages = list[Encoded](), list[Passage]()
    for example, encodings in words.tokenized(corpus):
        for encoding in encodings:
            inside = np.array([segment == 1 for segment in encoding.sequence_ids])
            tokens = np.where(inside[:, None], np.array(encoding.offsets), -1)
            passages.append(Passage(segment_text(example.second), tokens, answer_spans(example)))
            inputs.append(words.encoded(len(inputs), example, encoding))
    return inputs, passages, words
