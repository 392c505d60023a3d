"""What each way changes: which tokens are masked together, what stands after the first part, and what tokens see."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import IGNORED, masked
from headscope.models.smaller_vocabulary import kept_pieces, with_pieces
from headscope.outputs.outputs import masked_outputs
from headscope.studies.training.pretrain.blocks import DocumentPieces, TextBlock
from headscope.studies.training.pretrain.plan import PlannedModel, PretrainingPlan, Schedule, Shape
from headscope.studies.training.pretrain.runs import PretrainingRun
from headscope.studies.training.pretrain.streams import streams
from headscope.studies.training.pretrain.text import LabText, _with_frequent_pieces, lab_text
from headscope.studies.training.pretrain.ways import WAYS, spans, whole_words, words_of
from headscope.training.dataset import DEVLIN
from headscope.training.piece_frequencies import unigram_outputs
from support.tiny import byte_tokenizer, tiny_tokenizer
from support.written import corpus

SENTENCES = [f"the {noun} slept near the {other}." for noun in ("cat", "dog", "bird") for other in ("tree", "town")]
TEXT = "\n\n".join("\n".join(SENTENCES[n:] + SENTENCES[:n]) for n in range(6))


@pytest.fixture(scope="module")
def text() -> LabText:
    return lab_text(tiny_tokenizer(), corpus("x.txt", TEXT), PretrainingPlan(), 32, 0)


def run(text: LabText, way: str, tmp_path: object = "unused") -> PretrainingRun:
    recipe = Schedule(max_tokens=32).recipe
    return PretrainingRun(PlannedModel(way, way, Shape(1, 2, 8)), 3, recipe, text, {}, tmp_path)  # type: ignore[arg-type]


def test_blocks_are_the_text_without_gaps_or_cut_words(text: LabText) -> None:
    tokenizer = tiny_tokenizer()
    documents = streams(tokenizer, corpus("x.txt", TEXT))
    assert len(documents) == 6
    pieces_of_text = tokenizer("\n".join(SENTENCES), add_special_tokens=False)["input_ids"]
    assert documents[0].rows[:, 0].tolist() == pieces_of_text
    blocks = list(documents[0].blocks(29))
    pieces = [part[:, 0] for block in blocks for part in (block.first, block.second)]
    assert np.concatenate(pieces).tolist() == pieces_of_text[: sum(map(len, pieces))]
    assert len(pieces_of_text) - sum(map(len, pieces)) < 8 and max(map(len, blocks)) <= 29
    for block in blocks:
        assert block.first[-1, 1] < block.second[0, 1], "a word is cut"
    ends = [tokenizer.convert_ids_to_tokens(int(block.first[-1, 0])) for block in blocks[:-1]]
    assert set(ends) == {"."}, "the second part begins with a sentence"


def test_a_word_that_is_longer_than_a_block_is_cut() -> None:
    rows = np.column_stack([np.arange(40), np.zeros(40, dtype=int)])
    assert [len(block) for block in DocumentPieces(rows, np.arange(40) == 39, 0).blocks(13)] == [13, 13, 13]


def test_an_input_is_that_of_the_tokenizer_for_a_pair(text: LabText) -> None:
    block, tokenizer = text.train[0], text.tokenizer
    pieces = [tokenizer.convert_ids_to_tokens(part[:, 0].tolist()) for part in (block.first, block.second)]
    first, second = (" ".join(part).replace(" ##", "") for part in pieces)
    expected: Any = tokenizer(first, second).encodings[0]  # type: ignore[index]
    encoded = block.encoded(0, tokenizer)
    assert encoded.inputs["input_ids"].tolist() == expected.ids
    assert encoded.inputs["token_type_ids"].tolist() == expected.type_ids
    assert np.flatnonzero(encoded.token_class == 1).tolist() == [len(block.first) + 1, len(encoded) - 1]


def test_documents_are_held_out_whole(text: LabText) -> None:
    kept = {block.document for block in text.train}
    assert len(kept) == 5 and {encoded.document for encoded in text.dev}.isdisjoint(kept)


def test_whole_words_and_spans_are_masked_together(text: LabText) -> None:
    encoded, random = text.train[0].encoded(0, text.tokenizer), np.random.default_rng(0)
    allowed = encoded.pieces[:, 1]
    words = words_of(encoded, allowed)
    assert sum(map(len, words)) == len(allowed) and max(map(len, words)) > 1
    for number in range(1, 9):
        chosen, group = whole_words(encoded, allowed, number, random)
        assert all(np.isin(word, chosen).all() or not np.isin(word, chosen).any() for word in words)
        assert number <= len(chosen) < number + max(map(len, words)) and len(set(group)) == len(chosen)
        chosen, group = spans(encoded, allowed, number, random)
        assert len(chosen) == len(set(chosen.tolist())) == number
        for one in set(group.tolist()):
            tokens = [token for token in allowed.tolist() if token in chosen[group == one]]
            gaps = [token for token in range(tokens[0], tokens[-1]) if token not in chosen]
            assert all(token not in allowed for token in gaps), "a span has a gap"


def test_spans_have_the_lengths_of_the_paper() -> None:
    """A geometric distribution with p 0.2, cut at 10 words, has a mean of 3.8 (Joshi et al. 2020, section 3.1)."""
    first, second = np.split(np.column_stack([np.full(2000, 9), np.arange(2000)]), 2)
    encoded = TextBlock(first, second, 0).encoded(0, tiny_tokenizer())
    _, group = spans(encoded, encoded.pieces[:, 1], 200, np.random.default_rng(1))
    lengths = np.bincount(group)
    assert np.mean(lengths[lengths > 0]) == pytest.approx(3.8, abs=1.0)


def test_an_input_of_unknown_pieces_stays_as_it_is(text: LabText) -> None:
    unknown = np.column_stack([np.full(10, text.tokenizer.unk_token_id), np.arange(10)])
    encoded = TextBlock(unknown[:5], unknown[5:], 0).encoded(0, text.tokenizer)
    for way in WAYS.values():
        hidden, pieces = masked(encoded, text.tokenizer, 0, choose=way.choose)
        assert (pieces == IGNORED).all() and np.array_equal(hidden.inputs["input_ids"], encoded.inputs["input_ids"])


def one_span(encoded: Encoded, allowed: np.ndarray, number: int, random: np.random.Generator) -> tuple:
    """All tokens, as one group."""
    return allowed, np.zeros_like(allowed)


def test_tokens_of_a_span_share_their_fate(text: LabText) -> None:
    encoded = text.train[0].encoded(0, text.tokenizer)
    half = replace(DEVLIN, share=0.6, mask=0.5, random=0.0)
    fates = set()
    for epoch in range(20):
        hidden, pieces = masked(encoded, text.tokenizer, 0, half, epoch=epoch, choose=one_span)
        fates.add(frozenset(hidden.inputs["input_ids"][pieces != IGNORED] == text.tokenizer.mask_token_id))
    assert fates == {frozenset([True]), frozenset([False])}


@pytest.mark.parametrize("share", [0.15, 0.4])
def test_the_asked_share_of_tokens_is_masked_in_training_and_15_percent_where_ways_are_judged(
    text: LabText, share: float
) -> None:
    planned = run(text, "tokens")
    examples = replace(planned, planned=replace(planned.planned, masked=share)).examples
    for masks, wanted in (([pieces for _, pieces in examples.train], share), (examples.pieces, 0.15)):
        tokens = sum(len(pieces) - 3 for pieces in masks)
        assert sum((pieces != IGNORED).sum() for pieces in masks) / tokens == pytest.approx(wanted, abs=0.03)


def test_static_masks_stay_and_others_are_new(text: LabText) -> None:
    for way, same in (("static", True), ("tokens", False), ("words", False)):
        examples: Any = run(text, way).examples.train
        first = [pieces.tolist() for _, pieces in examples]
        examples.set_epoch(1)
        assert ([pieces.tolist() for _, pieces in examples] == first) is same, way


def test_second_parts_are_of_another_text_or_turned_round(text: LabText) -> None:
    random, documents = np.random.default_rng(0), set()
    for index, here in enumerate(text.train * 4):
        same, turned, other = (
            second(text.train, index % len(text.train), random) for second in WAYS["previous-and-next"].seconds
        )
        assert same is here and turned.second is here.first and turned.first is here.second
        assert other.first is here.first and len(other) <= len(here)
        sources = [one for one in text.train if np.array_equal(one.second[: len(other.second)], other.second)]
        assert sources and any(one.document != here.document for one in sources)
        documents.add(here.document)
    assert len(documents) > 2


def test_second_parts_are_equally_frequent_and_their_number_says_which(text: LabText) -> None:
    examples: Any = run(text, "previous-and-next").examples.train
    counts = np.zeros(3)
    for epoch in range(40):
        examples.set_epoch(epoch)
        for index, block in enumerate(text.train):
            *_, number = examples[index]
            counts[number] += 1
            kept = [part[:, 0].tolist() for part in (block.first, block.second)]
            ids = examples.inputs[index].inputs["input_ids"].tolist()
            middle = ids.index(text.tokenizer.sep_token_id)
            parts = [ids[1:middle], ids[middle + 1 : -1]]
            assert parts == (kept, kept[::-1], [kept[0], parts[1]])[number]
    assert counts.min() / counts.sum() == pytest.approx(1 / 3, abs=0.1)


def test_pairs_add_their_loss_to_that_of_masks(text: LabText) -> None:
    order = run(text, "sentence-order")
    start, examples = order.start(), order.examples.train
    batch = examples.collate([examples[index] for index in range(8)], start.pad)
    network: Any = start.network.eval()
    with torch.no_grad():
        loss = examples.loss(network, batch)
        inputs = {name: batch[name] for name in ("input_ids", "token_type_ids", "attention_mask")}
        states = network.base_model(**inputs).last_hidden_state
        alone = network(**inputs, labels=batch["labels"]).loss
        pairs_alone = torch.nn.functional.cross_entropy(
            network.pair_head_as_it_is_turned_round(states[:, 0]), batch["second"]
        )
    assert set(batch["second"].tolist()) == {0, 1}
    torch.testing.assert_close(loss, alone + pairs_alone)


def test_ways_begin_with_the_same_weights(text: LabText) -> None:
    weights = [dict(run(text, way).start().network.named_parameters()) for way in WAYS if way != "labels"]
    for others in weights[1:]:
        assert all(torch.equal(weight, others[name]) for name, weight in weights[0].items())


def test_ways_are_judged_by_the_same_masks(text: LabText) -> None:
    masks = [np.concatenate(run(text, way).examples.pieces) for way in WAYS if not WAYS[way].causal]
    hidden = run(text, "unk").examples.dev[0].inputs["input_ids"]
    assert text.tokenizer.unk_token_id in hidden and text.tokenizer.mask_token_id not in hidden
    assert all(np.array_equal(others, masks[0]) for others in masks)


def test_the_start_knows_frequencies_alone(text: LabText) -> None:
    """Many pieces of the vocabulary are unseen: a bias of another rule for these would begin above the loss."""
    unseen = replace(text, train=text.train[:2])
    start, judged = run(unseen, "tokens").start(), unseen.judged(0, WAYS["tokens"])
    loss, pieces, _ = masked_outputs(start.model, *judged).sum(0)
    frequent, _, _ = unigram_outputs(judged[1], unseen.frequencies).sum(0)
    assert loss / pieces == pytest.approx(frequent / pieces, abs=0.02)


def test_next_word_sees_nothing_that_follows(text: LabText) -> None:
    network = run(text, "next-word").start().network.eval()
    ids = torch.tensor(text.dev[0].inputs["input_ids"])[None]
    changed = ids.clone()
    changed[0, -1] = 7
    with torch.no_grad():
        first, second = network(input_ids=ids).logits, network(input_ids=changed).logits
    torch.testing.assert_close(first[:, :-1], second[:, :-1])
    inputs, pieces = text.judged(0, WAYS["next-word"])
    assert inputs is text.dev and pieces[0][0] == ids[0, 1]


def test_rare_words_are_cut_into_frequent_pieces() -> None:
    tokenizer, written = headscope.load("minilm").tokenizer, corpus("x.txt", TEXT)
    few, many = (lab_text(tokenizer, written, PretrainingPlan(pieces=pieces), 32, 0).tokenizer for pieces in (4, 99))
    assert len(many) - len(few) == 9 - 4 and few.tokenize("the bird") == ["the", "b", "##i", "##r", "##d"]
    assert many.tokenize("the bird") == ["the", "bird"]


def test_a_cut_vocabulary_cuts_the_text_as_before() -> None:
    tokenizer = headscope.load("minilm").tokenizer
    pieces = tokenizer("The cats were unbelievably noisy.")["input_ids"]
    numbers = {old: new for new, old in enumerate(kept_pieces(tokenizer, pieces))}
    cut, other = with_pieces(tokenizer, [*numbers], 32), byte_tokenizer()
    again = cut("The cats were unbelievably noisy.", "Noisy cats")
    assert again["input_ids"][: len(pieces)] == [numbers[piece] for piece in pieces]
    before = tokenizer("The cats were unbelievably noisy.", "Noisy cats")["input_ids"]
    assert cut.convert_ids_to_tokens(again["input_ids"]) == tokenizer.convert_ids_to_tokens(before)
    assert len(cut) < 3000 and cut("zebra")["input_ids"].count(cut.unk_token_id) == 0, "characters stay"
    assert _with_frequent_pieces(other, streams(other, corpus("x.txt", TEXT)), 1, 32) is other, "of another kind"
