"""Every measure on attention whose value is known in closed form, and on inputs that lack what it needs."""

from math import log

import pytest
import torch

from headscope.measures import (
    _template,
    attention_offset,
    attention_to,
    cls_entropy,
    cls_feature_attention,
    cls_separator_lead,
    entropy,
    feature_attention,
    segment_end,
    sep_to_sep,
    sink_by_part_of_speech,
    start_attention,
    token_attention,
)
from headscope.results.vocabulary import FEATURES, RELATIONS, TOKEN_CLASSES, UPOS
from headscope.testing.hand_made import looks_at, measured, tokens, uniform

PAIR = "coopsoos"  # [CLS] a b . [SEP] c d [SEP]
PREVIOUS = [0, 0, 1, 2, 3, 4, 5, 6]


def values(measure, maps, inputs, **options):
    """The values of the first input's only head, with NaN where they are not valid."""
    found = measured(measure, [maps], [inputs], **options)
    return torch.where(found.valid[0], found.values[0, 0], torch.nan).tolist()


def at(names, found, name):
    return found[names.index(name)]


def test_attention_to_of_a_uniform_head_is_each_class_share_of_tokens() -> None:
    assert values(attention_to, uniform(8), tokens(PAIR)) == [1 / 8, 2 / 8, 1 / 8, 4 / 8]


def test_attention_to_of_one_column_is_all_in_its_class() -> None:
    assert values(attention_to, looks_at([4] * 8), tokens(PAIR)) == [0, 1, 0, 0]


def test_attention_to_counts_every_query_once() -> None:
    assert values(attention_to, looks_at([0, 0, 4, 7, 3, 1, 2, 5]), tokens(PAIR)) == [2 / 8, 2 / 8, 1 / 8, 3 / 8]


def test_attention_to_a_class_that_the_text_lacks_is_0_and_one_that_the_tokenizer_lacks_is_missing() -> None:
    without_punct = values(attention_to, uniform(4), tokens("coos"))
    without_cls = values(attention_to, uniform(4), tokens("oops"), exist="spo")
    assert without_punct == [1 / 4, 1 / 4, 0, 2 / 4]
    assert without_cls == pytest.approx([torch.nan, 1 / 4, 1 / 4, 2 / 4], nan_ok=True)


def test_sep_to_sep_reads_the_rows_of_separators_only() -> None:
    assert values(sep_to_sep, uniform(8), tokens(PAIR)) == 2 / 8
    assert values(sep_to_sep, looks_at([4] * 8), tokens(PAIR)) == 1
    assert values(sep_to_sep, looks_at([4, 4, 4, 4, 7, 4, 4, 0]), tokens(PAIR)) == 1 / 2
    assert values(sep_to_sep, looks_at([4, 4, 4, 4, 0, 4, 4, 0]), tokens(PAIR)) == 0


def test_sep_to_sep_divides_by_the_number_of_separators() -> None:
    assert values(sep_to_sep, looks_at([0, 1, 2]), tokens("cos")) == 1
    assert values(sep_to_sep, looks_at([1, 2, 3, 0, 0]), tokens("sssoo")) == pytest.approx(2 / 3)


def test_sep_to_sep_needs_a_separator() -> None:
    assert values(sep_to_sep, uniform(3), tokens("coo")) == pytest.approx(torch.nan, nan_ok=True)


def test_attention_offset_of_pure_maps() -> None:
    assert values(attention_offset, looks_at(range(8)), tokens(PAIR)) == [0, 1, 0]
    assert values(attention_offset, looks_at(PREVIOUS), tokens(PAIR)) == pytest.approx([1, 1 / 8, 0])
    assert values(attention_offset, looks_at([*range(1, 8), 7]), tokens(PAIR)) == pytest.approx([0, 1 / 8, 1])


def test_attention_offset_counts_the_queries_that_have_the_neighbour() -> None:
    previous = uniform(4).clone()
    previous[0, 2] = torch.tensor([0.1, 0.7, 0.1, 0.1])
    assert values(attention_offset, previous, tokens("coos")) == pytest.approx([1.2 / 3, 0.85 / 4, 0.6 / 3])


def test_attention_offset_of_one_token_has_no_neighbours() -> None:
    assert values(attention_offset, uniform(1), tokens("o")) == pytest.approx([torch.nan, 1, torch.nan], nan_ok=True)


def test_entropy_of_uniform_and_of_certain_rows() -> None:
    assert values(entropy, uniform(8), tokens(PAIR)) == pytest.approx(log(8))
    assert values(entropy, looks_at(PREVIOUS), tokens(PAIR)) == 0
    assert values(entropy, uniform(1), tokens("o")) == 0


def test_entropy_is_the_mean_over_rows() -> None:
    half = looks_at([0, 0, 0, 0])
    half[0, 1] = torch.tensor([0.5, 0.5, 0, 0])
    half[0, 2] = 0.25
    assert values(entropy, half, tokens("coos")) == pytest.approx((log(2) + log(4)) / 4)


def test_cls_entropy_reads_the_row_of_cls_only() -> None:
    rows = looks_at([0, 1, 2, 3])
    rows[0, 0] = 0.25
    assert values(cls_entropy, rows, tokens("coos")) == pytest.approx(log(4))
    assert values(cls_entropy, rows, tokens("ocos")) == 0
    assert values(cls_entropy, rows, tokens("ooos")) == pytest.approx(torch.nan, nan_ok=True)


def test_feature_attention_is_the_mean_over_queries_at_the_best_token() -> None:
    rows = looks_at([2, 2, 2, 1, 3, 3, 0, 0])
    found = values(feature_attention, rows, tokens(PAIR, [("noun", 1), ("noun", 2), ("verb", 3), ("neg", 7)]))
    assert (at(FEATURES, found, "noun"), at(FEATURES, found, "verb")) == pytest.approx((3 / 8, 2 / 8))
    assert at(FEATURES, found, "neg") == 0
    assert sum(value != value for value in found) == len(FEATURES) - 3


def test_cls_feature_attention_is_the_row_of_cls_at_the_best_token() -> None:
    rows = looks_at([1, 2, 2, 2])
    rows[0, 0] = torch.tensor([0.1, 0.2, 0.3, 0.4])
    found = values(cls_feature_attention, rows, tokens("coos", [("noun", 1), ("noun", 2), ("sep", 3)]))
    assert (at(FEATURES, found, "noun"), at(FEATURES, found, "sep")) == pytest.approx((0.3, 0.4))
    assert all(value != value for value in values(cls_feature_attention, rows, tokens("ooos", [("noun", 1)])))


def test_a_feature_is_compared_with_special_tokens_in_the_same_examples() -> None:
    rows = looks_at([1, 2, 2, 2])
    rows[0, 0] = torch.tensor([0.1, 0.2, 0.3, 0.4])
    marked = [("cls", 0), ("noun", 1), ("noun", 2), ("sep", 3)]
    lead, start = (values(measure, rows, tokens("coos", marked)) for measure in (cls_separator_lead, start_attention))
    assert at(FEATURES, lead, "noun") == pytest.approx(0.1) and at(FEATURES, start, "noun") == pytest.approx(0.025)
    without = tokens("coos", [("cls", 0), ("sep", 3)])
    for measure in (cls_separator_lead, start_attention):
        assert torch.isnan(torch.tensor(at(FEATURES, values(measure, rows, without), "noun")))


def test_token_attention_is_the_best_pair_from_its_source_to_its_target() -> None:
    rows = uniform(4).clone()
    rows[0, 1] = torch.tensor([0.1, 0.2, 0.6, 0.1])
    rows[0, 2] = torch.tensor([0.3, 0.4, 0.1, 0.2])
    links = [("verb_to_subject", 1, 2), ("subject_to_verb", 2, 1), ("noun_to_pronoun", 1, 0), ("noun_to_pronoun", 2, 0)]
    found = values(token_attention, rows, tokens("coos", links=links))
    assert at(RELATIONS, found, "verb_to_subject") == pytest.approx(0.6)
    assert at(RELATIONS, found, "subject_to_verb") == pytest.approx(0.4)
    assert at(RELATIONS, found, "noun_to_pronoun") == pytest.approx(0.3)
    assert at(RELATIONS, found, "pronoun_to_noun") != at(RELATIONS, found, "pronoun_to_noun")


def test_a_token_with_no_attention_at_all_is_0_and_not_missing() -> None:
    nothing = looks_at([0] * 4)
    found = values(token_attention, nothing, tokens("coos", links=[("verb_to_subject", 1, 2)]))
    assert at(RELATIONS, found, "verb_to_subject") == 0
    assert values(attention_to, nothing, tokens("coos"))[TOKEN_CLASSES.index("other")] == 0


def test_the_only_token_of_a_text_attends_to_itself() -> None:
    assert values(_template, uniform(1), tokens("o")) == 1


def test_segment_end_is_the_last_token_of_each_segment_that_is_not_special() -> None:
    assert values(segment_end, looks_at([3, 3, 3, 3, 6, 6, 5, 4]), tokens(PAIR)) == 6 / 8
    assert values(segment_end, uniform(8), tokens(PAIR)) == 2 / 8
    assert values(segment_end, looks_at([2, 2, 0]), tokens("ooo")) == pytest.approx(2 / 3)
    assert values(segment_end, uniform(2), tokens("cs")) != values(segment_end, uniform(2), tokens("cs"))


def test_attention_to_the_sink_is_told_by_the_part_of_speech_of_the_query() -> None:
    tagged = tokens("coops", upos=["", "NOUN", "VERB", "", ""])
    found = values(sink_by_part_of_speech, looks_at([1, 4, 1, 0, 0]), tagged)
    assert (at(UPOS, found, "NOUN"), at(UPOS, found, "VERB")) == (1, 0)
    assert sum(value != value for value in found) == len(UPOS) - 2
    both = tokens("coops", upos=["", "NOUN", "NOUN", "", ""])
    assert at(UPOS, values(sink_by_part_of_speech, looks_at([1, 4, 1, 0, 0]), both), "NOUN") == 0.5


def test_a_token_of_several_words_has_the_part_of_speech_of_each() -> None:
    cannot = tokens("cooos", upos=["", "PRON", "AUX PART", "VERB VERB", ""])
    found = values(sink_by_part_of_speech, looks_at([1, 1, 4, 1, 0]), cannot)
    assert [at(UPOS, found, name) for name in ("PRON", "AUX", "PART", "VERB")] == [0, 1, 1, 0]


def test_without_special_tokens_the_sink_is_the_first_token() -> None:
    tagged = tokens("ooo", upos=["DET", "NOUN", "NOUN"])
    assert at(UPOS, values(sink_by_part_of_speech, looks_at([0, 0, 2]), tagged), "NOUN") == 0.5
