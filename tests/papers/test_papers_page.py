"""docs/papers.md has the verdicts of the numbers in docs/measured, and ten of them are recomputed here by hand."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from headscope import open_result

DOCS = Path(__file__).parents[2] / "docs"
SPEC = importlib.util.spec_from_file_location("papers_page", DOCS / "tools" / "papers_page.py")
assert SPEC and SPEC.loader
papers_page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(papers_page)


def result(name: str) -> xr.Dataset:
    return open_result(DOCS / "measured" / name)


def bounds(name: str, variable: str, **labels: object) -> np.ndarray:
    """The interval of a number, bounds last."""
    return result(name)[f"{variable}_ci"].sel(labels).values


def by_hand(claim: str) -> tuple[float, str]:
    """The number and the verdict of a claim, from the arrays alone."""
    match claim:
        case "C1" | "C2":
            offset = -1 if claim == "C1" else 1
            best = result("profile")["attention_offset"].sel(offset=offset).values.max()
            lower = bounds("profile", "attention_offset", offset=offset)[..., 0].max()
            return best, "holds" if lower > 0.5 else "undecided"
        case "C4":
            means = result("profile")["attention_to"].sel(token_class="cls").mean("head").values
            upper = bounds("profile", "attention_to", token_class="cls")[..., 1].mean(1)
            pairs = np.minimum(means[1:], means[:-1])
            return pairs.max(), "fails" if np.minimum(upper[1:], upper[:-1]).max() < 0.5 else "undecided"
        case "C5":
            top = bounds("profile", "sep_to_sep")[..., 1].max()
            return result("profile")["sep_to_sep"].values.max(), "fails" if top < 0.9 else "undecided"
        case "C9":
            layers = result("profile")["cls_entropy"].values.mean(1)
            ends = bounds("profile", "cls_entropy").mean(1)
            lower = ends[-1, 0] - ends[:-1, 1].mean()
            return layers[-1], "holds" if lower > 0 else "undecided"
        case "C10":
            upper = bounds("syntax", "chosen_accuracy", relation="all")[1]
            return float(
                result("syntax")["chosen_accuracy"].sel(relation="all")
            ), "holds" if upper < 0.5 else "undecided"
        case "C12":
            special = result("syntax")["special"].values == 1  # [layer, head, relation, direction]
            share, n = special[..., 0].sum() / special.sum(), special.sum()
            return share, "holds" if share - 1.96 * np.sqrt(share * (1 - share) / n) > 0.5 else "undecided"
        case "C18":
            return float(result("clusters")["layer_gap"]), "holds" if bounds("clusters", "layer_gap")[0] > 0 else "?"
        case "K2":
            upper = bounds("patterns", "share_total", pattern="heterogeneous")[:, 1].mean()
            shares = result("patterns")["share_total"].sel(pattern="heterogeneous").values
            return shares.mean(), "holds" if upper < 0.61 else "undecided"
        case "K10":
            words = ["noun", "verb", "pron", "subj", "obj", "neg"]
            attention = result("profile-ewt")["feature_attention"]
            upper = bounds("profile-ewt", "feature_attention", feature=words)[..., 1].mean()
            lower = bounds("profile-ewt", "start_attention", feature=words)[..., 0].mean() / 3
            return float(attention.sel(feature=words).mean()), "holds" if upper < lower else "undecided"
    raise AssertionError(claim)


@pytest.fixture(scope="module")
def judged() -> dict:
    return {one.claim.id: one for one in papers_page.judgements()}


def test_the_page_has_the_verdicts_of_the_kept_numbers() -> None:
    page = papers_page.PAGE.read_text(encoding="utf-8")
    assert papers_page.written(page, papers_page.judgements()) == page


@pytest.mark.parametrize("claim", ["C1", "C2", "C4", "C5", "C9", "C10", "C12", "C18", "K2", "K10"])
def test_a_verdict_is_the_one_by_hand(claim: str, judged: dict) -> None:
    value, verdict = by_hand(claim)
    assert (judged[claim].test.value, judged[claim].verdict) == (pytest.approx(value, abs=1e-6), verdict)


def test_kept_numbers_have_no_text_and_no_path() -> None:
    for path in (DOCS / "measured").rglob("result.nc"):
        kept = open_result(path.parent)
        assert not any("typical" in str(name) or "token" == name for name in kept.variables)
        assert not any(str(value).startswith("/") for value in kept.attrs.values()), path
