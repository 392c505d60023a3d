"""One input of a model, with the class of each token: annotations reach tokens through the tokenizer's offsets."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding
from transformers import PreTrainedTokenizerBase

from headscope.encoding.word_tokens import located, pair_words
from headscope.linguistics.features import NUMBER, features, links
from headscope.linguistics.sentence import Example, Sentence, segment_text
from headscope.models.segment_ids import NAME
from headscope.results.vocabulary import TOKEN_CLASSES, UPOS

UPOS_NUMBER = {name: number for number, name in enumerate(UPOS)}
CLASS = {name: number for number, name in enumerate(TOKEN_CLASSES)}
NO_PIECES = np.empty((0, 2), dtype=np.int64)
NO_UPOS = NOT_COUNTED = np.empty(0, dtype=np.int64)  # of an input without annotation, or in a pass without counts
NO_PAIR_WORDS = np.empty((0, 4), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Encoded:
    """An input of the model, without padding.

    * `index`: the number of the input in its corpus, from 0.
    * `document`: the number of its document (`sentence.number_of`), where whole documents are resampled.
    * `inputs`: what the model is called with, each [token].
    * `token_class`: the number of each token's class in `results.TOKEN_CLASSES`.
    * `features`: rows (feature, token); `links`: rows (relation, query token, key token).
    * `upos`: the parts of speech of the words of each token, as bits of a number in the order of `results.UPOS`.
    * `count`: how often the piece of each token stands in the corpus, `frequency`: the number of its class in
      `results.FREQUENCIES`; -1 where it is not counted, nothing where none is (see `frequencies`).
    * `predicted`, `predicted_class`: the same of how often the model predicts the piece.
    * `seen`: how many tokens each token sees, from the first on; nothing where no piece is counted.
    * `pair_words`: rows (word, form, segment, token), see `pair_words`; none where the example is no pair.
    * `example`: what it is an input of, and `pieces`: rows (word, token), see `pieces`; only where the
      words are asked for.
    """

    index: int
    inputs: dict[str, Int[np.ndarray, " token"]]
    token_class: Int[np.ndarray, " token"]
    features: Int[np.ndarray, "feature_row 2"]
    links: Int[np.ndarray, "link_row 3"]
    example: Example | None = None
    pieces: Int[np.ndarray, "piece_row 2"] = field(default_factory=lambda: NO_PIECES)
    document: int | None = None
    pair_words: Int[np.ndarray, "pair_row 4"] = field(default_factory=lambda: NO_PAIR_WORDS)
    upos: Int[np.ndarray, " token"] = field(default_factory=lambda: NO_UPOS)
    count: Int[np.ndarray, " counted"] = field(default_factory=lambda: NOT_COUNTED)
    frequency: Int[np.ndarray, " counted"] = field(default_factory=lambda: NOT_COUNTED)
    seen: Int[np.ndarray, " counted"] = field(default_factory=lambda: NOT_COUNTED)
    predicted: Int[np.ndarray, " counted"] = field(default_factory=lambda: NOT_COUNTED)
    predicted_class: Int[np.ndarray, " counted"] = field(default_factory=lambda: NOT_COUNTED)

    def __len__(self) -> int:
        return len(self.token_class)

    @property
    def unit(self) -> int:
        """The number of its unit of resampling: its document if that is known, else itself."""
        return self.index if self.document is None else self.document


def encoded(
    index: int, example: Example, encoding: Encoding, tokenizer: PreTrainedTokenizerBase, *, words: bool = False
) -> Encoded:
    """One input with the class of each of its tokens; with `words` also its example and the tokens of its words."""
    inputs = {"input_ids": encoding.ids}
    if NAME in tokenizer.model_input_names:
        inputs[NAME] = encoding.type_ids
    token_class = token_classes(example, encoding, tokenizer)
    specials = [
        (NUMBER[name], token) for name in ("cls", "sep") for token in np.flatnonzero(token_class == CLASS[name])
    ]
    stops = [(NUMBER["punct"], token) for token in np.flatnonzero(token_class == CLASS["punct"])]
    feature_rows, link_rows = _annotations(example, encoding)
    return Encoded(
        index,
        {name: np.array(values) for name, values in inputs.items()},
        token_class,
        np.array(sorted({*specials, *stops, *feature_rows}), dtype=np.int64).reshape(-1, 2),
        np.array(link_rows, dtype=np.int64).reshape(-1, 3),
        example if words else None,
        pieces(example, encoding) if words else NO_PIECES,
        pair_words=pair_words(example, encoding),
        upos=_upos(example, encoding),
    )


def class_exists(tokenizer: PreTrainedTokenizerBase) -> list[bool]:
    """For each of `results.TOKEN_CLASSES`, True if the tokenizer puts it into an input."""
    specials = special_roles(tokenizer)
    used = {specials.get(token) for token in tokenizer("a", verbose=False)["input_ids"]}
    if "cls" in used and tokenizer.cls_token_id == tokenizer.sep_token_id:
        used.add("sep")
    return [name in ("punct", "other") or name in used for name in TOKEN_CLASSES]


def special_names(tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """The special tokens of the classes cls and sep in an input, as the tokenizer writes them; "" where it has none.

    >>> from headscope import load
    >>> special_names(load("minilm").tokenizer)
    {'cls': '[CLS]', 'sep': '[SEP]'}
    """
    encoding: Any = tokenizer("a", verbose=False).encodings[0]  # type: ignore[index]
    classes = token_classes(Example("", (Sentence("a"),)), encoding, tokenizer)
    tokens = dict.fromkeys(zip(classes.tolist(), encoding.tokens, strict=True))
    return {name: "/".join(token for kind, token in tokens if kind == CLASS[name]) for name in ("cls", "sep")}


def special_roles(tokenizer: PreTrainedTokenizerBase) -> dict[int, str]:
    """The ids that play the role of [CLS] and [SEP]: also `<s>` and `</s>`, begin and end of a text."""
    roles = {"sep_token_id": "sep", "eos_token_id": "sep", "cls_token_id": "cls", "bos_token_id": "cls"}
    return {token: role for name, role in roles.items() if isinstance(token := getattr(tokenizer, name), int)}


def token_classes(
    example: Example, encoding: Encoding, tokenizer: PreTrainedTokenizerBase
) -> Int[np.ndarray, " token"]:
    """The number of the class of each token in `results.TOKEN_CLASSES`."""
    specials, texts = special_roles(tokenizer), [segment_text(sentences) for sentences in example.segments]
    classes = []
    for token, segment, (start, end), special in zip(
        encoding.ids, encoding.sequence_ids, encoding.offsets, encoding.special_tokens_mask, strict=True
    ):
        if special or segment is None:
            classes.append(CLASS[specials.get(token, "other")])
        else:
            stop = end - start < 3 and texts[segment][start:end].strip() in (".", ",")
            classes.append(CLASS["punct" if stop else "other"])
    if tokenizer.cls_token_id is not None and tokenizer.cls_token_id == tokenizer.sep_token_id:
        # XLM has one token for both: the first is at the start, the others end segments.
        shared = [token for token, kind in enumerate(encoding.ids) if kind == tokenizer.cls_token_id]
        for token in shared[1:]:
            classes[token] = CLASS["sep"]
    return np.array(classes)


def _annotations(example: Example, encoding: Encoding) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """The feature rows and link rows of an input."""
    feature_rows, link_rows = [], []
    for sentence, tokens, base in located(example, encoding):
        for feature, span in features(sentence):
            feature_rows += [(feature, token) for token in tokens.covering(span, base)]
        for relation, source, target in links(sentence):
            ends = (tokens.covering(sentence.words[word], base) for word in (source, target))
            link_rows += [(relation, query, key) for query, key in product(*ends)]
    return feature_rows, link_rows


def _upos(example: Example, encoding: Encoding) -> Int[np.ndarray, " token"]:
    """The parts of speech of each token, which several words may share; none where the example is not annotated."""
    if not any(sentence.upos for sentence in example.sentences):
        return NO_UPOS
    bits = np.zeros(len(encoding.ids), dtype=np.int64)
    for sentence, tokens, base in located(example, encoding):
        for span, upos in zip(sentence.words, sentence.upos, strict=False):
            if upos in UPOS_NUMBER:
                bits[tokens.covering(span, base)] |= 1 << UPOS_NUMBER[upos]
    return bits


def pieces(example: Example, encoding: Encoding) -> Int[np.ndarray, "piece_row 2"]:
    """Rows (word, token): the tokens of each word, in order; words are numbered through all sentences, from 0.

    A word that the tokenizer drops, or that is cut off, has no row. Words that share characters share tokens, and so
    do those that the tokenizer joins.
    """
    rows, before = [], 0
    for sentence, tokens, base in located(example, encoding):
        for word, span in enumerate(sentence.words, before):
            rows += [(word, token) for token in tokens.covering(span, base)]
        before += len(sentence.words)
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
