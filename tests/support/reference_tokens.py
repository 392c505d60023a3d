"""What each token of an example is, read naively: loops over characters, independent of `headscope.models`."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerBase

from headscope.linguistics.sentence import Example, Mention, Sentence

RELATIONS = ["verb_to_subject", "subject_to_verb", "pronoun_to_noun", "noun_to_pronoun"]
WORD = r"\w+(?:['’-]\w+)*|[^\w\s]"
NEGATIONS = ["neither", "nor", "not", "never", "none", "nothing", "nowhere", "cannot"]


class Word(NamedTuple):
    """A word, the segment that it stands in, and its tokens."""

    form: str
    segment: int
    tokens: list[int]


@dataclass
class Read:
    """An example as a model reads it: its maps, the class and features of each token, the linked tokens, its words."""

    maps: np.ndarray
    ids: list[int]
    classes: list[str]
    features: list[set[str]]
    links: dict[str, set[tuple[int, int]]] = field(default_factory=lambda: {relation: set() for relation in RELATIONS})
    words: list[Word] = field(default_factory=list)
    upos: dict[int, set[str]] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    frequency: dict[int, str] = field(default_factory=dict)

    def tokens(self, kind: str) -> list[int]:
        return [token for token, of in enumerate(self.classes) if of == kind]

    def having(self, feature: str) -> list[int]:
        return [token for token, having in enumerate(self.features) if feature in having]


def texts_of(example: Example) -> tuple[str, str | None]:
    """The text of each segment."""
    texts = [" ".join(sentence.text for sentence in segment) for segment in example.segments]
    return texts[0], texts[1] if len(texts) > 1 else None


def read_example(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, example: Example) -> Read:
    texts = texts_of(example)
    encoding = tokenizer(
        texts[0], texts[1], return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False
    )
    inputs = {name: torch.tensor([encoding[name]]) for name in tokenizer.model_input_names if name in encoding}
    with torch.inference_mode():
        attentions = network(**inputs, output_attentions=True).attentions
    maps = torch.stack([layer[0] for layer in attentions]).double().numpy()
    classes = []
    for token, id in enumerate(encoding["input_ids"]):
        segment, (start, end) = encoding.sequence_ids(0)[token], encoding["offset_mapping"][token]
        if encoding["special_tokens_mask"][token]:
            classes.append(_role(id, tokenizer))
        else:
            form = str(texts[1] if segment else texts[0])[start:end].strip(" ")
            classes.append("punct" if form in [".", ","] else "other")
    read = Read(maps, encoding["input_ids"], classes, [{kind} - {"other"} for kind in classes])
    for number, segment in enumerate(example.segments):
        for index, sentence in enumerate(segment):
            before = sum(len(earlier.text) + 1 for earlier in segment[:index])
            tokens = _covered(encoding, number, before, sentence)
            _annotate(read, sentence, tokens)
            for start, end in sentence.words or [match.span() for match in re.finditer(WORD, sentence.text)]:
                at = sorted(set[int]().union(*tokens[start:end]))
                read.words.append(Word(sentence.text[start:end].casefold(), number, at))
    return read


def _role(id: int, tokenizer: PreTrainedTokenizerBase) -> str:
    if id in [tokenizer.cls_token_id, tokenizer.bos_token_id]:
        return "cls"
    return "sep" if id in [tokenizer.sep_token_id, tokenizer.eos_token_id] else "other"


def _covered(encoding: BatchEncoding, segment: int, before: int, sentence: Sentence) -> list[set[int]]:
    """The tokens of each character of a sentence."""
    tokens: list[set[int]] = [set() for _ in sentence.text]
    for token, (start, end) in enumerate(encoding["offset_mapping"]):
        if encoding.sequence_ids(0)[token] == segment:
            for character in range(start - before, end - before):
                if 0 <= character < len(tokens):
                    tokens[character].add(token)
    return tokens


def _annotate(read: Read, sentence: Sentence, tokens: list[set[int]]) -> None:
    words = [set[int]().union(*tokens[start:end]) for start, end in sentence.words]
    for word, at in enumerate(words):
        for token in at:
            if sentence.upos:
                read.upos.setdefault(token, set()).add(sentence.upos[word])
            read.features[token] |= _features(sentence, word)
    for start, end in _negations(sentence.text):
        for token in set[int]().union(*tokens[start:end]):
            read.features[token].add("neg")
    for relation, source, target in _links(sentence):
        read.links[relation] |= {(query, key) for query in words[source] for key in words[target]}


def _features(sentence: Sentence, word: int) -> set[str]:
    upos = sentence.upos[word] if sentence.upos else None
    relation = sentence.deprel[word].split(":")[0] if sentence.deprel else None
    found = {
        "noun": upos in ["NOUN", "PROPN"],
        "verb": upos == "VERB",
        "pron": upos == "PRON",
        "subj": relation in ["nsubj", "csubj"],
        "obj": relation in ["obj", "iobj"],
        "punct": upos == "PUNCT",
    }
    return {name for name, true in found.items() if true}


def _negations(text: str) -> list[tuple[int, int]]:
    def inside_word(at: int) -> bool:
        return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")

    found = []
    for at in range(len(text)):
        for word in NEGATIONS:
            end = at + len(word)
            if text[at:end].lower() == word and not inside_word(at - 1) and not inside_word(end):
                found.append((at, end))
        for word in ["n't", "n’t", "n 't", "n ’t"]:
            end = at + len(word)
            if text[at:end].lower() == word and not inside_word(end):
                found.append((at, end))
    return found


def _links(sentence: Sentence) -> list[tuple[str, int, int]]:
    found = []
    if sentence.upos and sentence.heads:
        for word, head in enumerate(sentence.heads):
            if "subj" in _features(sentence, word) and head > 0 and sentence.upos[head - 1] == "VERB":
                found += [("verb_to_subject", head - 1, word), ("subject_to_verb", word, head - 1)]
    if sentence.upos:
        for pronoun in range(len(sentence.words)):
            for noun in range(len(sentence.words)):
                kinds = "pron" in _features(sentence, pronoun) and "noun" in _features(sentence, noun)
                if kinds and _may_corefer(sentence, pronoun, noun):
                    found += [("pronoun_to_noun", pronoun, noun), ("noun_to_pronoun", noun, pronoun)]
    return found


def _may_corefer(sentence: Sentence, one: int, other: int) -> bool:
    if sentence.mentions is None:
        return True
    entities = [
        {mention.entity for mention in sentence.mentions if _head(sentence, mention) == word} for word in (one, other)
    ]
    return bool(entities[0] & entities[1])


def _head(sentence: Sentence, mention: Mention) -> int:
    words = list(range(mention.start, mention.end))
    outside = [word for word in words if sentence.heads and sentence.heads[word] - 1 not in words]
    return outside[0] if outside else words[-1]
