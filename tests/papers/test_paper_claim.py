"""Claims as data: what headscope ships, and files of one's own."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.papers import judge, read_papers
from headscope.papers.head_and_layer_rules import most_are_positive
from headscope.papers.numbers import averaged
from headscope.papers.rules import RULES
from headscope.papers.verdicts import VERDICTS
from headscope.papers.words import summed_up, token
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.wording import LEVELS, Estimate

CLAIMS = [claim for paper in read_papers() for claim in paper.claims]
OWN = {"id": "X1", "section": "1", "claim": "Rain falls.", "study": "profile", "number": "entropy", "rule": "above"}


def written(folder: Path, entry: object = None, **more: object) -> Path:
    data = {"schema": 1, "paper": "mine", "claims": [OWN if entry is None else entry]} | more
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_an_entry_names_a_study_a_rule_and_its_source(claim):
    assert claim.claim.endswith(".") and claim.level in {"", *LEVELS}
    assert not claim.figure or claim.source
    if claim.study:
        assert claim.study in catalog.names("studies") and claim.rule in RULES
    if claim.command:
        assert claim.command.split()[0].replace("-", "_") == claim.study


def test_a_file_of_ones_own_is_read_beside_the_papers(tmp_path):
    assert [paper.name for paper in read_papers(written(tmp_path))][-1] == "mine"


def test_a_result_of_other_inputs_does_not_decide_a_claim(tmp_path):
    values = xr.DataArray([[0.6, 0.7]], dims=("layer", "head"), coords={"layer": [1], "head": [1, 2]})
    attrs = {"study": "profile", "n_examples": 40, "corpus": "text"}
    entry = OWN | {
        "unless": ["phenomenon_baseline"],
        "rule": "reported",
        "number": {"variable": "entropy", "mean": ["layer", "head"]},
    }
    paper = read_papers(written(tmp_path, entry))[-1]

    def verdict(**more: xr.DataArray) -> str:
        source = Source(Path("r"), xr.Dataset({"entropy": values, **more}, attrs=attrs))
        return judge(MeasuredModel(("m",), "m", (source,)), [paper])[0].verdict

    assert verdict() != "not measured"
    assert verdict(phenomenon_baseline=values) == "not measured"


def test_a_claim_does_not_apply_where_nothing_can_show_it():
    """A decoder has no token that sees a later one, and no separator; a text may have no punctuation."""
    without = ("C2", "C5", "C7", "C9", "K11b", "K14")
    papers = [
        replace(paper, claims=tuple(claim for claim in paper.claims if claim.id in ("C1", *without)))
        for paper in read_papers()
    ]
    labels, classes = {"layer": [1, 2], "head": [1, 2]}, {"token_class": ["cls", "sep", "punct"]}

    def verdicts(later: float, separators: float) -> dict[str, str]:
        offsets = xr.DataArray([0.3, 0.3, later], {"offset": [-1, 0, 1]}, ("offset",)).expand_dims(labels)
        shares = xr.DataArray([0.1, separators, 0.0], classes, ("token_class",))
        numbers = {"attention_offset": offsets, "attention_to": shares.expand_dims(labels), "token_share": shares}
        attrs = {"study": "profile", "n_examples": 40, "corpus": "text"}
        source = Source(Path("r"), xr.Dataset(numbers, attrs=attrs))
        judged = judge(MeasuredModel(("m",), "m", (source,)), papers)
        count = [judgement.verdict for judgement in judged].count("does not apply")
        assert f"{count} {'does' if count == 1 else 'do'} not apply to this model or corpus" in summed_up(judged)
        return {judgement.claim.id: judgement.verdict for judgement in judged}

    decoder, encoder = verdicts(0.0, 0.0), verdicts(0.2, 0.1)
    assert {decoder[name] for name in without} == {"does not apply"}
    assert [name for name, verdict in encoder.items() if verdict == "does not apply"] == ["C7"]
    assert decoder["C1"] == encoder["C1"] != "does not apply"


def test_a_number_without_an_interval_may_be_above_and_may_be_below():
    bounds = np.array([[np.nan, np.nan]] * 4 + [[0.1, 0.3]])
    coords = {"lower": ("task", bounds[:, 0]), "upper": ("task", bounds[:, 1])}
    test, _ = most_are_positive(xr.DataArray([0.2] * 5, coords, ["task"]), None, 0.5, 40)
    assert test.value == 1 and test.difference == Estimate(0.5, 1 / 5 - 0.5, 0.5)


def test_the_special_token_of_a_claim_is_written_as_the_model_writes_it():
    attrs = {"study": "profile", "n_examples": 40, "corpus": "text", "special_tokens": '{"cls": "<bos>", "sep": ""}'}
    heads = {"layer": [1, 2, 3, 4], "head": [1, 2]}
    values = np.full((4, 2, 2), 0.1)
    values[..., 0] = 0.7
    to = xr.DataArray(values, heads | {"token_class": ["cls", "sep"]}, ["layer", "head", "token_class"])
    source = Source(Path("r"), xr.Dataset({"attention_to": to}, attrs=attrs))
    judged = judge(MeasuredModel(("m",), "m", (source,)), read_papers())
    assert [token(one) for one in judged if one.claim.id == "C4"] == ["<bos>"]


def test_examples_of_a_missing_value_are_not_counted():
    array = xr.DataArray([np.nan, 0.5, 0.7], dims="phenomenon", coords={"n_examples": ("phenomenon", [0, 40, 30])})
    assert int(averaged(array, ["phenomenon"])["n_examples"]) == 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "abov"}, "entry 1: no rule 'abov'; did you mean 'above'"),
        ({"rule": "below over labels"}, "entry 1: rule 'below over labels' compares two numbers; name the second in"),
        (
            {"requires": ["later token"]},
            "entry 1: nothing that 'later token' names can be required; did you mean 'later",
        ),
        ({"limits": 1}, "entry 1: no field 'limits'; did you mean 'limit'"),
        ({"claim": ""}, "entry 1: it has no claim"),
        ({"limit": "high"}, "entry 1: limit 'high' is no number"),
        ({"number": None}, "entry 1: a number has no variable"),
        ({"number": {"variable": "entropy", "at": [1]}}, "is no mapping of dimensions to labels"),
        ({"number": {"variable": "entropy", "wher": 1}}, "no field 'wher'"),
        ({"options": {"links": 1}}, "is no mapping of names to texts"),
        ({"unless": "entropy"}, "unless 'entropy' is no list of names"),
        ({"study": ""}, "entry 1: it has no study; name one, or in `needs` what it would need"),
        ({"figure": True}, "figure 'True' is no text; put it in quotes"),
        ({"version": 1.5}, "entry 1: version '1.5' is no whole number"),
        ({"limit": float("inf")}, "entry 1: limit 'inf' is no number"),
        ({"procedure": "yes"}, "entry 1: procedure 'yes' is no true or false"),
        ({"number": {"variable": "entropy", "mean": [["head"]]}}, "mean .* is no list of names"),
        ({"number": {"variable": "entropy", "at": {"layer": [{}]}}}, "is no mapping of dimensions to labels"),
        ({"id": "C1"}, "claim 'C1' is in 'clark2019' and in 'mine'; rename one"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, change, message):
    with pytest.raises(HeadscopeError, match=message.replace("(", r"\(")):
        read_papers(written(tmp_path, OWN | change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no list of claims"),
        ("- a", "no list of claims"),
        ("schema: 2\nclaims: []", "schema 2 is not 1"),
        ("schema: 1\nclaims: [3]", "entry 1: it is no mapping"),
        ("a: [", "not YAML"),
        ("a: &x [1]\nb: *x", "anchors or aliases"),
        ("{schema: 1, claims: [&x [1],*x]}", "anchors or aliases"),
        ("schema: 1\nclaims: []\nschema: 1", "it has 'schema' twice in one mapping, in line 1; remove one"),
        ("schema: 1\nclaims: [{id: a, 'id': b}]", "it has 'id' twice in one mapping, in line 2"),
        ("a: !!bool maybe", "not YAML"),
        ("a: !!timestamp never", "not YAML"),
        ("a: !!python/object/apply:os.system [ls]", "not YAML"),
        ("[" * 5000, "not YAML"),
        ("x" * (1 << 21), "more than 1048576 bytes"),
        ("a: \udcff", "not YAML in UTF-8"),
    ],
)
def test_a_file_that_is_no_list_of_claims_is_refused(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(HeadscopeError, match=message) as error:
        read_papers(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_devices_and_folders_are_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a named pipe"), (Path(os.devnull), "a device"), (tmp_path, "a folder")):
        with pytest.raises(HeadscopeError, match=f"file '{path}' is {kind}; name a plain file"):
            read_papers(path)


def test_signs_of_anchors_may_stand_in_texts(tmp_path):
    (claim,) = read_papers(written(tmp_path, OWN | {"claim": "Salt & *pepper* &c."}))[-1].claims
    assert claim.claim == "Salt & *pepper* &c."


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(HeadscopeError, match=r"none\.yaml"):
        read_papers(tmp_path / "none.yaml")


RESULT = xr.Dataset(
    {
        "entropy": (("layer", "head"), [[0.6, 0.7], [0.1, np.nan]]),
        "sizes": (("layer",), [1.0, 2.0]),
        "best": (("layer",), ["a", "b"]),
        "all": 0.5,
    },
    coords={"layer": [1, 2], "head": [1, 2]},
    attrs={"study": "profile", "n_examples": 40, "corpus": "text"},
)
LABELS = st.sampled_from(
    [1, 9, "first", "others", "sink", "nearest 1", "nearest x", "best sizes", "best entropy", [1, 2]]
)
NUMBERS = st.fixed_dictionaries(
    {"variable": st.sampled_from(list(RESULT))},
    optional={
        "at": st.dictionaries(st.sampled_from(["layer", "head"]), LABELS, max_size=2),
        "mean": st.lists(st.sampled_from(["layer", "head"]), max_size=2),
        "share_of": st.sampled_from(list(RESULT)),
        "times": st.sampled_from([0, -1, 100]),
    },
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of means of nothing
@settings(max_examples=150, deadline=None)
@given(NUMBERS, st.none() | NUMBERS, st.sampled_from(list(RULES)))
def test_any_number_of_a_result_is_judged_or_refused_in_one_line(tmp_path_factory, number, than, rule):
    entry = OWN | {"number": number, "rule": rule} | ({"than": than} if than else {})
    model = MeasuredModel(("m",), "m", (Source(Path("r"), RESULT),))
    try:
        (judgement,) = judge(model, read_papers(written(tmp_path_factory.mktemp("claims"), entry))[-1:])
    except HeadscopeError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert judgement.record()["verdict"] in VERDICTS
