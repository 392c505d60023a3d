"""Words reach the model's tokens through the tokenizer's offsets; nothing is cut or dropped without being counted."""

from copy import deepcopy
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given, settings

from headscope import read
from headscope.encoding import encoder
from headscope.encoding.encoded import CLASS, Encoded, class_exists
from headscope.encoding.encoder import Long, Words
from headscope.linguistics.features import LINK, NUMBER
from headscope.linguistics.sentence import Example, Sentence
from support.any_examples import KINDS, examples, overlapping, spoken, tokenizer
from support.tiny import byte_tokenizer, tiny_tokenizer

many = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def encode(
    *made: Example, kind: str = "wordpiece", most: int = 10**6, long: Long = "skip"
) -> tuple[list[Encoded], dict[str, int]]:
    words = Words(tokenizer(kind), most, long)
    return list(words.encode(made)), dict(words.counts)


def rows(table: np.ndarray, kind: int) -> set[tuple[int, ...]]:
    return {tuple(row[1:].tolist()) for row in table if row[0] == kind}


@pytest.mark.parametrize("kind", KINDS)
@many
@given(made=examples)
@example(Example("one", (Sentence("ab", ((0, 2),), ("NOUN",), (0,), ("root",)),)))
def test_a_word_is_the_tokens_that_share_a_character_with_it(kind: str, made: Example) -> None:
    said, (found, counts) = spoken(made, kind), encode(made, kind=kind)
    if not found:
        assert counts == {"empty": 1}
        return
    assert found[0].inputs["input_ids"].tolist() == said["ids"]
    nouns, pairs = set(), set()
    for sentence, tokens in overlapping(made, said):
        for word, (upos, head) in enumerate(zip(sentence.upos, sentence.heads, strict=True)):
            nouns |= {(token,) for token in tokens[word] if upos == "NOUN"}
            if head and sentence.deprel[word] == "nsubj" and sentence.upos[head - 1] == "VERB":
                pairs |= {(verb, subject) for verb in tokens[head - 1] for subject in tokens[word]}
    assert rows(found[0].features, NUMBER["noun"]) == nouns
    assert rows(found[0].links, LINK["verb_to_subject"]) == pairs


def test_few_long_texts_are_tokenized_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "CHARACTERS", 40)
    made = [Example(str(number), (Sentence("It rained. " * number),)) for number in range(1, 6)]
    together = list(encoder._groups(made))
    assert [[len(example.first[0].text) for example in group] for group in together] == [[11, 22, 33], [44], [55]]
    inputs, _ = encode(*made)
    assert [encoded.index for encoded in inputs] == [0, 1, 2, 3, 4]


def noun(text: str, *spans: tuple[int, int]) -> Sentence:
    """A sentence whose given characters are nouns."""
    return Sentence(text, spans, ("NOUN",) * len(spans))


def pieces_of(made: Example, feature: str = "noun") -> list[str]:
    """The pieces that have a feature."""
    found = encode(made)[0][0]
    ids = [found.inputs["input_ids"][token] for (token,) in sorted(rows(found.features, NUMBER[feature]))]
    return [str(tokenizer("wordpiece").convert_ids_to_tokens(int(id))) for id in ids]


def test_all_pieces_of_a_word_count() -> None:
    assert pieces_of(Example("a", (noun("the birdcat ran", (4, 11)),))) == ["bird", "##c", "##a", "##t"]


def test_the_words_of_a_multiword_token_share_its_pieces() -> None:
    both = Sentence("zum Haus", ((0, 3), (0, 3), (4, 8)), ("ADP", "NOUN", "NOUN"))
    assert pieces_of(Example("a", (both,))) == ["z", "##u", "##m", "h", "##a", "##u", "##s"]


def test_sentences_of_a_segment_and_segments_of_a_pair_are_counted_from_their_own_start() -> None:
    first = (noun("the cat.", (4, 7)), noun("a dog ran", (2, 5)))
    second = (noun("old house", (4, 9)), noun("bird", (0, 4)))
    assert pieces_of(Example("a", first, second)) == ["cat", "dog", "house", "bird"]


def test_special_tokens_and_stops_are_features_too_whatever_the_annotation() -> None:
    bare = Example("a", (Sentence("the cat, a dog."),), (Sentence("it ran."),))
    assert pieces_of(bare, "punct") == [",", ".", "."]
    assert pieces_of(bare, "sep") == ["[SEP]", "[SEP]"]
    assert pieces_of(bare, "cls") == ["[CLS]"]


def test_punctuation_as_a_class_is_stops_and_commas_only() -> None:
    found = encode(Example("a", (Sentence("cat; 3.5, dog! ran..."),)))[0][0]
    pieces = tokenizer("wordpiece").convert_ids_to_tokens(found.inputs["input_ids"].tolist())
    assert [piece for piece, of in zip(pieces, found.token_class, strict=True) if of == CLASS["punct"]] == list(".,...")


@pytest.mark.parametrize(
    ("kind", "classes", "exist"),
    [
        ("wordpiece", "coops oos", "csop"),
        ("roberta", "coopss oos", "csop"),
        ("gpt2", "oop oo", "op"),
        ("t5", "oops oos", "sop"),
    ],
)
def test_special_tokens_are_told_by_their_role(kind: str, classes: str, exist: str) -> None:
    made = Example("a", (Sentence("the house."),), (Sentence("it was"),))
    found = encode(made, kind=kind)[0][0]
    letters = ["cspo"[of] for of in found.token_class]
    collapsed = [letter for at, letter in enumerate(letters) if letter != "o" or letters[at - 1 : at] != ["o"]]
    assert "".join(collapsed) == classes.replace(" ", "").replace("oo", "o")
    assert class_exists(tokenizer(kind)) == [letter in exist for letter in "cspo"]


LONG = "the cat saw the dog. " * 6
SHORT = "a bird ran"


def test_an_input_of_exactly_the_limit_is_not_long() -> None:
    made = Example("a", (Sentence(SHORT),))
    assert encode(made, most=5)[1] == {}
    assert encode(made, most=4) == ([], {"long": 1})


@pytest.mark.parametrize("second", [False, True])
def test_truncated_inputs_keep_their_beginning_and_are_counted(second: bool) -> None:
    made = Example("a", (Sentence(LONG),), (Sentence(SHORT),) if second else ())
    (found,), counts = encode(made, most=16, long="truncate")
    assert counts == {"truncated": 1} and len(found) == 16
    beginning = 12 - 2 * second - (2 if second else -2)
    assert found.inputs["input_ids"][: beginning + 1].tolist() == spoken(made)["ids"][: beginning + 1]
    assert (found.token_class == CLASS["sep"]).sum() == 1 + second


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("longer", ["only", "first", "second"])
def test_windows_together_are_the_text(kind: str, longer: str) -> None:
    long, short = (noun(LONG.strip(), (4, 7), (16, 19)),), (noun(SHORT, (2, 6)),)
    made = {"only": Example("a", long), "first": Example("a", long, short), "second": Example("a", short, long)}[longer]
    found, counts = encode(made, kind=kind, most=20, long="window")
    assert counts == {"windows": 1} and len(found) > 1
    assert [encoded.index for encoded in found] == list(range(len(found)))
    assert all(len(encoded) <= 20 for encoded in found)
    body = tokenizer(kind)(LONG.strip(), add_special_tokens=False)["input_ids"]
    repeated = tokenizer(kind)(SHORT, add_special_tokens=False)["input_ids"] if longer != "only" else []
    windows = [encoded.inputs["input_ids"][encoded.token_class > CLASS["sep"]].tolist() for encoded in found]
    if longer == "second":
        assert all(window[: len(repeated)] == repeated for window in windows)
        windows = [window[len(repeated) :] for window in windows]
    elif longer == "first":
        assert all(window[len(window) - len(repeated) :] == repeated for window in windows)
        windows = [window[: len(window) - len(repeated)] for window in windows]
    assert [piece for window in windows for piece in window] == body
    unsplit = encode(made, kind=kind)[0][0]
    of_short = len(rows(encode(Example("b", short), kind=kind)[0][0].features, NUMBER["noun"])) if repeated else 0
    nouns = [len(rows(encoded.features, NUMBER["noun"])) for encoded in found]
    assert sum(nouns) - of_short * (len(found) - 1) == len(rows(unsplit.features, NUMBER["noun"]))


@pytest.mark.parametrize("long", ["truncate", "window"])
def test_a_pair_whose_shorter_text_leaves_no_room_is_left_out_and_counted(long: Long) -> None:
    made = Example("a", (Sentence(LONG),), (Sentence(LONG),))
    assert encode(made, most=16, long=long) == ([], {"long": 1})


def test_inputs_without_any_token_are_left_out_and_counted() -> None:
    nothing = Example("a", (Sentence("\u200d\u00ad"),))
    found, counts = encode(nothing, Example("b", (Sentence(SHORT),)), Example("c", (Sentence(""),)))
    assert counts == {"empty": 2}
    assert [encoded.index for encoded in found] == [0]


@pytest.mark.parametrize(
    ("text", "long", "counts"),
    [
        ("a cat 😀 ran \u5317", "skip", {"unknown tokens": 2}),
        ("a 😀 ran " * 9, "truncate", {"truncated": 1, "unknown tokens": 5}),
        ("a 😀 ran " * 9, "window", {"windows": 1, "unknown tokens": 9}),
        ("a 😀 ran " * 9, "skip", {"long": 1}),
    ],
)
def test_unknown_tokens_of_the_inputs_are_counted(text: str, long: Long, counts: dict[str, int]) -> None:
    assert encode(Example("a", (Sentence(text),)), most=16, long=long)[1] == counts


def test_an_unknown_token_that_also_ends_texts_as_in_gpt2_is_not_counted() -> None:
    gpt2 = deepcopy(tokenizer("gpt2"))
    gpt2.unk_token = gpt2.eos_token
    words = Words(gpt2, 100)
    (found,) = words.encode([Example("a", (Sentence(f"a {gpt2.eos_token} ran"),))])
    assert gpt2.unk_token_id in found.inputs["input_ids"] and words.counts == {}


def test_a_tokenizer_without_an_unknown_token_has_none() -> None:
    words = Words(byte_tokenizer(), 100)
    assert list(words.encode([Example("a", (Sentence("a cat"),))])) and words.counts == {}


def test_single_texts_and_pairs_keep_their_order() -> None:
    made = [Example("a", (Sentence("cat"),), (Sentence(word),) if word else ()) for word in ("dog", "", "bird", "")]
    found = encode(*made)[0]
    assert [encoded.inputs["input_ids"].tolist() for encoded in found] == [spoken(example)["ids"] for example in made]
    assert found[0].inputs.keys() == {"input_ids"}
    listing = deepcopy(tokenizer("wordpiece"))
    listing.model_input_names = [*listing.model_input_names, "token_type_ids"]
    found = list(Words(listing, 100).encode(made))
    assert found[0].inputs["token_type_ids"].tolist() == [0, 0, 0, 1, 1]


def test_windows_follow_each_other_whichever_side_a_tokenizer_cuts() -> None:
    texts = list(read(["the dog ran and the cat slept and it rained and we ran to the house"]))
    for side in ("right", "left"):
        cutter = tiny_tokenizer()
        cutter.truncation_side = side
        parts = [part.inputs["input_ids"].tolist()[1:-1] for part in Words(cutter, 12, "window").encode(texts)]
        assert len(parts) > 2 and [*chain.from_iterable(parts)] == cutter(texts[0].first[0].text)["input_ids"][1:-1]
