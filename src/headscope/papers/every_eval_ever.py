"""Verdicts as a record of Every Eval Ever, a shared format of evaluation results (github.com/evaleval)."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headscope.papers.verdicts import Judgement
from headscope.report.cards.model_results import MeasuredModel
from headscope.storage.files import write_atomically
from headscope.version import __version__

SCHEMA = "0.2.2"
LEVELS = ("fails", "undecided", "holds")


def write_evaluation(path: Path, model: MeasuredModel, judgements: Sequence[Judgement]) -> Path:
    """Write the verdicts of a model as one record; return the path."""
    text = json.dumps(evaluation(model, judgements, int(time.time())), indent=1, allow_nan=False)
    return write_atomically(path, text + "\n")


def evaluation(model: MeasuredModel, judgements: Sequence[Judgement], written: int) -> dict[str, Any]:
    """The record: of each claim that is measured its verdict as a level, and the difference with its interval.

    * `written`: the time of the record, in seconds since 1970.
    """
    details = {"additional_details": {"sha256": model.sha256}} if model.sha256 else {}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"headscope.claims/{model.name}/{written}",
        "retrieved_timestamp": str(written),
        "source_metadata": {
            "source_name": "headscope claims",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "headscope", "version": __version__},
        "model_info": {"name": model.name, "id": model.name, **details},
        "evaluation_results": [record for judgement in judgements for record in _records(judgement)],
    }


def _records(judgement: Judgement) -> Iterator[dict[str, Any]]:
    if judgement.test is None or judgement.source is None:
        return
    verdict = {"score_type": "levels", "level_names": list(LEVELS), "has_unknown_level": False}
    yield _record(judgement, "verdict", verdict, {"score": LEVELS.index(judgement.verdict)})
    difference = judgement.test.difference
    if not difference.tested:
        return
    bounds = {"lower": difference.lower, "upper": difference.upper, "confidence_level": 0.95}
    uncertainty = {"confidence_interval": bounds, "num_samples": judgement.test.n}
    yield _record(judgement, "difference", {}, {"score": difference.value, "uncertainty": uncertainty})


def _record(judgement: Judgement, metric: str, config: Mapping[str, Any], score: Mapping[str, Any]) -> dict[str, Any]:
    assert judgement.source is not None and judgement.test is not None
    attrs, name = judgement.source.result.attrs, f"{judgement.paper.name}.{judgement.claim.id}"
    numbers = {"value": judgement.test.value, "compared_with": judgement.test.baseline, "q": judgement.test.q}
    details = {key: f"{number:.6g}" for key, number in numbers.items() if number == number}
    details |= {
        "verdict": judgement.verdict,
        "where": judgement.words,
        "special_token": judgement.token,
        "claim_version": judgement.claim.version,
    }
    return {
        "evaluation_result_id": f"{name}.{metric}",
        "evaluation_name": name,
        "source_data": {"dataset_name": str(attrs["corpus"]), "source_type": "other", **_version(attrs)},
        "metric_config": {
            "evaluation_description": judgement.claim.claim,
            "metric_id": f"headscope.{metric}",
            "metric_name": metric,
            "lower_is_better": False,
            **config,
        },
        "score_details": {**score, "details": {key: str(text) for key, text in details.items() if text != ""}},
    }


def _version(attrs: Mapping[str, Any]) -> dict[str, str]:
    return {"source_version": str(attrs["corpus_sha256"])} if attrs.get("corpus_sha256") else {}
