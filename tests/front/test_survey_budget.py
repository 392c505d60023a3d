"""What a survey will take, and the time that it keeps to: with a clock that is told what the time is."""

from collections import Counter
from inspect import signature
from typing import Any

import pytest
from transformers import GPT2LMHeadModel

from headscope import Settings, catalog, wrap
from headscope.errors import HeadscopeError
from headscope.front.survey import costs
from headscope.front.survey.budget import LEAST, Budget, seconds_of, widest
from headscope.front.survey.costs import BUILT_IN, READING, ModelShape, StudyEstimate, estimates, loaded_shape, shape_of
from headscope.front.survey.plan import CorpusFacts, in_survey, planned, shares
from headscope.passes import captured_treebanks
from headscope.studies.heads.induction.causal_effect import SEQUENCES, causal_effect
from headscope.studies.heads.induction.made_inputs import maker
from headscope.studies.layers.layers import study as layers
from headscope.studies.words.attributions import sample_sizes
from headscope.studies.words.attributions import study as attributions
from headscope.studies.words.attributions.explaining_pass import ALTERED_PASSES
from support.tiny import tiny_gpt2, tiny_tokenizer

CORPUS = CorpusFacts("texts", 1000, frozenset({"text", "treebank", "links", "mentions"}), 24_000)
STUDIES = ("one", "two", "three")


def run(
    seconds: float, actual: dict[str, float], most: int = 10_000, speed: float = 1.0
) -> tuple[float, dict[str, int]]:
    """The time at which studies end of which an example is said to take 0.01 s, and takes `actual`; their sizes."""
    now = [0.0]
    expected = [StudyEstimate(study, 0.0, 0.01, 0) for study in STUDIES]
    budget = Budget(seconds, expected, speed, clock=lambda: now[0])
    for study in STUDIES:
        now[0] += budget.size(study, most) * actual[study]
        budget.end(study)
    return now[0], budget.sizes


@pytest.mark.parametrize("slower", [0.5, 1.0, 3.0])
def test_a_survey_ends_in_time_on_a_machine_whose_speed_was_measured(slower: float) -> None:
    ended, sizes = run(60, dict.fromkeys(STUDIES, 0.01 * slower), speed=slower)
    assert ended == pytest.approx(60, rel=0.01) and max(sizes.values()) - min(sizes.values()) < 5


def test_later_studies_make_up_for_one_that_is_slower_than_expected() -> None:
    ended, sizes = run(60, {"one": 0.02, "two": 0.01, "three": 0.01})
    assert 48 <= ended <= 72 and sizes["three"] < sizes["one"]


def test_all_examples_are_read_where_there_is_time_and_a_few_where_there_is_none() -> None:
    assert run(60, dict.fromkeys(STUDIES, 0.01), most=50)[1] == dict.fromkeys(STUDIES, 50)
    assert run(0.1, dict.fromkeys(STUDIES, 0.01))[1] == dict.fromkeys(STUDIES, LEAST)
    assert run(0.1, dict.fromkeys(STUDIES, 0.01), most=4)[1] == dict.fromkeys(STUDIES, 4)


def test_a_study_that_was_done_before_says_nothing_of_the_speed() -> None:
    budget = Budget(60, [StudyEstimate(study, 0.0, 0.01, 0) for study in STUDIES], clock=lambda: 0.0, sizes={"one": 9})
    budget.end("one", ran=False)
    assert budget.speed == 1.0 and budget.size("two", 10_000) == 3000


def test_all_studies_of_a_survey_have_a_cost_and_share_one_pass() -> None:
    places = {study: catalog.study(study).survey for study in catalog.names("studies")}
    assert all(not isinstance(survey, str) for study, survey in places.items() if shares(study))
    plans = planned([CORPUS], task=False)
    made = estimates(plans, BUILT_IN)
    assert [one.study for one in made] == [READING, *(plan.study for plan in plans if not plan.lacks)]
    single = estimates(planned([CORPUS], task=False, only=["profile"]), BUILT_IN)
    assert [one.study for one in single] == ["profile"]
    assert single[0].of(1000) == pytest.approx(1 + 24 * (0.32 + 0.03))


def test_a_larger_model_takes_longer_and_workers_take_less() -> None:
    base, plans = shape_of({"n_layer": 12, "n_head": 12, "n_embd": 768}), planned([CORPUS], task=False)
    assert base == ModelShape(12, 12, 768, 3072)
    small, large, two = estimates(plans, BUILT_IN), estimates(plans, base), estimates(plans, base, 2)
    for one, other, shared in zip(small, large, two, strict=True):
        assert one.of(100) <= other.of(100) and shared.of(100) <= other.of(100) and one.memory < other.memory


def test_a_study_takes_a_sample_of_many_examples_unless_all_are_asked_for() -> None:
    many = CorpusFacts("treebank", 12_500, frozenset({"text", "treebank"}), 300_000)
    plans = planned([many], task=False, only=["probe", "attributions", "profile", "induction"])
    some, complete = ({one.study: one for one in estimates(plans, BUILT_IN, full=full)} for full in (False, True))
    assert complete["probe"].of(12_500) == pytest.approx(12_500 / 1_600 * some["probe"].of(12_500), rel=0.02)
    assert some["probe"].of(1_600) == some["probe"].of(12_500) == pytest.approx(complete["probe"].of(1_600))
    assert some["probe"].sample == "1,600 of them; all with --full" and not complete["probe"].sample
    assert some["attributions"].most < complete["attributions"].most == 50
    assert some["profile"] == complete["profile"] and some["induction"].fixed < complete["induction"].fixed


def test_the_samples_of_an_estimate_are_those_of_the_studies() -> None:
    assert captured_treebanks.IN_ALL == in_survey("structure").cost.most == in_survey("probe").cost.most
    assert layers.TRAINED + layers.TESTED == in_survey("layers").cost.most
    assert (sample_sizes.SETS_OF_TOKEN, sample_sizes.SETS) == (costs.SETS_OF_TOKEN, costs.SETS)
    assert (sample_sizes.TOKENS_OF_TWO_MINUTES, sample_sizes.LEAST) == (costs.TOKENS_OF_PASSES, costs.LEAST_SCORED)
    assert sample_sizes.LONGEST == costs.LONGEST
    assert (sample_sizes.BUILT_IN_LAYERS, sample_sizes.BUILT_IN_WEIGHTS) == (
        costs.BUILT_IN.layers,
        costs.BUILT_IN.weights,
    )
    assert (sample_sizes.SCORED_SHARE, sample_sizes.INTEGRATED) == (costs.SCORED_SHARE, costs.INTEGRATED)
    assert (ALTERED_PASSES, sample_sizes.HEAD_PASSES) == (costs.ALTERED, costs.BY_HEAD)
    assert signature(attributions.run).parameters["scored"].default == in_survey("attributions").cost.scored


def test_the_plan_counts_tokens_that_are_read_without_each_head_and_words_that_are_predicted() -> None:
    network: Any = tiny_gpt2(0, GPT2LMHeadModel, vocab_size=2_000, n_layer=3, n_positions=200)
    model, counts = wrap(network, tiny_tokenizer(200)), Counter[str]()
    inputs, cost = maker(model, 0), in_survey("induction").cost
    repeated = inputs.repeated(SEQUENCES, 25, 2)
    texts = [*inputs.repeated(50, 25, 2), *inputs.fresh(50, 25, 2)]
    for length in (32, 128):
        texts += [*inputs.planted(20, length, 0), *inputs.unplanted(20, length, 0)]
    more = len(inputs.before) + len(inputs.after) - 1  # most decoders add one token to a text
    assert sum(len(text) - more for text in texts) == pytest.approx(cost.tokens, rel=0.02)
    assert sum(len(text) - more for text in repeated) == cost.swept

    for layer in network.transformer.h:
        layer.mlp.register_forward_hook(lambda _, args, __: counts.update(tokens=args[0].shape[:-1].numel()))
    network.lm_head.register_forward_hook(lambda _, args, __: counts.update(words=args[0].shape[:-1].numel()))
    for several in (repeated, repeated[:4]):  # the search for the fastest way reads the same of both
        counts = Counter({name: -number for name, number in counts.items()})
        causal_effect(model, several, len(inputs.before), 25, Settings(resamples=20))
    assert (shape := loaded_shape(model)).predicts == "next"
    fewer = sum(map(len, repeated[4:]))
    assert -counts["tokens"] == pytest.approx(shape.layers * fewer * shape.passes_without_heads, rel=0.02)
    assert -counts["words"] == pytest.approx(fewer * shape.predictions_without_heads / 2, rel=0.02)


def test_a_large_vocabulary_costs_time_and_memory_where_words_are_predicted() -> None:
    config = {"num_hidden_layers": 18, "num_attention_heads": 4, "hidden_size": 640, "intermediate_size": 2048}
    decoder, plans = {"architectures": ["Gemma3ForCausalLM"]}, planned([CORPUS], task=False)
    bare, small, large = (
        {one.study: one for one in estimates(plans, shape_of(config | others))}
        for others in ({"vocab_size": 262_144}, decoder | {"vocab_size": 32_000}, decoder | {"vocab_size": 262_144})
    )
    for study in large:
        predicts = study in ("gradients", "induction")
        assert (large[study].of(100) > bare[study].of(100)) == predicts
        assert (large[study].memory > bare[study].memory) == (predicts or study == "attributions")
        rows = (262_144 - 32_000) * 640 * 4 / 2**20
        twice = in_survey(study).cost.untrained if study != READING else False
        assert large[study].memory - small[study].memory > rows * (1 + twice)


def test_a_sample_that_is_full_leaves_its_time_to_the_other_studies() -> None:
    expected = [StudyEstimate("one", 0.0, 0.01, 0), StudyEstimate("two", 0.0, 0.0, 0, 0.1, 100)]
    assert Budget(20, expected, clock=lambda: 0.0).size("one", 10_000) == 1000


def test_widths_are_those_of_a_share_of_one_half() -> None:
    assert widest(400) == pytest.approx(0.049) and widest(100) == pytest.approx(2 * widest(400))


@pytest.mark.parametrize("text", ["", "ten", "10 days", "-3m", "0"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(HeadscopeError, match="is no time"):
        seconds_of(text)
