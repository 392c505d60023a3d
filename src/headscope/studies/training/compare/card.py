"""The change of a head's attention since the first model (Kovaleva et al. 2019, section 4.3)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, cases, of_variable, ordinal, ranked, value
from headscope.report.declared import StudyCard
from headscope.report.kinds import where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.report.wording import number
from headscope.statistics.significance import changed_clearly

SHOWN = 4


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """Cosine similarity to the attention of the first model, for each later model."""
    models = result["model"].values.tolist()
    return tuple(f"similarity.{model}" for model in models)


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """For each later model: the size of the change, and the statistics with the highest rank of change."""
    reference = str(result.attrs.get("reference", "the first model"))
    for model in result["model"].values.tolist():
        mine = [row for row in numbers if str(model) in row.labels]
        similarity, divergence = of_variable(mine, "similarity"), of_variable(mine, "js_divergence")
        if similarity and divergence:
            row = similarity[0]
            most = f"{ordinal(row.heads + 1 - row.rank)} most changed of {row.heads}"
            like = f"Cosine similarity {value(row)} with {reference} ({most}, the median head has {number(row.median)})"
            nats = f"Jensen-Shannon divergence {value(divergence[0])} nats ({ranked(divergence[0])})"
            yield Finding(f"Change in {model}", f"{like}; {nats}; {cases(row)}.")
        yield from _differences(str(model), mine)


def _differences(model: str, numbers: list[Row]) -> Iterator[Finding]:
    changes = [row for row in numbers if row.variable.startswith("difference_")]
    sure = [row for row in changes if row.lower > 0 or row.upper < 0]
    if sure:
        # those with a rank nearest to the first or the last
        nearest = sorted(sure, key=lambda row: min(row.rank, row.heads + 1 - row.rank))
        texts = "; ".join(map(_sentence, nearest[:SHOWN]))
        chance = f"by chance: about {max(1, round(0.05 * len(changes)))}"
        sentence = f"The interval of {len(sure)} of {len(changes)} changes excludes 0 ({chance})"
        yield Finding(
            f"Changes in {model}", f"{sentence}. Changes with the highest or lowest ranks among the heads: {texts}."
        )


def _sentence(row: Row) -> str:
    sign = "+" if row.value > 0 else ""
    return f"{row.long_name}{': ' if row.words else ''}{row.words} {sign}{value(row)} ({ranked(row)})"


def kinds(numbers: Numbers) -> Iterator[HeadKind]:
    """The heads that changed clearly in any of the later models."""
    by_model = numbers.array("similarity").groupby("model").map(changed_clearly)
    yield from where_true(by_model.any("model"), "changed", "changed")


CARD = StudyCard(main_numbers=main_numbers, sentences=sentences)
