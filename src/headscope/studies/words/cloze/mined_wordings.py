"""Further wordings of relations, mined by the model itself: words of a template are masked in turn, and filled.

Jiang et al. 2020 (section 3.2) paraphrase by translation and back. Here the model fills one word of a template, by the
mean log-probability over subjects, whose objects are masked: no fact chooses a wording.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from headscope.corpora.suites import ClozeItem, Suite
from headscope.corpora.suites.item import GAP, at_equal_distances, filled, sentence
from headscope.corpora.suites.readers.facts import OBJECT, SUBJECT
from headscope.errors import HeadscopeError
from headscope.models.prediction_heads import is_causal
from headscope.outputs.words.inputs import ScoredPieces, scored_pieces
from headscope.outputs.words.predictor import WordPredictor
from headscope.passes import Settings

# Subjects over which the fillings of a word are judged, and the pieces that are tried for it.
SUBJECTS, TRIED = 20, 50
MARK = ", wordings by the model"


class Filling(NamedTuple):
    """A template with another word, and the mean log-probability of this word in nats."""

    template: str
    log_probability: float


def with_mined_wordings(
    predictor: WordPredictor, suites: Sequence[Suite], number: int, settings: Settings
) -> tuple[Suite, ...]:
    """The suites with phenomena of their own for relations in one wording: in that one, then in mined ones.

    Raises `HeadscopeError` for a causal model, or where no item is a fact in one wording.
    """
    if is_causal(predictor.model):
        raise HeadscopeError("--paraphrase fills masked words, and the model has no mask; leave it out")
    added = [_worded_again(predictor, suite.items, number, settings) for suite in suites]
    if not any(added):
        raise HeadscopeError("--paraphrase: no suite has facts in one wording; name one such as lama")
    return tuple(replace(suite, items=(*suite.items, *items)) for suite, items in zip(suites, added, strict=True))


def _worded_again(
    predictor: WordPredictor, items: Sequence[ClozeItem], number: int, settings: Settings
) -> list[ClozeItem]:
    relations: dict[tuple[str, str], list[ClozeItem]] = {}
    for item in items:
        if item.template and not item.condition:
            relations.setdefault((item.phenomenon, item.template), []).append(item)
    return [
        _in_wording(item, wording, index)
        for (_, template), facts in relations.items()
        for wordings in [[template, *mined(predictor, template, [fact.subject for fact in facts], number, settings)]]
        for item in facts
        for index, wording in enumerate(wordings, 1)
    ]


def _in_wording(item: ClozeItem, template: str, number: int) -> ClozeItem:
    context = template.replace(OBJECT, GAP).replace(SUBJECT, item.subject)
    return replace(
        item,
        id=f"{item.id}-{number}",
        phenomenon=f"{item.phenomenon}{MARK}",
        good=filled(context, item.good.scored),
        condition=template,
        template=template,
    )


def mined(
    predictor: WordPredictor, template: str, subjects: Sequence[str], number: int, settings: Settings
) -> list[str]:
    """The templates with one other word that the model finds most probable, at most `number`."""
    indices = [index for index, word in enumerate(template.split(" ")) if word.isalpha()]
    fillings = [filling for index in indices for filling in _fillings(predictor, template, index, subjects, settings)]
    ordered = sorted(fillings, key=lambda filling: -filling.log_probability)
    return list(dict.fromkeys(filling.template for filling in ordered))[:number]


def _at_mask(text: ScoredPieces, mask: int, number: int) -> ScoredPieces:
    """A text with one of its masks as its scored piece."""
    position = np.flatnonzero(text.ids == mask)[number : number + 1]
    return replace(text, places=position, units=position)


def _fillings(
    predictor: WordPredictor, template: str, index: int, subjects: Sequence[str], settings: Settings
) -> list[Filling]:
    """The template with other words at a place; the object is masked there, too."""
    tokenizer, words = predictor.model.tokenizer, template.split(" ")
    mask = str(tokenizer.mask_token)
    masked = " ".join([*words[:index], mask, *words[index + 1 :]]).replace(OBJECT, mask)
    at = " ".join(words[:index]).count(OBJECT)  # of two masks, the one that is filled
    some = at_equal_distances(list(dict.fromkeys(subjects)), SUBJECTS)
    texts = scored_pieces(predictor.model, [sentence(masked.replace(SUBJECT, subject)) for subject in some])
    total, read = np.zeros(0), 0
    for part in predictor.inputs([_at_mask(text, int(tokenizer.mask_token_id), at) for text in texts]):  # type: ignore[arg-type]
        for reads, logits in (pair for few in part.batches(settings.batch_tokens) for pair in predictor.logits(few)):
            logs = logits - logits.logsumexp(-1, keepdim=True)
            values = logs[torch.from_numpy(reads.read)].double().sum(0).cpu().numpy()
            total, read = values + (total if read else 0), read + len(reads.read)
    fillings = []
    for piece in np.argsort(-total)[:TRIED].tolist():
        word = str(tokenizer.decode([piece])).strip()
        alone = tokenizer(f"a {word}", add_special_tokens=False)["input_ids"]
        if word.isalpha() and word.lower() != words[index].lower() and alone[1:] == [piece]:
            fillings.append(Filling(" ".join([*words[:index], word, *words[index + 1 :]]), float(total[piece]) / read))
    return fillings
