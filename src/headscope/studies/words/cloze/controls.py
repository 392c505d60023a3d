"""Controls: items with shuffled words, with near words alone, and facts that the subject's name gives away.

The name control is that of Poerner et al. (2020): a model guesses the answer from the name alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope import corpora
from headscope.corpora.suites import Candidate, ClozeItem
from headscope.corpora.suites.item import ENDS, GAP, filled, sentence
from headscope.linguistics.sentence import segment_text
from headscope.models.prediction_heads import is_causal
from headscope.outputs.words.answer_ranks import answer_ranks
from headscope.outputs.words.inputs import scored_pieces
from headscope.outputs.words.predictor import TextScores, WordPredictor
from headscope.passes import Settings

CONTROLS = ("shuffled", "truncated")
# Words before the gap, or before the first difference, that a truncated text keeps.
KEPT = 2
# Relations of persons, and the kind of thing that a name suggests.
SUGGESTED = {
    "P19": "city",
    "P20": "city",
    "P27": "country",
    "P103": "language",
    "P1412": "language",
    "place_of_birth": "city",
    "place_of_death": "city",
}
GUESSES = 3


@dataclass(frozen=True)
class Prior:
    """Log-probabilities of all pieces, in nats, and the model whose pieces they are."""

    predictor: WordPredictor
    log_probabilities: Float[Tensor, " piece"]

    def text_scores(self, candidates: Sequence[Candidate], plain: bool) -> TextScores:
        """The sum over the scored pieces of each text; the same pieces in another order have the same sum."""
        texts = list(scored_pieces(self.predictor.model, candidates, plain=plain))
        most, known = self.predictor.model.max_tokens, self.log_probabilities.double().cpu().numpy()
        fits = [len(text.ids) <= most and len(text.places) > 0 for text in texts]
        values = [
            math.fsum(known[text.ids[text.places]]) if fit else math.nan for text, fit in zip(texts, fits, strict=True)
        ]
        pieces = [len(text.places) if fit else -1 for text, fit in zip(texts, fits, strict=True)]
        return TextScores(np.array(values), np.array(pieces, int), np.array([len(text.ids) for text in texts], int))


def prior(predictor: WordPredictor, corpus: str | None = None) -> Prior:
    """The frequencies of pieces in a corpus, plus one; without a corpus the model's prediction for a text of one mask.

    A causal model predicts the first piece of a text; one that reads nothing before it gives all pieces the same.
    """
    model = predictor.model
    if corpus is None:
        return Prior(predictor, _alone(predictor))
    counts = np.ones(_size(predictor))
    for example in corpora.read(corpus):
        for segment in example.segments:
            ids = model.tokenizer(segment_text(segment), add_special_tokens=False, verbose=False)["input_ids"]
            np.add.at(counts, np.array(ids, int), 1)
    return Prior(predictor, torch.from_numpy(np.log(counts / counts.sum())).float().to(model.device))


def _alone(predictor: WordPredictor) -> Float[Tensor, " piece"]:
    """The prediction for one mask, or for the first piece of a text."""
    model, mask = predictor.model, predictor.model.tokenizer.mask_token
    causal = is_causal(model)
    (text,) = scored_pieces(model, [sentence("a" if causal else str(mask))])
    token = (text.places if causal else np.flatnonzero(text.ids == model.tokenizer.mask_token_id))[:1]
    if not len(token):
        return torch.full((_size(predictor),), -math.log(_size(predictor)), device=model.device)
    (part,) = predictor.inputs([replace(text, places=token, units=token)])
    ((_, logits),) = predictor.logits(part)
    return logits[0] - logits[0].logsumexp(-1)


def _size(predictor: WordPredictor) -> int:
    return int(predictor.model.network.get_input_embeddings().weight.shape[0])  # type: ignore[union-attr]


def controlled(items: Sequence[ClozeItem], control: str, seed: int) -> list[ClozeItem]:
    """The items with other texts.

    * "shuffled": words in random order, the same for all texts of an item of equal length; an answer and the mark at
      the end of a sentence stay in place.
    * "truncated": texts that begin two words before the gap, or before the first word in which the texts differ.
    """
    return [
        _shuffled(item, Random(f"{seed} {item.id}")) if control == "shuffled" else _truncated(item) for item in items
    ]


def _shuffled(item: ClozeItem, random: Random) -> ClozeItem:
    keys = [random.random() for _ in range(max(len(candidate.text.split()) for candidate in item.candidates) + 1)]
    return item.with_candidates(tuple(_in_order(candidate, keys) for candidate in item.candidates))


def _in_order(candidate: Candidate, keys: Sequence[float]) -> Candidate:
    """The text with its words in the order of `keys`."""
    text = candidate.text.rstrip()
    mark = text[len(text.rstrip(ENDS)) :]
    if not candidate.is_answer:
        words = _sorted(text[: len(text) - len(mark)].split(), keys)
        sentence = " ".join(words) + mark
        return Candidate(sentence, 0, len(sentence))
    before, after = candidate.text[: candidate.start], text[candidate.end :]
    mark = mark if len(mark) <= len(after) else ""
    first, last = before.split(), after[: len(after) - len(mark)].split()
    joined = before[len(before.rstrip()) :], after[: len(after) - len(after.lstrip())]
    words = _sorted([*first, *last], keys)
    before = " ".join(words[: len(first)]) + (joined[0] if first else "")
    after = (joined[1] if last else "") + " ".join(words[len(first) :]) + mark
    return Candidate(f"{before}{candidate.scored}{after}", len(before), len(before) + len(candidate.scored), True)


def _sorted(words: Sequence[str], keys: Sequence[float]) -> list[str]:
    return [word for _, word in sorted(zip(keys, words, strict=False), key=lambda pair: pair[0])]


def _truncated(item: ClozeItem) -> ClozeItem:
    if item.good.is_answer:
        return item.with_candidates(
            tuple(_cut(candidate, len(candidate.text[: candidate.start].split())) for candidate in item.candidates)
        )
    words = [candidate.text.split() for candidate in item.candidates]
    shared = next((at for at, same in enumerate(zip(*words, strict=False)) if len(set(same)) > 1), min(map(len, words)))
    return item.with_candidates(tuple(_cut(candidate, shared) for candidate in item.candidates))


def _cut(candidate: Candidate, word: int) -> Candidate:
    """The text without all words but two before the word with this number."""
    at = 0
    for _ in range(max(0, word - KEPT)):
        at += len(candidate.text[at:]) - len(candidate.text[at:].lstrip())
        at += len(candidate.text[at:].split(maxsplit=1)[0])
    at += len(candidate.text[at:]) - len(candidate.text[at:].lstrip())
    return Candidate(candidate.text[at:], max(0, candidate.start - at), candidate.end - at, candidate.is_answer)


def string_matches(items: Sequence[ClozeItem]) -> Bool[np.ndarray, " item"]:
    """Whether the answer is a part of the subject's name, in lower case."""
    return np.array([item.good.scored.lower() in item.subject.lower() for item in items], bool)


def name_guesses(predictor: WordPredictor, items: Sequence[ClozeItem], settings: Settings) -> Bool[np.ndarray, " item"]:
    """Whether the answer is among the first three that the model gives for a word of a person's name."""
    queries: dict[tuple[str, str, str], list[int]] = {}
    for number, item in enumerate(items):
        if noun := SUGGESTED.get(item.phenomenon.partition(",")[0]):
            for word in item.subject.split():
                queries.setdefault((word, noun, item.good.scored), []).append(number)
    names = [_query(word, noun, answer) for word, noun, answer in queries]
    ranks = answer_ranks(predictor, names, settings).rank
    guessed = np.zeros(len(items), bool)
    for numbers, rank in zip(queries.values(), ranks.tolist(), strict=True):
        guessed[numbers] |= 0 < rank <= GUESSES
    return guessed


def _query(word: str, noun: str, answer: str) -> ClozeItem:
    context = f"{word} is a common name in the following {noun}: {GAP}."
    return ClozeItem(f"{word} {noun} {answer}", noun, filled(context, answer), (), answer)
