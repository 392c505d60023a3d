"""Results of several corpora as one: all numbers of heads by corpus, the share that keeps its kind, and its page."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import headscope
from headscope import HeadscopeError, join_corpora
from headscope.report.cards.card import Card
from headscope.report.cards.model_results import model_of
from headscope.report.joined_corpora import kinds_by_corpus
from headscope.report.study_page import study_page
from support.cli import run_command
from support.profile_result import profile_result

HEADS = 4


def planted(corpus: str, seed: int, kept: int = HEADS, study: str = "profile") -> xr.Dataset:
    """A profile of 4 heads: of the first `kept` each has the kind [SEP], all others another kind by the seed."""
    result = profile_result(corpus=corpus, study=study, model_sha256="a" * 64).sel(layer=[1, 2], head=[1, 2])
    result["attention_offset"][:], result["attention_to"][:], result["entropy"][:] = 0.1, 0.1, 1.0 + seed
    for number in range(HEADS):
        name = "sep" if number < kept else ("cls", "punct")[seed % 2]
        result["attention_to"].loc[{"layer": 1 + number // 2, "head": 1 + number % 2, "token_class": name}] = 0.9
    return result


def naive_share(found: list[xr.Dataset]) -> float:
    """The share of heads whose largest attention to a class is to the same class in all, by a loop."""
    same = 0
    for layer in (1, 2):
        for head in (1, 2):
            shares = [one["attention_to"].sel(layer=layer, head=head) for one in found]
            same += len({str(share["token_class"].values[int(share.values.argmax())]) for share in shares}) == 1
    return same / HEADS


@pytest.mark.parametrize("kept", [0, 1, 3, 4])
def test_the_share_that_keeps_its_kind_is_that_of_a_loop(kept: int) -> None:
    found = [planted("en", 0, kept), planted("de", 1, kept), planted("tr", 1, kept)]
    joined = join_corpora(found)
    assert joined["same_kind"] == naive_share(found) == kept / HEADS
    lower, upper = joined["same_kind_ci"].values
    assert lower <= kept / HEADS <= upper and upper - lower > 0.3
    by_chance = (kept / HEADS) ** 3  # [SEP] on all three; of the other kind no corpus shares more than two
    assert float(joined["same_kind_chance"]) == pytest.approx(by_chance)


def test_numbers_are_those_of_the_results_by_corpus() -> None:
    german = planted("de", 1).drop_vars("cls_entropy").drop_vars("cls_entropy_ci", errors="ignore")
    joined = join_corpora([planted("en", 0), german])
    assert joined["corpus"].values.tolist() == ["en", "de"] and "cls_entropy" not in joined
    for corpus, one in (("en", planted("en", 0)), ("de", german)):
        for name in ("entropy", "attention_to", "attention_to_ci", "attention_offset"):
            if name in one:
                np.testing.assert_array_equal(joined[name].sel(corpus=corpus), one[name])
    assert joined["entropy"].attrs["units"] == "nats" and joined.attrs["corpus"] == "en, de"


def test_labels_that_a_corpus_lacks_are_missing_there_and_shared_names_are_told_apart() -> None:
    english, german = planted("en", 0), planted("de", 1).sel(relation=["verb_to_subject"])
    others = [one.assign_attrs(study="trees").sel(token_class=["cls", "sep"]) for one in (english, german)]
    joined = join_corpora([english, german, *others])
    missing = joined["token_attention"].sel(corpus="de", relation="pronoun_to_noun")
    assert missing.isnull().all() and joined["token_attention"].sel(corpus="en").notnull().all()
    assert joined["trees_attention_to"].notnull().any("token_class").all()


def test_counts_of_labels_that_a_corpus_lacks_are_missing_in_the_file_too(tmp_path: Path) -> None:
    counts = xr.DataArray(
        [7, 9], {"relation": ["verb_to_subject", "pronoun_to_noun"]}, name="token_attention_n_examples"
    )
    counts.attrs |= {"long_name": "examples", "units": "examples", "source": "made"}
    for corpus, seed, relations in (("en", 0, 2), ("de", 1, 1)):
        there = counts[:relations]
        part = planted(corpus, seed).drop_vars("token_attention_n_examples", errors="ignore")
        part = part.sel(relation=there["relation"]).assign(token_attention_n_examples=there)
        headscope.save_result(part, tmp_path / corpus)
    joined = join_corpora([headscope.open_result(tmp_path / corpus) for corpus in ("en", "de")])
    headscope.save_result(joined, tmp_path / "both")
    read = headscope.open_result(tmp_path / "both")["token_attention_n_examples"]
    assert read.sel(corpus="en", relation=counts["relation"]).values.tolist() == [7, 9]
    assert read.sel(corpus="de", relation="verb_to_subject") == 7
    assert np.isnan(read.sel(corpus="de", relation="pronoun_to_noun"))


def test_one_corpus_and_several_models_are_refused() -> None:
    with pytest.raises(HeadscopeError, match="no study was run on two corpora"):
        join_corpora([planted("en", 0)])
    with pytest.raises(HeadscopeError, match="results are of 2 models"):
        join_corpora([planted("en", 0), planted("de", 1).assign_attrs(model_sha256="b" * 64)])


def test_a_joined_result_is_read_as_any_other(tmp_path: Path) -> None:
    headscope.save_result(join_corpora([planted("en", 0, 3), planted("de", 1, 3)]), tmp_path)
    joined = headscope.open_result(tmp_path)
    assert joined.attrs["study"] == "corpora" and joined["kind"].sel(corpus="en").values.tolist()[0] == ["sep", "sep"]
    frame = headscope.tidy(joined, "entropy")
    assert set(frame["corpus"]) == {"en", "de"} and len(frame) == 2 * HEADS
    (part,) = Card(model_of(joined), 1, 1).parts
    assert {row.words for row in part.rows if row.variable == "entropy"} == {"en", "de"}
    first, *_ = (finding for finding in study_page(joined).highlights() if finding.claim)
    assert first.topic.startswith("75% of the heads do the same on both corpora") and first.verdict == "undecided"
    # It is none of the results of the next join.
    assert kinds_by_corpus([planted("en", 0), joined]) is None and not [*study_page(joined).kinds()]


def test_the_command_writes_the_result_and_its_page(tmp_path: Path) -> None:
    for name, seed in (("en", 0), ("de", 1)):
        headscope.save_result(planted(name, seed, 3), tmp_path / name)
    words = ("join", str(tmp_path), "-o", str(tmp_path / "both"), "--no-figures")
    done = run_command(*words)
    assert done.exit_code == 0 and "75% of the heads do the same on both corpora" in done.output
    joined = headscope.open_result(tmp_path / "both")
    page = (tmp_path / "both" / "report.html").read_text(encoding="utf-8").lower()
    assert "75% of the heads do the same on both corpora" in page and "entropy of attention" in page
    assert run_command(*words).exit_code == 0 and headscope.open_result(tmp_path / "both").identical(joined)


@pytest.mark.parametrize("sliced", [0, 1])
def test_results_with_other_heads_are_refused(sliced: int) -> None:
    runs = [profile_result().assign_attrs(corpus=name) for name in ("a", "b")]
    runs[sliced] = runs[sliced].isel(layer=[0])
    with pytest.raises(HeadscopeError, match=r"has other layers or heads than that of 'a'; join whole results"):
        join_corpora(runs)
