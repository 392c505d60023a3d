"""Best heads are read from the variables that a study names."""

import numpy as np
import xarray as xr

from headscope.report.best_heads import BestHeads, by_gain, chosen_heads, special_claim, special_heads

STUDY = BestHeads(
    ("relation",), "score", ("over_one", "over_other"), direction="way", random="random", cases="n", held_out="n"
)
WITH_BOUNDS = {"over_one": -0.1, "over_other": 0.1}


def result() -> xr.Dataset:
    """Head 1-2 is the best for all but "cc", which a half lacks; a head with random weights is better for "obj"."""
    dims, names = ("relation",), ["all", "det", "obj", "cc"]
    special = np.zeros((1, 2, 4))
    special[0, 1, 0] = special[0, 0, 2] = 1
    variables = {
        "chosen_layer": (dims, [1, 1, 1, np.nan]),
        "chosen_head": (dims, [2, 2, 2, np.nan]),
        "way": (dims, ["either"] * 3 + [""]),
        "score": (dims, [0.5, 0.5, 0.5, np.nan]),
        "over_one": (dims, [0.5, 0.25, 0.375, np.nan]),
        "over_other": (dims, [0.25, 0.375, 0.5, np.nan]),
        "n": (dims, [500, 50, 60, 1]),
        "random": (("head", "relation", "direction"), [[[0.0], [0.25], [0.75], [0.0]]] * 2),
        "q_value": (("layer", "head", "relation", "direction"), np.full((1, 2, 4, 1), 0.001)),
        "special": (("layer", "head", "relation"), special),
    }
    return xr.Dataset(variables, {"layer": [1], "head": [1, 2], "relation": names, "direction": ["either"]})


def test_a_gain_is_over_the_higher_baseline_and_special_heads_beat_random_weights() -> None:
    overall, det, obj = chosen_heads(result(), STUDY)
    assert [head.head for head in (overall, det, obj)] == ["1-2"] * 3 and overall.labels == {"relation": "all"}
    assert (overall.gain.value, det.gain.value, obj.gain.value) == (0.25, 0.25, 0.375)
    assert det.special and not obj.special and obj.random is not None and obj.random.value == 0.75


def test_a_claim_is_over_the_highest_baseline() -> None:
    bounds = {f"{name}_ci": (("relation", "bound"), [[low, 0.6]] * 4) for name, low in WITH_BOUNDS.items()}
    heads = chosen_heads(result().assign(bounds).assign_coords(bound=["lower", "upper"]), STUDY)
    assert [head.claim.verdict for head in heads] == ["holds", "undecided", "undecided"]
    assert (heads[0].claim.value, heads[0].claim.baseline, heads[0].claim.n) == (0.5, 0.25, 500)


def test_the_largest_gain_is_first_without_that_of_all_cases() -> None:
    assert [head.name for head in by_gain(chosen_heads(result(), STUDY))] == ["obj", "det"]


def test_special_heads_are_counted_with_or_without_a_label() -> None:
    assert special_heads(result(), "relation") == (2, 2, ["all", "obj"])
    assert special_heads(result(), "relation", without="all") == (1, 2, ["obj"])


def test_that_no_head_is_special_is_sure_only_if_none_may_gain_enough() -> None:
    """The surest gain, of a frequent relation, is small; that of a rare relation may be large."""
    none = result().assign(special=result()["special"] * 0).squeeze(["direction"], drop=True)
    gain = none["special"] - 0.2
    gain = gain.assign_coords(lower=gain - 0.01, upper=gain + 0.01)
    cases = none["n"]
    assert special_claim(none, gain, gain * 0, cases).verdict == "fails"
    gain["upper"].loc[{"head": 2, "relation": "obj"}] = 0.3
    claim = special_claim(none, gain, gain * 0, cases)
    assert (claim.verdict, claim.n) == ("undecided", 60)
    gain["upper"].loc[{"relation": "cc"}] = 0.9  # of one case
    assert special_claim(none, gain, gain * 0, cases).n == 60
