"""Two texts of the same number of pieces, and the two words between which they decide."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.capture.attention_switch import fast
from headscope.corpora.suites.item import GAP, sentence
from headscope.encoding.word_tokens import readable_ids
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.outputs.losses import wide
from headscope.outputs.words.few_tokens import chosen_states
from headscope.outputs.words.inputs import scored_pieces


@dataclass(frozen=True)
class TextPair:
    """Two texts as pieces, and the token at which the model predicts in both: the last one, or the gap.

    * `answers`: the piece whose logit is compared for each text.
    """

    model: Model
    ids: Int[np.ndarray, "text token"]
    token: int
    answers: tuple[int, int] = (0, 0)

    @property
    def labels(self) -> list[str]:
        """The number and the piece of each token, of both texts where they differ."""
        pairs = zip(*(readable_ids(self.model.tokenizer, ids.tolist()) for ids in self.ids), strict=True)
        return [f"{number} {' | '.join(dict.fromkeys(pieces))}" for number, pieces in enumerate(pairs, 1)]

    @property
    def words(self) -> list[str]:
        """The answers as people read them."""
        return list(readable_ids(self.model.tokenizer, self.answers))

    @torch.inference_mode()
    def logits(self, ids: Tensor) -> Float[Tensor, "row piece"]:
        """The logits of each row of pieces at the token at which the model predicts."""
        network: Any = self.model.network
        ids, token = ids.to(self.model.device), self.token
        with fast(network), chosen_states(network.base_model, lambda states: states[:, token : token + 1]):
            return wide(network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, 0])

    def lead(self, ids: Tensor) -> Float[Tensor, " row"]:
        """The logit of the answer to the first text minus that of the answer to the second."""
        logits = self.logits(ids)
        return logits[:, self.answers[0]] - logits[:, self.answers[1]]


def text_pair(model: Model, texts: tuple[str, str], answers: str | None = None) -> TextPair:
    """A pair of texts that a model continues, or whose gap it fills.

    * `answers`: two words with a comma between them; by default what the model predicts.

    Raises `HeadscopeError` for texts that differ in the number of their pieces or in their gap, for words that are no
    answers, and for equal answers.
    """
    pairs = [_pieces(model, text) for text in texts]
    lengths, tokens = [len(ids) for ids, _ in pairs], [token for _, token in pairs]
    if lengths[0] != lengths[1] or tokens[0] != tokens[1]:
        raise HeadscopeError(
            f"--text has {lengths[0]} pieces and predicts at {tokens[0] + 1}, --against has {lengths[1]} and predicts "
            f"at {tokens[1] + 1}; a state is put where it was: use words with the same number of pieces"
        )
    if lengths[0] > model.max_tokens:
        raise HeadscopeError(f"--text has {lengths[0]} pieces, the model reads {model.max_tokens}; shorten both texts")
    pair = TextPair(model, np.stack([ids for ids, _ in pairs]), tokens[0])
    if answers:
        pieces = _answers(pair, texts, answers.split(","))
    else:
        pieces = pair.logits(torch.from_numpy(pair.ids)).argmax(-1).tolist()
    pair = replace(pair, answers=tuple(pieces))
    if pieces[0] == pieces[1]:
        raise HeadscopeError(f"the answer to both texts is '{pair.words[0]}'; name one for each: --answers WORD,WORD")
    return pair


def _pieces(model: Model, text: str) -> tuple[np.ndarray, int]:
    """The pieces of a text, and the token at which the model predicts."""
    if is_causal(model):
        (scored,) = scored_pieces(model, [sentence(text)])
        if len(scored.places):
            return scored.ids[: scored.places[-1] + 1], int(scored.places[-1])
        raise HeadscopeError(f"text '{text[:40]}' has no piece that follows another; write a longer one")
    (scored,) = scored_pieces(model, [sentence(text.replace(GAP, str(model.tokenizer.mask_token)))])
    gaps = np.flatnonzero(scored.ids == model.tokenizer.mask_token_id)
    if len(gaps) != 1:
        raise HeadscopeError(f"text '{text[:40]}' has {len(gaps)} gaps; write {GAP} once, for the word to predict")
    return scored.ids, int(gaps[0])


def _answers(pair: TextPair, texts: tuple[str, str], words: list[str]) -> list[int]:
    """The first piece of each word after its text, or in its gap."""
    if len(words) != len(texts):
        raise HeadscopeError(f"--answers has {len(words)} words; write WORD,WORD: one for --text, one for --against")
    causal, pieces = is_causal(pair.model), list[int]()
    at = pair.token + causal
    for text, word, ids in zip(texts, map(str.strip, words), pair.ids, strict=True):
        filled = f"{text} {word}" if causal else text.replace(GAP, word)
        (scored,) = scored_pieces(pair.model, [sentence(filled)])
        if len(scored.ids) <= at or (scored.ids[:at] != ids[:at]).any():
            raise HeadscopeError(f"the answer '{word[:40]}' cannot be read after its text; name another word")
        pieces.append(int(scored.ids[at]))
    return pieces
