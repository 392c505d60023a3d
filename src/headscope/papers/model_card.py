"""Verdicts for other programs: a section of a Hugging Face model card, and a record of Every Eval Ever.

This is a shared format of evaluation results (github.com/evaleval).
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from headscope.corpora.parsing.lines import opened
from headscope.errors import HeadscopeError
from headscope.papers.portrait import strongest
from headscope.papers.verdicts import Judgement
from headscope.papers.words import details, measured, summed_up
from headscope.report.cards.model_results import MeasuredModel
from headscope.storage.files import write_atomically
from headscope.storage.limits import LARGEST_CARD
from headscope.version import __version__

BEGIN, END = "<!-- headscope: begin -->", "<!-- headscope: end -->"
HEADER = "---\ntags:\n- headscope\n---\n"
SCHEMA = "0.2.2"
LEVELS = ("fails", "undecided", "holds")


def write_card(path: Path, model: MeasuredModel, judgements: Sequence[Judgement]) -> Path:
    """Write the section of a model into a card, instead of its former one or at the end. Returns: the path.

    All else of the card stays as it is. A card that is missing is made, with a tag as its metadata.

    Raises `HeadscopeError` for a card that is no text or has half a section, and if it cannot be written.
    """
    return write_atomically(path, with_section(_former(path), section(model, judgements), str(path)))


def section(model: MeasuredModel, judgements: Sequence[Judgement]) -> str:
    """The section: the strongest sentences, and the claims that are measured."""
    lines = [BEGIN, "## What its heads and layers do", ""]
    lines += [f"- **{_text(finding.topic)}**: {_text(finding.text)}" for finding, _ in strongest(model)]
    lines += ["", f"Claims of papers about BERT, and whether they hold here. {summed_up(judgements)}", ""]
    lines += ["| | claim | verdict | here |", "| --- | --- | --- | --- |"]
    for judged in judgements:
        if judged.test:
            here = f"{measured(judged)} ({details(judged)})"
            lines.append(
                "| " + " | ".join(map(_text, (judged.claim.id, judged.claim.claim, judged.verdict, here))) + " |"
            )
    lines += ["", f"Measured with headscope {__version__}; intervals are 95%.", END, ""]
    return "\n".join(lines)


def with_section(card: str, section: str, name: str) -> str:
    r"""A card with a section instead of its former one.

    Raises `HeadscopeError` if the former section has no end, or there are two.

    >>> with_section("# A model\n", f"{BEGIN}\nnew\n{END}\n", "README.md")
    '# A model\n\n<!-- headscope: begin -->\nnew\n<!-- headscope: end -->\n'
    """
    if (card.count(BEGIN), card.count(END)) == (0, 0):
        return f"{card.rstrip()}\n\n{section}" if card.strip() else HEADER + section
    start, end = card.find(BEGIN), card.find(END)
    if (card.count(BEGIN), card.count(END)) != (1, 1) or end < start:
        raise HeadscopeError(
            f"card '{name}' has half of a section of headscope; remove its lines '{BEGIN}' and '{END}'"
        )
    return card[:start] + section.rstrip("\n") + card[end + len(END) :]


def _former(path: Path) -> str:
    if not path.exists():
        return ""
    with opened(path, "card") as file:
        content = file.read(LARGEST_CARD + 1)
    try:
        if len(content) > LARGEST_CARD:
            raise HeadscopeError(f"card '{path}' has more than {LARGEST_CARD} bytes; name another file")
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HeadscopeError(f"card '{path}' is no text in UTF-8; name another file") from error


def _text(text: str) -> str:
    """Text of a result in a card: no HTML, and no cell or line of its own."""
    return " ".join(escape(text, quote=False).replace("|", "\\|").split())


def write_evaluation(path: Path, model: MeasuredModel, judgements: Sequence[Judgement]) -> Path:
    """Write the verdicts of a model as one record; return the path."""
    text = json.dumps(evaluation(model, judgements, int(time.time())), indent=1, allow_nan=False)
    return write_atomically(path, text + "\n")


def evaluation(model: MeasuredModel, judgements: Sequence[Judgement], written: int) -> dict[str, Any]:
    """The record: of each claim that is measured its verdict as a level, and the difference with its interval."""
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
