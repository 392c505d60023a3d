"""Findings, tables, figures and sentences of cards on best heads that several studies share.

Also whether they look at special tokens where their function does not apply (Clark et al. 2019, section 3.2).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.report.best_heads import ChosenHead, tests_made
from headscope.report.cards.head_numbers import Row, cases, ranked, value
from headscope.report.claims import Claim, above, weakest, witness
from headscope.report.parts import Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, agree, estimate, first_of, number, rate, several
from headscope.results import in_series
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, enough

OF_THIS_HEAD = "Intervals are those of the head that this run chose; on other data another may be chosen."
NAMED, HALF = 4, 0.5


def of_all_cases(heads: list[ChosenHead]) -> list[ChosenHead]:
    """The chosen head of all cases, if there is one."""
    return [head for head in heads[:1] if head.name == "all"]


def counted(n: int, cases: str) -> str:
    """What a count of special heads depends on, as a further sentence."""
    return f" Counts of heads grow with the data: here {n:,} {cases}."


def by_number_of_cases(
    name: str,
    caption: str,
    cases: str,
    columns: Iterable[str],
    heads: Iterable[ChosenHead],
    cells: Callable[[ChosenHead], Cells],
) -> list[Table]:
    """Tables of relations: those with enough cases, the largest gain first, and apart those with fewer."""
    ranked = sorted(heads, key=lambda head: (head.name != "all", -head.gain.value))
    few = f"Relations of fewer than {LEAST_CASES} {cases}: too few to call a head special."
    parts = [(caption, [head for head in ranked if head.enough]), (few, [head for head in ranked if not head.enough])]
    return [
        titled(f"{name}-{number}", words, "Relation", columns, [(head.name, cells(head)) for head in rows])
        for number, (words, rows) in enumerate(parts)
        if rows
    ]


def frequent(result: xr.Dataset, count: str) -> xr.Dataset:
    """The relations with enough cases, by the variable `count`; all where there is none."""
    part = result.sel(relation=result[count] >= LEAST_CASES)
    return part if part.sizes["relation"] else result


def beside(result: xr.Dataset, parts: Mapping[str, xr.DataArray]) -> xr.DataArray:
    """Scores of best heads and baselines [relation, which]: "all", then the largest gains, named with the head."""
    joined = in_series(parts, "which").transpose("relation", "which")
    rank = result["chosen_gain"].where(result["relation"] != "all", 2).fillna(-2)
    order = (-rank).argsort().values
    heads = zip(*(result[name].values[order] for name in ("relation", "chosen_layer", "chosen_head")), strict=True)
    names = [
        f"{label('relation', name)} {head_name(int(layer), int(head)) if layer > 0 else ''}".rstrip()
        for name, layer, head in heads
    ]
    return joined.isel(relation=order).assign_coords(relation=names)


def special_for(
    result: xr.Dataset, rows: list[Row], topic: str, sentence: Callable[[Row], str], rule: str, shown: int
) -> Iterator[Finding]:
    """At most `shown` relations for which a head is special; else the one with the largest gain over its baseline.

    * `rows`: a number of the head for each relation and direction; `rule`: when a head is special.
    """
    rows = sorted((row for row in rows if enough(row.n)), key=lambda row: row.baseline - row.value)
    labels = _special_labels(result, rows[0]) if rows else set()
    special = [sentence(row) for row in rows if row.labels in labels]
    rule = f"{rule}; corrected for {tests_made(result)} heads, relations and directions (Benjamini-Hochberg)"
    if special:
        yield Finding(topic, f"{first_of(special, shown)} ({rule}).")
    elif rows:
        yield Finding(topic, f"No relation ({rule}). Nearest: {sentence(rows[0])}.")


def _special_labels(result: xr.Dataset, head: Row) -> set[tuple[str, ...]]:
    """The relations and directions for which a head is special; read once, as a label at a time takes long."""
    special = result["special"].sel(layer=head.layer, head=head.head).transpose("relation", "direction")
    relations, directions = (special[name].values.tolist() for name in special.dims)
    return {(relations[row], directions[column]) for row, column in np.argwhere(special.values == 1).tolist()}


def beside_baseline(row: Row, baseline: str, test: str = "") -> str:
    """A number of a head beside its baseline, with its rank, cases, rate, and the name of the test."""
    q = "" if pd.isna(row.q) else f", q {rate(row.q)}{test}"
    return f"{value(row)}, {baseline} {number(row.baseline)} ({ranked(row)}), {cases(row)}{q}"


def best_head_of(scores: list[str], where: str, topic: str = "Chosen head of") -> Iterator[Finding]:
    """The held-out scores, `where`, of what a head was selected for; nothing where it was not selected."""
    if scores:
        yield Finding(topic, f"This run chose the head for these; scores on {where}: {'; '.join(scores)}.")


def no_op(result: xr.Dataset, heads: Sequence[ChosenHead], words: Mapping[str, str] | None = None) -> Iterator[Finding]:
    """The special head that looks most at special tokens where its function does not apply, and how many others do.

    It does so if other words give special tokens 0.1 more than those to which its function applies, beyond chance, and
    more than half of their attention. Heads that are not special for their function have none that could not apply.
    """
    claims = [(head, claim) for head in heads if head.special and (claim := _claim(result, head))]
    if not claims:
        return
    best, claim = claims[witness([claim for _, claim in claims])]
    applies, otherwise = (_share(result, f"sink_{name}", best).value for name in ("applies", "otherwise"))
    sure = [f"{head.head} ({head.name})" for head, claim in claims if claim.verdict == "holds"]
    which = f": {first_of(sure, NAMED, ', ')}" if sure else ""
    yield Finding.judged(
        claim,
        f"It gives special tokens {applies:.0%} of its attention from words to which its function applies, and "
        f"{otherwise:.0%} from other words of the same sentences: {_share(result, 'sink_gain', best).points} points. "
        f"{len(sure)} of {several(len(claims), 'chosen head')} {agree(len(sure), 'gives', 'give')} them more than half "
        f"there, and {GAIN} more than where it applies (q < {RATE}){which}. n = {claim.n:,} held-out "
        "inputs.",
        holds=f"Head {best.head} looks at special tokens where there is no {(words or {}).get(best.name, best.name)}",
        fails="No chosen head looks at special tokens where its function does not apply",
        undecided="It cannot be told whether heads look at special tokens where their function does not apply",
        unit="inputs",
    )


def sink_of_head(result: xr.Dataset, heads: Sequence[ChosenHead]) -> Iterator[Finding]:
    """The functions of a head for its card, each with attention to special tokens where it applies and elsewhere."""
    texts = [
        f"{head.name}: {_share(result, 'sink_applies', head).text} where it applies, "
        f"{_share(result, 'sink_otherwise', head).text} elsewhere (q = {rate(_rate(result, head))})"
        for head in heads
        if _claim(result, head)
    ]
    if texts:
        yield Finding("Special tokens without a function", f"Attention to them: {'; '.join(texts)}.")


def _claim(result: xr.Dataset, head: ChosenHead) -> Claim | None:
    if "sink_gain" not in result:
        return None
    gain = _share(result, "sink_gain", head)
    if not gain.tested:
        return None
    n, otherwise = int(result["sink_gain_n_examples"].sel(head.labels)), _share(result, "sink_otherwise", head)
    more = Claim(otherwise.value, otherwise.value - gain.value, gain, n, _rate(result, head), GAIN)
    # Words that look at all tokens equally give special tokens something, too.
    return weakest([more, above(otherwise, HALF, n)])


def _share(result: xr.Dataset, name: str, head: ChosenHead) -> Estimate:
    return estimate(result, name, **head.labels)


def _rate(result: xr.Dataset, head: ChosenHead) -> float:
    return float(result["sink_q_value"].sel(head.labels))
