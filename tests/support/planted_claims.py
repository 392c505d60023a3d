"""Results in which a claim of a paper is planted: it surely holds, or surely fails."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from headscope.papers.entry_file import ClaimedNumber
from headscope.papers.numbers import REQUIRED, selected
from headscope.papers.paper_claim import PaperClaim

COORDS: Mapping[str, list[Any]] = {
    "layer": [1, 2, 3, 4, 5, 6],
    "head": [1, 2, 3, 4],
    "offset": [-1, 0, 1],
    "token_class": ["cls", "sep", "punct", "other"],
    "feature": ["noun", "verb", "pron", "subj", "obj", "neg", "cls", "sep", "punct"],
    "relation": ["all", "det", "verb and subject", "pronoun and noun", "owned and owner", "owned and clitic"],
    "direction": ["dependent_to_head", "head_to_dependent"],
    "probe": [
        *("right_branching", "attention", "attention_and_words", "distances_and_words", "random_attention_and_words")
    ],
    "pattern": ["vertical", "diagonal", "vertical_diagonal", "block", "heterogeneous"],
    "mention_type": ["all", "pronoun"],
    "baseline": ["nearest", "head_match", "rules", "decay"],
    "metric": ["accuracy", "pearson", "uas"],
    "head_kind": ["positional", "positional, syntactic or rare words"],
    "head_source": ["relations: highest", "syntax", "profile: same word"],
    "half": ["first", "second"],
    "share_removed": [0.0, 0.1, 0.2, 0.3],
    "gap": ["same", "17+"],
    "special_tokens": ["kept", "left_out"],
    "root": ["gold", "best"],
    "task": [
        *("part_of_speech", "dependency_label", "entity", "coreference", "parent", "great_grandparent", "number_value"),
        *("number_sum", "token_index", "STS-B", "SST-2", "tense", "subject_number", "object_number", "odd_word"),
        *("dependency_arc", "grandparent", "tree_depth", "order_shifted"),
    ],
    "phenomenon": [
        *("negation: affirmative", "negation: negated", "role reversal"),
        *("lexical overlap: not entailed", "other words: not entailed"),
    ],
    "condition": [
        *("npi_licensing: npi_present_1", "npi_licensing: npi_present_2", "npi_licensing: only_npi_licensor_present"),
        "npi_licensing: sentential_negation_npi_licensor_present",
        "npi_licensing: matrix_question_npi_licensor_present",
        *("npi_licensing: only_npi_scope", "npi_licensing: sentential_negation_npi_scope"),
        *("phrase between, same number", "phrase between, other number"),
        *("relative clause between, same number", "relative clause between, other number"),
        *("object, same gender", "object, other gender"),
        *("relative clause between, same gender", "relative clause between, other gender"),
    ],
    "suite": ["agreement", "lama"],
    "attribution": ["attention", "gradient_input"],
    "control": ["shuffled"],
    "restored": [0, 1],
    "head_number": ["importance", "similarity", "kind", "entropy"],
    "init": ["random", "frozen", "finetuned", "adapters"],
    "model": ["tuned"],
    "seed": [0, 1, 2],
    "way": ["tokens 2x4x128", "tokens 4x2x128"],
    "step": [0, 1024],
}
HEADS = ("layer", "head")
DIMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "pretrain": {"held_out_loss": ("way", "step")},
    "profile": {
        **{"attention_to": (*HEADS, "token_class"), "attention_offset": (*HEADS, "offset"), "sep_to_sep": HEADS},
        **{"entropy": HEADS, "cls_entropy": HEADS, "uniform_entropy": (), "token_share": ("token_class",)},
        **{name: (*HEADS, "feature") for name in ("feature_attention", "start_attention", "cls_separator_lead")},
    },
    "gradients": {"relative_gradient": ("layer", "token_class"), "attention_to": (*HEADS, "token_class")},
    "syntax": {
        **{"special": (*HEADS, "relation", "direction")},
        **{name: ("relation",) for name in ("chosen_accuracy", "chosen_gain")},
    },
    "relations": {"special": (*HEADS, "relation", "direction"), "chosen_gain": ("relation",)},
    "coreference": {
        **{"chosen_accuracy": ("mention_type",), "chosen_baseline": ("mention_type", "baseline")},
        **{name: ("condition",) for name in ("mean_confusion", "uniform_confusion")},
    },
    "probe": {"uas": ("probe",)},
    "clusters": {"layer_gap": (), "cluster_stability": ()},
    "patterns": {"share_total": ("pattern",), "same_pattern": ()},
    "compare": {
        **{"layer_similarity": ("model", "layer"), "restored_change": ("model", "restored", "metric")},
        **{"difference_feature_attention": ("model", *HEADS, "feature"), "change_per_weight": ("model", "layer")},
        **{"difference_attention_to": ("model", *HEADS, "token_class")},
    },
    "finetune": {
        **{name: ("task", "init", "metric") for name in ("score", "seed_spread", "early_correlation", "way_gain")},
        **{"score_by_seed": ("task", "init", "seed", "metric"), "last_layer_per_update": ("task", "init")},
        **{"head_agreement": ("task", "init", "head_number")},
    },
    "landscape": {"width": ("init",)},
    "ablate": {
        **{"head_gain": (*HEADS, "metric"), "layer_gain": ("layer", "metric"), "chosen_gain": ("half", "metric")},
        **{"random_head_gain": ("metric",), "mean_pair_excess": ("metric",)},
        **{name: ("head_source", "metric") for name in ("special_gain", "special_lead")},
        **{"one_head_gain": ("layer", "metric"), "phenomenon_baseline": ("phenomenon",)},
    },
    "shrink": {"needed_share": (), "kept_kind_excess": ("head_kind",)},
    "prune": {"score_change": ("share_removed", "metric")},
    "geometry": {
        **{name: ("layer",) for name in ("anisotropy", "self_similarity_corrected")},
        **{"position_similarity": ("layer", "gap")},
    },
    "structure": {"uuas": ("layer",), "held_out_uuas": ("layer",), "uuas_baseline": ("baseline",)},
    "trees": {"chosen_gain": ("metric", "special_tokens", "root")},
    "layers": {
        **{"score": ("task", "layer"), "gain": ("task",), "last_layer_fall": ("task",), "centre_of_gravity": ("task",)},
        **{name: ("task",) for name in ("mix_gain", "mix_concentration")},
    },
    "cloze": {
        **{name: ("phenomenon",) for name in ("accuracy", "consistency")},
        **{name: ("suite",) for name in ("accuracy_by_suite", "answer_gain")},
        **{name: ("suite",) for name in ("accuracy_given_away", "accuracy_not_given_away")},
        **{"accuracy_by_condition": ("condition",)},
        **{"control_fall": ("suite", "control")},
    },
    "attributions": {"chosen_comprehensiveness": ("attribution",)},
}
PLAIN = ("special", "uniform_entropy", "token_share", "held_out_uuas", "centre_of_gravity", "score_by_seed")
FAR = 0.2
UPWARDS = (
    "some head above",
    "above",
    "beyond random heads",
    "two neighbouring layers above",
    "reported",
    "most are positive",
    "most do no harm",
)


def planted(claim: PaperClaim, *, holds: bool, n: int = 400) -> xr.Dataset:
    """A result of the claim's study in which it holds, or fails, by .2 with intervals of .02."""
    result = xr.Dataset(attrs={"study": claim.study, "n_examples": n, "corpus": "planted", "model": "planted"})
    result.attrs["options"] = json.dumps(dict(claim.options))
    for name, dims in DIMS[claim.study].items():
        if name in claim.unless:
            continue
        size = tuple(len(COORDS[dim]) for dim in dims)
        result[name] = (dims, np.zeros(size) if name != "uniform_entropy" else np.ones(size))
    result = result.assign_coords({dim: COORDS[dim] for dim in map(str, result.dims)})
    if "attention_to" in result:
        result["attention_to"].loc[{"token_class": "cls"}] = 0.1  # the sink
    for variable, label, _ in (REQUIRED[name] for name in claim.requires):
        result[variable].loc[label] = 0.1
    for name, part in _values(claim, holds=holds):
        _set(result, name, part)
    for name in [name for name in result.data_vars if name not in PLAIN]:
        bounds = np.stack([result[name].values - 0.01, result[name].values + 0.01], axis=-1)
        result[f"{name}_ci"] = ((*result[name].dims, "bound"), bounds)
    return result.assign_coords({"bound": ["lower", "upper"], "seed": COORDS["seed"]})


def _values(claim: PaperClaim, *, holds: bool) -> list[tuple[ClaimedNumber, Any]]:
    assert claim.number is not None
    number, than, sign = claim.number, claim.than, 1 if holds else -1
    base = 0.3 * than.times if than else 0.0
    other = [(than, 0.3)] if than else []
    match claim.rule:
        case "some head above" if than:
            return [*other, (number, claim.limit + base + sign * FAR)]
        case _ if claim.rule in UPWARDS:
            extra = 0.0 if claim.rule.startswith("most") else claim.limit
            return [*other, (number, extra + base + sign * FAR)]
        case "below over labels":
            return [(number, _near(0.3 - sign * FAR)), *[(one, _near(0.3)) for one, _ in other]]
        case "below":
            return [*other, (number, (base - claim.limit if than else claim.limit) - sign * FAR)]
        case "not below":
            return [*other, (number, base - claim.limit + sign * FAR)]
        case "rises over layers" | "falls over layers" | "in order":
            up = sign * (-1 if claim.rule == "falls over layers" else 1)
            return [(number, lambda size: 0.5 + up * 0.05 * np.arange(size))]
        case "some special" | "no special":
            found = holds == (claim.rule == "some special")
            return [(number, float(found)), *[(one, FAR if found else 0.0) for one, _ in other]]
        case "share of special":
            return [(number, 0.0 if holds else 1.0), *[(one, 1.0 if holds else 0.0) for one, _ in other]]
        case "peaks in the middle":
            return [(number, lambda size: np.where(np.arange(size) == (3 if holds else 5), 0.6, 0.3))]
    raise AssertionError(f"no plan for '{claim.rule}'")


def _near(middle: float) -> Callable[[int], np.ndarray]:
    """Values of labels that differ a little."""
    return lambda size: middle + 0.01 * np.arange(size)


def _set(result: xr.Dataset, number: ClaimedNumber, value: Any) -> None:
    """Set the cells that a number selects; a function gives the values along the last dimension."""
    array = result[number.variable]
    cells = array.copy(data=np.arange(array.size).reshape(array.shape))
    for dim, label in number.at.items():
        cells = selected(result, cells, dim, label)
    chosen = cells.values
    flat = array.values.ravel()
    factor = float(result[number.share_of]) if number.share_of else 1.0
    values: Any = value(chosen.size) if callable(value) else value
    flat[chosen.ravel()] = values * factor
    result[number.variable] = (array.dims, flat.reshape(array.shape))
