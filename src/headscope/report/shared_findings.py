"""Findings that studies share: whether a task is learned, what training changed, what a test would have found."""

from collections.abc import Iterable
from math import isnan

import xarray as xr

from headscope.report.claims import LEAST_SEEDS, Claim, above, above_random_weights, below
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, measured, n_examples, number, of_array
from headscope.statistics.significance import LOWER_IS_BETTER, POWER, smallest_change, smallest_fall, standard_error

# The score of the whole model in a result of its parts, and where it stands.
WHOLE: dict[str, dict[str, float]] = {"baseline": {}, "pruned_score": {"share_removed": 0.0}, "whole_score": {}}


def change(similarity: xr.DataArray, since: str = "since the first model") -> xr.DataArray:
    """1 minus a similarity of attention, with its interval; 0 where nothing has changed. `since` ends its name.

    >>> coords = {"layer": [1], "lower": ("layer", [0.5]), "upper": ("layer", [1.0])}
    >>> changed = change(xr.DataArray([0.75], coords, ["layer"]))
    >>> changed.item(), changed["lower"].item(), changed["upper"].item()
    (0.25, 0.0, 0.5)
    """
    ends = {"lower": "upper", "upper": "lower"} if "lower" in similarity.coords else {}
    bounds = {end: 1 - similarity[other] for end, other in ends.items()}
    attrs = {"long_name": f"change of attention {since}", "units": "1 − cosine"}
    return (1 - similarity).assign_coords(bounds).assign_attrs(similarity.attrs | attrs).rename("change")


def not_learned(score: Estimate, chance: float, n: int, *, is_loss: bool = False) -> Finding | None:
    """The finding that a model scores no better than chance; None where it does, or chance is not known.

    >>> finding = not_learned(Estimate(0.51, 0.46, 0.56), 0.5, 400)
    >>> finding and finding.topic, not_learned(Estimate(0.8, 0.75, 0.85), 0.5, 400)
    ('The task is not learned, as far as these examples show', None)
    """
    if isnan(chance) or isnan(score.value):
        return None
    claim = (below if is_loss else above)(score, chance, n)
    text = f"The score is {score.text}; always the same answer scores {number(chance)}. So heads are not judged."
    finding = Finding.judged(
        claim,
        text,
        holds="The task is learned",
        fails="The task is not learned",
        undecided="The task is not learned, as far as these examples show",
        unit="examples",
    )
    return None if claim.verdict == "holds" else finding


def unlearned(result: xr.Dataset) -> Finding | None:
    """The finding that the whole model has not learned its task; None where it has, or that is not known.

    The one gate of pages, cards of models and claims of papers: nothing is said of the parts of such a model. A model
    that follows shortcuts is no better than always the same answer, and passes.
    """
    if "case_score" in result or "chance" not in result or result["chance"].dims != ("metric",):
        return None
    metric = str(result["metric"].values[0])
    for name in filter(result.data_vars.__contains__, WHOLE):
        if (score := measured(result, name, metric=metric, **WHOLE[name])) is not None:
            n = n_examples(score) or (int(result.attrs["n_examples"]),)
            chance = float(result["chance"].sel(metric=metric))
            return not_learned(of_array(score), chance, n[0], is_loss=metric in LOWER_IS_BETTER)
    return None


def beside_random_seeds(
    what: str, trained: Estimate, random: Iterable[float], beside: Claim, text: str, unit: str
) -> Finding:
    """A finding whose topic says whether the model scores higher than random weights and than baselines, if it is sure.

    What is no better than a baseline does not come from training, however far below it random weights are. Fewer than
    three seeds of random weights are compared with nothing.

    >>> of_random, better = [0.3, 0.31, 0.32], Claim(0.5, 0.4, Estimate(0.1, 0.05, 0.15), 99)
    >>> beside_random_seeds("Syntax in attention", Estimate(0.07, 0.06, 0.08), of_random, better, "7%.", "words").topic
    'Syntax in attention: random weights do as well'
    """
    scores = list(random)
    over_random = above_random_weights(trained, scores, beside.n)
    claim = beside if over_random.verdict == "holds" != beside.verdict else over_random
    other = "random weights do" if claim is over_random else "a baseline does"
    few = f" A comparison needs random weights of {LEAST_SEEDS} seeds; this result has {len(scores)}."
    return Finding.judged(
        claim,
        text + (few if len(scores) < LEAST_SEEDS else ""),
        holds=f"{what} comes from training",
        fails=f"{what}: {other} as well",
        undecided=f"{what}: not distinguishable from {'random weights' if claim is over_random else 'a baseline'}",
        unit=unit,
    )


def least_found(changes: xr.DataArray, metric: str, examples: int, tests: int = 1) -> str:
    """The smallest fall of a score that a test of this many examples finds, as a sentence; empty without intervals.

    Of several heads, for which the test is corrected, it is that of the head with the median noise.

    >>> least_found(xr.DataArray(-0.01, {"lower": -0.04, "upper": 0.02}), "accuracy", 408, tests=72)
    'With 408 examples, a loss of 6.4 points of accuracy is found in 80% of cases (corrected for 72 heads); smaller \
losses may be missed.'
    """
    if "lower" not in changes.coords or bool((error := standard_error(changes)).isnull().all()):
        return ""
    if metric == "accuracy":
        # the variance of a difference of accuracies is its discordance minus the squared difference, over n
        fall = smallest_fall(examples, min(1.0, float((examples * error**2 + changes**2).median())), tests)
        words = f"{100 * fall:.1f} points of {metric}"
    else:
        fall = smallest_change(float(error.median()), tests)
        words = f"{number(fall)} of {metric}"
    among = f" (corrected for {tests} heads)" if tests > 1 else ""
    if isnan(fall):
        return f"{examples:,} examples are too few to find any fall of {metric}{among}."
    power = f"a loss of {words} is found in {POWER:.0%} of cases{among}"
    return f"With {examples:,} examples, {power}; smaller losses may be missed."


BETWEEN_SEEDS = (
    "In BERT-base, fine-tuned with five seeds on each of nine tasks of GLUE, the importance of heads has a rank "
    "correlation of .25 to .46 between two seeds, by task (Prasanna et al. 2020, recomputed from released results)."
)


def one_training() -> Finding:
    """A note that importance is of one training, and how far seeds agreed in BERT-base.

    >>> one_training().topic
    'The importance of heads is that of one training'
    """
    remedy = "headscope finetune --weight-seeds 5 measures it for this task; headscope join compares results of seeds."
    return Finding("The importance of heads is that of one training", f"{BETWEEN_SEEDS} {remedy}")
