"""What heads do on several corpora: the share that keeps its kind, and the page that shows it."""

from pathlib import Path

import pytest
import xarray as xr

from headscope.report.cards.model_results import models_in
from headscope.report.corpora_page import write_corpora
from headscope.report.joined_corpora import comparable, kinds_by_corpus
from support.profile_result import profile_result


def on(corpus: str, *heads: tuple[int, int, str, float], study: str = "profile") -> xr.Dataset:
    """A profile in which no head has a kind but these: (layer, head, class of token, attention)."""
    result = profile_result(corpus=corpus, study=study).sel(layer=[1, 2], head=[1, 2])
    result["attention_offset"][:], result["attention_to"][:], result["entropy"][:] = 0.1, 0.1, 1.0
    for layer, head, name, value in heads:
        result["attention_to"].loc[{"layer": layer, "head": head, "token_class": name}] = value
    return result


ENGLISH = on("en", (1, 1, "sep", 0.9), (1, 2, "cls", 0.8), (2, 1, "sep", 0.7))
GERMAN = on("de", (1, 1, "sep", 0.8), (1, 2, "punct", 0.8), (2, 1, "sep", 0.7))


def test_share_of_heads_that_keep_their_kind_is_counted() -> None:
    made = kinds_by_corpus([ENGLISH, GERMAN])
    assert made is not None
    assert made["kind"].sel(corpus="en").values.tolist() == [["sep", "cls"], ["sep", "mixed"]]
    assert made["kind"].sel(corpus="de").values.tolist() == [["sep", "punct"], ["sep", "mixed"]]
    assert made["same_kind"] == 3 / 4 and made["same_kind_n_examples"] == 4
    assert made["same_kind_ci"].sel(bound="lower") < 3 / 4 < made["same_kind_ci"].sel(bound="upper")
    # Two of four [SEP] heads on each, one of four mixed.
    assert float(made["same_kind_chance"]) == pytest.approx(1 / 4 + 1 / 16)
    kept = dict(zip(made["kind_name"].values.tolist(), made["kept_kind"].values.tolist(), strict=True))
    assert kept == {"sep": 1, "cls": 0, "punct": 0, "mixed": 1}


def test_the_same_corpus_keeps_all_and_a_third_one_counts() -> None:
    again = kinds_by_corpus([ENGLISH, ENGLISH.assign_attrs(corpus="again")])
    assert again is not None and again["same_kind"] == 1
    three = kinds_by_corpus([ENGLISH, GERMAN, on("tr", (1, 1, "cls", 0.9))])
    assert three is not None and three["same_kind"] == 1 / 4 and three.sizes["corpus"] == 3


def test_only_studies_of_all_corpora_are_compared() -> None:
    syntax_alone = ENGLISH.assign_attrs(study="clusters")
    found = comparable([ENGLISH, syntax_alone, GERMAN])
    assert {corpus: [one.attrs["study"] for one in results] for corpus, results in found.items()} == {
        "en": ["profile"],
        "de": ["profile"],
    }
    assert kinds_by_corpus([ENGLISH, syntax_alone]) is None and kinds_by_corpus([]) is None


def test_the_page_says_it_with_a_picture(tmp_path: Path) -> None:
    found = {tmp_path / name / "result.nc": result for name, result in {"en": ENGLISH, "de": GERMAN}.items()}
    page = write_corpora(models_in(found), tmp_path)
    assert page is not None and page.name == "corpora.html"
    text = page.read_text(encoding="utf-8")
    assert "75% of the heads do the same on both corpora" in text and ">1-2<" in text
    assert (tmp_path / "figures" / "corpora-1.svg").is_file()
    assert write_corpora(models_in({tmp_path / "result.nc": ENGLISH}), tmp_path) is None


def test_a_corpus_on_which_no_head_has_a_kind_counts() -> None:
    made = kinds_by_corpus([ENGLISH, on("tr")])
    assert made is not None and made["same_kind"] == 1 / 4  # head 2-2 is mixed on both
