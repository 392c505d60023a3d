"""The promise of a tolerance: whether the examples that did not choose show that it is kept."""

import xarray as xr

from headscope.corpora.tasks.metrics import LOWER_IS_BETTER
from headscope.figures.labels import label
from headscope.report.claims import Claim, examples_wanted, no_worse
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.wording import n_examples, number, of_array
from headscope.studies.size.prune.card import unit_of

SPLIT = "one half of the examples chose the number of heads, the other tests it"
IN_ORDER = "heads were ranked on other examples; on these the steps were tested in order, up to the first that fails"


def promise(numbers: Numbers, share: float) -> Finding:
    """What is promised of the model that lacks this share of the heads."""
    how = numbers.attribute("pruning")
    if (tolerance := how["tolerance"]) is None:
        return _without(numbers, share)
    if not how["held_out"]:
        text = "The ranking was measured on the examples that would test it. Leave --from out for a promise."
        return Finding("No promise", text)
    tested = numbers.array("tested_gain")
    return _tested(numbers, tested, share, tolerance) if share else _none(numbers, tested, tolerance)


def _main(numbers: Numbers) -> tuple[str, str]:
    """The main metric, and its name in words."""
    metric = str(numbers.result["metric"].values[0])
    return metric, label("metric", metric)


def _in_order(numbers: Numbers) -> bool:
    return numbers.attribute("pruning")["in_order"]


def _without(numbers: Numbers, share: float) -> Finding:
    """What the interval leaves open, where no tolerance is given."""
    metric, name = _main(numbers)
    change = numbers("score_change", metric=metric, share_removed=share)
    n = (n_examples(numbers.array("pruned_score", metric=metric, share_removed=share)) or (0, 0))[0]
    text = "No tolerance is given (--tolerance): a share of the heads is removed, and nothing is promised."
    if change.tested:
        worst = max(0.0, change.upper if metric in LOWER_IS_BETTER else -change.lower)
        if metric == "accuracy" and n:
            worst = max(worst, 1 - 0.025 ** (1 / n))  # that no answer of n was lost leaves so much open
        text += f" By the 95% interval {name} may be worse by up to {number(worst)}." if worst else ""
    return Finding("No promise", text)


def _none(numbers: Numbers, tested: xr.DataArray, tolerance: float) -> Finding:
    in_order, (_, name) = _in_order(numbers), _main(numbers)
    steps, where = (tested, "") if in_order else (numbers.array("choosing_gain"), " on the half that chooses")
    text = f"For no smaller model can a loss of {number(tolerance)} of {name} be ruled out{where}."
    if steps.sizes["share_removed"] > 1:
        text += _wanted(_claim(steps[1], tolerance), in_order)
    return Finding("No head is removed", text)


def _tested(numbers: Numbers, tested: xr.DataArray, share: float, tolerance: float) -> Finding:
    left, (_, name), (shared, head) = numbers.result["heads_left"].sum("layer"), _main(numbers), unit_of(numbers.result)
    gone, gain = int(left[0] - left.sel(share_removed=share)) // shared, tested.sel(share_removed=share)
    claim, most = _claim(gain, tolerance), number(tolerance)
    how = IN_ORDER if (in_order := _in_order(numbers)) else SPLIT
    text = f"The promise is a loss of less than {most} of {name} ({how}): there it gains {of_array(gain).text}."
    if claim.verdict != "holds":
        text += _wanted(claim, in_order) + _fewer(tested, tolerance)
    return Finding.judged(
        claim,
        text,
        holds=f"Safe to remove: {gone} {head}s for less than {most} of {name}",
        fails=f"The promise is broken: more than {most} of {name} is lost",
        undecided=f"It cannot be told whether {gone} {head}s can go",
        unit="",
    )


def _claim(gain: xr.DataArray, tolerance: float) -> Claim:
    return no_worse(of_array(gain), tolerance, (n_examples(gain) or (0, 0))[0])


def _wanted(claim: Claim, in_order: bool) -> str:
    """How many examples would tell; one half chooses unless all steps are tested in order."""
    if claim.difference.value <= 0:
        return " More examples would not help: the measured loss is too large."
    there = f"{claim.n:,}" if in_order else f"about {2 * claim.n:,}"
    if (wanted := examples_wanted(claim)) is None:
        return f" These are too few to say how many examples would settle this (there are {there})."
    wanted = wanted if in_order else 2 * wanted
    return f" About {wanted:,} test examples would settle this, in five samples of six (there are {there})."


def _fewer(tested: xr.DataArray, tolerance: float) -> str:
    """The largest share up to which each step passes: steps are tested in their order, so that none is chosen."""
    passes = [_claim(step, tolerance).verdict == "holds" for step in tested[1:]]
    steps = passes.index(False) if False in passes else len(passes)
    return f" With up to {float(tested['share_removed'][steps]):.0%} of the heads removed it holds." if steps else ""
