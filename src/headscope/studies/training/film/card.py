"""The changes of one head over the steps of a training (Kovaleva et al. 2019, section 4.3)."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable, ranked, value
from headscope.report.kinds import where_true
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding, HeadKind
from headscope.report.wording import number
from headscope.statistics.significance import changed_clearly


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """The similarity of attention at the last step, and when half of the change was there."""
    return (f"step_similarity.{result['step'].values.tolist()[-1]}", "half_change_of_head")


def sentences(result: xr.Dataset, rows: list[Row]) -> Iterator[Finding]:
    """The head's change at each step, and when half of it was there."""
    similar, halves = of_variable(rows, "step_similarity"), of_variable(rows, "half_change_of_head")
    if not similar:
        return
    texts = ", ".join(f"step {row.words} {number(1 - row.value)}" for row in similar[1:])
    text = f"1 minus the cosine of attention and that of the start: {texts}."
    if halves:
        text += f" Half of the last one was reached after {value(halves[0])} of the steps ({ranked(halves[0])})."
    yield Finding("Change by step", text)
    yield from _of_other_studies(of_variable(rows, "step_number"))


def _of_other_studies(rows: list[Row]) -> Iterator[Finding]:
    """Each main number of other studies at the first and the last step at which the head has it."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.labels[0], []).append(row)
    texts = [
        f"{name} {value(of_steps[0])} at step {of_steps[0].labels[1]}, {value(of_steps[-1])} at step "
        f"{of_steps[-1].labels[1]} ({ranked(of_steps[-1])})"
        for name, of_steps in by_name.items()
    ]
    if texts:
        yield Finding("Other studies", f"{'; '.join(texts)}.")


def kinds(numbers: Numbers) -> Iterator[HeadKind]:
    """The heads that changed clearly at the last step."""
    similar = numbers.array("step_similarity").isel(step=-1, drop=True)
    yield from where_true(changed_clearly(similar), "changed", "changed")
