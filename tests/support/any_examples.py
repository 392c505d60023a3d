"""Any examples, and what tokenizers of several kinds say of them: what alignment is tested with.

>>> spoken(Example("one", (Sentence("the cat"),)))["offsets"]
[(0, 0), (0, 3), (4, 7), (0, 0)]
"""

from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from headscope.linguistics.sentence import Example, Sentence, segment_text
from support.tiny import tiny_tokenizer
from support.trained import tokenizer_of

KINDS = ("wordpiece", "gpt2", "roberta", "t5")
UPOS = ("NOUN", "VERB", "PRON", "ADJ")
LETTERS = st.sampled_from("aábcdenst'’.,!-ßñĳﬁİ日本語한ไ้ا😀👍🏽\u0301\u200d\u00ad\u00a0½①")


@cache
def tokenizer(kind: str) -> PreTrainedTokenizerBase:
    return tiny_tokenizer() if kind == "wordpiece" else tokenizer_of(kind)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """Words of any characters, with or without blanks between them, some of them sharing their characters."""
    text, spans = "", []
    for word in draw(st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=5)):
        text += draw(st.sampled_from(["", " ", " ", "  "])) if text else ""
        spans += [(len(text), len(text) + len(word))] * draw(st.sampled_from([1, 1, 1, 2]))
        text += word
    upos = draw(st.lists(st.sampled_from(UPOS), min_size=len(spans), max_size=len(spans)))
    heads = draw(st.lists(st.integers(0, len(spans)), min_size=len(spans), max_size=len(spans)))
    deprel = draw(st.lists(st.sampled_from(["nsubj", "obj", "det"]), min_size=len(spans), max_size=len(spans)))
    return Sentence(text, tuple(spans), tuple(upos), tuple(heads), tuple(deprel))


segments = st.lists(sentences(), min_size=1, max_size=3).map(tuple)
examples = st.builds(Example, st.just("made"), segments, st.one_of(st.just(()), segments))


def spoken(made: Example, kind: str = "wordpiece") -> dict[str, list]:
    """What the tokenizer itself says of an example."""
    second = segment_text(made.second) if made.second else None
    encoding = tokenizer(kind)(segment_text(made.first), second, return_offsets_mapping=True, verbose=False)
    return {"ids": encoding["input_ids"], "offsets": encoding["offset_mapping"], "segments": encoding.sequence_ids(0)}


def overlapping(made: Example, said: dict[str, list]) -> Iterator[tuple[Sentence, list[set[int]]]]:
    """For each sentence the tokens of each word: those that have a character in common with it."""
    for number, segment in enumerate(made.segments):
        for index, sentence in enumerate(segment):
            base = len(segment_text(segment[: index + 1])) - len(sentence.text)
            yield (
                sentence,
                [
                    {
                        token
                        for token, (first, last) in enumerate(said["offsets"])
                        if said["segments"][token] == number and max(first, start + base) < min(last, end + base)
                    }
                    for start, end in sentence.words
                ],
            )
