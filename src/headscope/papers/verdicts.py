"""Verdicts of saved results on claims of papers: holds, fails, undecided, not measured, or does not apply."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Literal

import xarray as xr

from headscope.catalog import command_name
from headscope.errors import HeadscopeError
from headscope.papers.entry_file import ClaimedNumber
from headscope.papers.numbers import LackingError, absent, averaged, over_seeds, sink, take
from headscope.papers.paper_claim import Paper, PaperClaim
from headscope.papers.rules import RULES
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.claims import LEAST_SEEDS, MOST_NAMED, Claim, examples_wanted
from headscope.report.parts import Finding
from headscope.report.shared_findings import unlearned

Verdict = Literal["holds", "fails", "undecided", "not measured", "does not apply"]
VERDICTS: tuple[Verdict, ...] = ("holds", "fails", "undecided", "not measured", "does not apply")


@dataclass(frozen=True)
class Judgement:
    """A claim of a paper and what the results of a model say of it.

    * `test`: the number, what it is compared with, and the difference; None if it is not measured.
    * `words`: the head or layers that the number is of; `token`: the special token, where the claim is of one.
    * `source`: the result; `lacks`: why there is no number, or why the verdict is open.
    * `applies`: False if the model or the corpus has nothing that could show the claim.
    """

    paper: Paper
    claim: PaperClaim
    test: Claim | None = None
    words: str = ""
    token: str = ""
    source: Source | None = None
    lacks: str = ""
    applies: bool = True

    @property
    def verdict(self) -> Verdict:
        """What the results say."""
        if self.test is None:
            return "not measured" if self.applies else "does not apply"
        return "undecided" if self.lacks else self.test.verdict

    @property
    def wanted(self) -> int | None:
        """The number of examples that would decide an undecided claim in five samples of six; None if not known."""
        if self.verdict != "undecided" or self.test is None or self.lacks:
            return None
        if RULES[self.claim.rule].over or self.claim.procedure:
            return None
        wanted = examples_wanted(self.test)
        return wanted if wanted is None or wanted <= MOST_NAMED else None

    def record(self) -> dict[str, Any]:
        """The verdict for programs."""
        numbers = Finding("", "", self.test).record()
        kept = ("value", "baseline", "difference", "interval", "n", "q")
        claim = self.claim
        about = {"id": claim.id, "version": claim.version, "paper": self.paper.name, "section": claim.section}
        return {
            **about,
            "claim": claim.claim,
            "verdict": self.verdict,
            **{name: numbers[name] for name in kept},
            "where": self.words or None,
            "token": self.token or None,
            "examples_wanted": self.wanted,
            "reason": self.lacks or None,
            "result": str(self.source.path) if self.source else None,
            "corpus": str(self.source.result.attrs["corpus"]) if self.source else None,
            "figure": claim.figure or None,
            "figure_source": claim.source or None,
            "figure_level": claim.level or None,
        }


def judge(model: MeasuredModel, papers: Iterable[Paper]) -> list[Judgement]:
    """The verdict of a model's results on each claim, in the order of the papers.

    Of several results that could decide a claim the one with the most examples does; of a model that has not learned
    its task nothing is said.

    Raises `HeadscopeError` for a claim whose number does not fit its rule.
    """
    return [_judged(paper, claim, model.sources) for paper in papers for claim in paper.claims]


def _judged(paper: Paper, claim: PaperClaim, sources: Sequence[Source]) -> Judgement:
    if not claim.study:
        return Judgement(paper, claim, lacks=f"headscope would need {claim.needs}")
    mine = [source for source in sources if _fits(source.result, claim)]
    reasons = {source.path: absent(source.result, claim.requires) for source in mine}
    able = [source for source in mine if not reasons[source.path]]
    for source in sorted(
        able, key=lambda source: (bool(_open(source, claim)), -int(source.result.attrs["n_examples"]))
    ):
        try:
            with _refusing(claim):
                test, words = _tested(source.result, claim)
                token = _token(source.result, claim)
        except LackingError:
            continue
        return Judgement(paper, claim, test, words, token, source, _open(source, claim))
    if mine and not able:
        return Judgement(paper, claim, source=mine[0], lacks=reasons[mine[0].path], applies=False)
    return Judgement(paper, claim, lacks=f"headscope {claim.command or f'{command_name(claim.study)} MODEL CORPUS'}")


def _fits(result: xr.Dataset, claim: PaperClaim) -> bool:
    """Whether a result is of the claim's study, with its options, and of inputs that can decide it."""
    options = json.loads(result.attrs.get("options", "{}")) if claim.options else {}
    if result.attrs["study"] != claim.study or any(name in result for name in claim.unless):
        return False
    return claim.options.items() <= options.items()


@contextmanager
def _refusing(claim: PaperClaim) -> Iterator[None]:
    """Refuse a number of another kind than the rule takes: a claim may name any variable and any labels of a result."""
    try:
        yield
    except LackingError:
        raise
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        names = " and ".join(f"'{number.variable}'" for number in (claim.number, claim.than) if number)
        reason = shorten(str(error), 100, placeholder=" ...")
        raise HeadscopeError(
            f"claim '{claim.id}': rule '{claim.rule}' cannot take {names} ({reason}); change `at`, `mean` or the rule"
        ) from error


def _tested(result: xr.Dataset, claim: PaperClaim) -> tuple[Claim, str]:
    assert claim.number is not None  # a claim of a study has one
    read = over_seeds if claim.procedure else take
    array = _single(read(result, claim.number))
    than = _single(read(result, claim.than)) if claim.than else None
    if bool(array.isnull().all()):
        raise LackingError(claim.number.variable)
    rule = RULES[claim.rule]
    if rule.dims is not None and array.dims != rule.dims:
        raise HeadscopeError(
            f"claim '{claim.id}': rule '{claim.rule}' takes a number by {', '.join(rule.dims) or 'no dimension'}, "
            f"'{claim.number.variable}' has {', '.join(map(str, array.dims)) or 'none'}; use `at` or `mean`"
        )
    counts = [
        int(number["n_examples"].min())
        for number in (array, than)
        if number is not None and "n_examples" in number.coords
    ]
    return rule.test(array, than, claim.limit, min(counts, default=int(result.attrs["n_examples"])))


def _single(array: xr.DataArray) -> xr.DataArray:
    """The array of the first model, where several are compared; the mean over corpora, where there are several."""
    array = array.isel(model=0).drop_vars("model") if "model" in array.dims else array
    return averaged(array, ["task"]) if {"task", "pattern"} <= {*array.dims, *array.coords} else array


def _token(result: xr.Dataset, claim: PaperClaim) -> str:
    numbers: list[ClaimedNumber | None] = [claim.number, claim.than]
    names = [label for number in numbers if number for label in number.at.values()]
    return sink(result) if "sink" in [name for name in names if isinstance(name, str)] else ""


def _open(source: Source, claim: PaperClaim) -> str:
    """Why the number cannot decide the claim."""
    if not RULES[claim.rule].decides:
        return "a description: no limit decides it"
    seeds = int(source.result.sizes.get("seed", 1))
    if claim.procedure and seeds < LEAST_SEEDS:
        return f"a claim about training needs {LEAST_SEEDS} seeds, here {seeds}"
    return "the task is not learned" if unlearned(source.result) else ""
