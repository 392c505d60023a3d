"""Results of which some values are missing have whole pages, which say no "nan"."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import xarray as xr

from headscope import results
from headscope.report.study_page import study_page
from support.every_study import Run

NAN = re.compile(r"\bnan\b|nan%")
# The variables without a value, or those that are gone; (name, dimension) has none at the first label.
WITHOUT_VALUES = {
    "film": (["step_similarity"], ["step_layer_similarity"], ["half_change"], ["half_change_of_head"], ["step_score"]),
    "finetune": (["score"], ["epoch_score"], ["chance"], ["score_std"], ["score", "chance", "paper_score"]),
    "prune": (["pruned_score"], ["score_change_ci"], ["megabytes"], ["reloaded_score"]),
    "shrink": (
        *(["shrunk_gain"], ["path_score"], ["shrunk_score"], ["exact_change"], ["whole_score"], ["chance"]),
        *(["path_score_ci", "shrunk_score_ci"], ["megabytes"], ["layer_neurons"]),
    ),
    "geometry": (
        *(["alignment"], ["model_alignment"], ["top_dimension_share"], ["cls_shared"], ["cls_similarity"]),
        *(["anisotropy_without_top"], ["embeddings_anisotropy"]),
    ),
    "syntax": (
        *(["chosen_accuracy"], ["chosen_baseline"], ["chosen_gain"], ["baseline"], ["accuracy"], ["q_value"]),
        *(["chosen_offset", "chosen_position"], ["accuracy_ci", "chosen_accuracy_ci"]),
    ),
    "relations": (
        *(["chosen_attention"], ["chosen_elsewhere"], ["chosen_gain"], ["untrained"], ["percentile"], ["q_value"]),
        *(["gain"], ["gain_others"], ["link_attention"], ["link_attention_ci", "chosen_gain_ci"]),
    ),
    "coreference": (["chosen_accuracy"], ["chosen_baseline"], ["accuracy"], ["baseline_accuracy"], ["q_value"]),
    "trees": (
        *(["chosen_score"], ["chosen_gain"], ["random_score"], ["baseline_score"], ["layer_uas"], ["model_uas"]),
        *(["root_accuracy"], ["uas"], ["chosen_score_ci"]),
    ),
    "probe": (["uas"], ["uas_argmax"], ["uas_ci"], ["recall"], ["weight"], ["contribution"], ["uas_std"]),
    "attributions": (["chosen_comprehensiveness_gain"], ["chosen_sufficiency"], ["chosen_sufficiency_gain"]),
    "gradients": (["attention_to"], ["relative_gradient"], ["gradient"]),
    "layers": (
        *(["score"], ["gain"], ["score_embeddings"], ["score_majority"], ["score_random"]),
        *(["control"], ["compression_embeddings"]),
    ),
}
ABSENT = {
    "attributions": (["deletion_random_ci"], ["deletion_ci"]),
    "gradients": (["relative_gradient_ci"],),
    "layers": (["score_embeddings_ci"], ["score_ci"]),
    "syntax": (["chosen_baseline_ci"], ["accuracy_ci"], ["baseline_ci"]),
    "relations": (["chosen_elsewhere_ci"], ["gain_ci"], ["untrained_ci"], ["link_attention_ci"]),
    "coreference": (["chosen_baseline_ci"], ["accuracy_ci"], ["chosen_accuracy_ci"]),
    "trees": (["chosen_score_ci"], ["baseline_score_ci"], ["random_score_ci"], ["uas_ci"], ["layer_uas_ci"]),
    "probe": (["uas_ci"], ["recall_ci"], ["contribution_ci"]),
    "shrink": (["shrunk_gain_ci"], ["path_score_ci"], ["shrunk_score_ci"]),
    "geometry": (
        ["embeddings_anisotropy_ci"],
        ["anisotropy_ci"],
        ["embeddings_norm_ci"],
        ["self_similarity_ci", "embeddings_self_similarity_ci"],
    ),
}


def emptied(study: str, result: xr.Dataset) -> list[xr.Dataset]:
    """The result without the values of some variables, and without any of its intervals that may be missing."""
    return [
        *(
            result.assign({name: result[name].where(False, np.nan) for name in names if name in result})
            for names in WITHOUT_VALUES[study]
        ),
        result.drop_vars([name for names in ABSENT.get(study, ()) for name in names], errors="ignore"),
    ]


def of_labels(result: xr.Dataset) -> list[xr.Dataset]:
    """For each dimension the result without the numbers of its last label."""
    numbers = [name for name in result if result[name].dtype.kind == "f" and not str(name).startswith("typical")]
    cut = []
    for dim in {*map(str, result.dims)} - {"bound"}:
        kept = xr.DataArray(np.arange(result.sizes[dim]) < result.sizes[dim] - 1, dims=dim)
        of_dim = {name: result[name].where(kept) for name in numbers if dim in result[name].dims}
        cut.append(result.assign(of_dim))
    return cut


def said(result: xr.Dataset) -> Sequence[str]:
    """Make all parts of the page; return the words of its findings."""
    page = study_page(result)
    for make in (page.tables, page.kinds):
        make()
    for figure in page.figures():
        figure.chart.to_dict(validate=False)
    return [f"{finding.topic} {finding.text}" for finding in (*page.highlights(), *page.findings())]


@pytest.mark.parametrize("study", WITHOUT_VALUES)
def test_page_of_missing_values_is_whole(study: str, ended: Callable[[str, str], Run]) -> None:
    for result in emptied(study, results.read(ended(study, "annotated").directory)):
        assert [text for text in said(result) if NAN.search(text)] == []


@pytest.mark.thorough
@pytest.mark.parametrize("study", WITHOUT_VALUES)
def test_page_without_one_interval_or_one_label_is_whole(study: str, ended: Callable[[str, str], Run]) -> None:
    complete = results.read(ended(study, "annotated").directory)
    absent = [complete.drop_vars(names, errors="ignore") for names in ABSENT.get(study, ())]
    for result in (*absent, *of_labels(complete)):
        assert [text for text in said(result) if NAN.search(text)] == []


def test_layers_have_numbers_where_only_the_embeddings_have_an_interval(ended: Callable[[str, str], Run]) -> None:
    result = results.read(ended("layers", "annotated").directory)
    assert list(study_page(result.drop_vars("score_ci")).layer_numbers())


def test_scores_without_an_interval_stand_beside_baselines(ended: Callable[[str, str], Run]) -> None:
    result = results.read(ended("structure", "annotated").directory)
    assert said(result.drop_vars("uuas_ci"))


def test_pattern_without_a_share_is_named(ended: Callable[[str, str], Run]) -> None:
    result = results.read(ended("patterns", "annotated").directory)
    text = said(result.assign(share=result["share"].where(result["pattern"] != "diagonal")))
    assert "Diagonal The result has no share of it for any head." in text


def test_task_without_a_score_is_named(ended: Callable[[str, str], Run]) -> None:
    result = results.read(ended("finetune", "annotated").directory)
    task = result["task"].values[0]
    text = said(result.assign(score=result["score"].where(False)))
    assert any(f"Without a score The result has no score of {task}." in sentence for sentence in text)


def test_change_without_an_interval_is_not_called_safe(ended: Callable[[str, str], Run]) -> None:
    result = results.read(ended("prune", "annotated").directory)
    text = said(result.assign(score_change_ci=result["score_change_ci"].where(False)))
    assert not any("may be worse by" in line or "holds" in line for line in text), text
