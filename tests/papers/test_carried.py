"""Verdicts to carry away: a table of three models, a model card, a record of Every Eval Ever."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from huggingface_hub import ModelCard

from headscope import results
from headscope.errors import HeadscopeError
from headscope.papers.model_card import BEGIN, END, with_section
from support.cli import run_command
from support.profile_result import profile_result

HOSTILE = "<script>alert(1)</script> | a"
CARD = "---\nlicense: mit\ntags:\n- mine\n---\n# My model\n\nIt is good.\n"


def strings(*names: str) -> dict[str, object]:
    return {name: {"type": "string"} for name in names}


def thing(required: str, **properties: object) -> dict[str, object]:
    return {"type": "object", "required": required.split(), "properties": properties}


TOLD = {"type": "object", "additionalProperties": {"type": "string"}}
# The rules of version 0.2.2 for the fields that are written, as its schema has them.
METRIC = thing("lower_is_better", lower_is_better={"type": "boolean"}, level_names={"type": "array"}) | {
    "if": {"required": ["score_type"], "properties": {"score_type": {"const": "levels"}}},
    "then": {"required": ["level_names", "has_unknown_level"]},
}
INTERVAL = thing("lower upper", lower={"type": "number"}, upper={"type": "number"})
SCORE = thing(
    "score",
    score={"type": "number"},
    details=TOLD,
    uncertainty=thing("", confidence_interval=INTERVAL, num_samples={"type": "integer"}),
)
DATA = thing("dataset_name source_type", source_type={"const": "other"}, **strings("dataset_name", "source_version"))
ENTRY = thing(
    "evaluation_name source_data metric_config score_details",
    **strings("evaluation_name", "evaluation_result_id"),
    source_data=DATA,
    metric_config=METRIC,
    score_details=SCORE,
)
SOURCE = thing(
    "source_type source_organization_name evaluator_relationship",
    source_type={"enum": ["documentation", "evaluation_run"]},
    evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
)
FIELDS = "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results"
LOG = thing(
    FIELDS,
    **strings("schema_version", "evaluation_id", "retrieved_timestamp"),
    source_metadata=SOURCE,
    model_info=thing("name id", additional_details=TOLD, **strings("name", "id")),
    eval_library=thing("name version", **strings("name", "version")),
    evaluation_results={"type": "array", "items": ENTRY},
) | {"additionalProperties": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Profiles of three models; the attention of the third to the previous token is none."""
    directory = tmp_path_factory.mktemp("results")
    results.save(profile_result(), directory / "one")
    results.save(profile_result(3, 3, model="other", model_sha256="ef" * 32, corpus=HOSTILE), directory / "other")
    third = profile_result(model="tiny", model_sha256="12" * 32)
    for name in ("attention_offset", "attention_offset_ci"):
        third[name] = third[name] * 0.01
    results.save(third, directory / "third")
    return directory


def test_models_are_columns_and_claims_rows(folder: Path, tmp_path: Path) -> None:
    printed = json.loads(run_command("claims", folder, "--json").stdout)
    rows = {row["id"]: row["verdicts"] for row in printed["by_claim"]}
    assert len(printed["models"]) == 3 and "C15" not in rows and len(rows["C1"]) == 3
    for number, model in enumerate(printed["models"]):
        own = {claim["id"]: claim["verdict"] for claim in model["claims"]}
        assert {name: list(verdicts.values())[number] for name, verdicts in rows.items()}.items() <= own.items()
    assert list(rows["C1"])[2] == "tiny (12121212)" and list(rows["C1"].values())[2] == "fails"


def test_the_table_is_printed_and_on_the_page_and_in_the_document(folder: Path, tmp_path: Path) -> None:
    ended = run_command("claims", folder, "-o", tmp_path, "--markdown", tmp_path / "claims.md")
    assert "decided for all 3 models" in ended.stdout
    html = (tmp_path / "claims.html").read_text(encoding="utf-8")
    assert html.index("Which findings carry over") < html.index("What Does BERT Look At?")
    assert html.count('class="verdict fails"') > 1 and "<script>alert" not in html
    document = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert document.startswith("# Claims by models\n") and "| C1 | Some head" in document
    alone = run_command("claims", folder / "one", "-o", tmp_path)
    assert "for all" not in alone.stdout
    assert "carry over" not in (tmp_path / "claims.html").read_text(encoding="utf-8")


def test_a_card_keeps_what_else_it_has(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(CARD, encoding="utf-8")
    for name in ("one", "other", "other"):
        assert run_command("claims", folder / name, "--card", path).exit_code == 0
    card = ModelCard.load(path)
    assert card.data.to_dict() == {"license": "mit", "tags": ["mine"]}
    assert card.text.lstrip().startswith("# My model\n\nIt is good.") and card.content.count(BEGIN) == 1
    assert "<script>" not in card.text and "&lt;script&gt;" in card.text and "| C1 |" in card.text
    path.write_text(card.content + "\nThe end.\n", encoding="utf-8")
    run_command("claims", folder / "one", "--card", path)
    assert path.read_text(encoding="utf-8").endswith("\nThe end.\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_card_is_a_plain_file(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a named pipe"), (Path(os.devnull), "a device")):
        done = run_command("claims", folder / "one", "--card", path)
        assert done.exit_code == 2 and f"is {kind}; name a plain file" in " ".join(done.stderr.split())


def test_a_missing_card_is_made(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "README.md"
    run_command("claims", folder / "one", "--card", path)
    assert ModelCard.load(path).data.to_dict() == {"tags": ["headscope"]}


@pytest.mark.parametrize("card", [BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_half_a_section_is_refused(card: str) -> None:
    with pytest.raises(HeadscopeError, match="has half of a section of headscope; remove its lines"):
        with_section(card, "new", "README.md")


def test_the_record_has_the_rules_of_every_eval_ever(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "evaluation.json"
    run_command("claims", folder / "other", "--every-eval-ever", path)
    log = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(log, LOG)
    assert log["schema_version"] == "0.2.2" and log["model_info"]["additional_details"]["sha256"] == "ef" * 32
    found = {entry["evaluation_result_id"]: entry for entry in log["evaluation_results"]}
    claims = json.loads(run_command("claims", folder / "other", "--json").stdout)["models"][0]["claims"]
    measured = {f"{claim['paper']}.{claim['id']}": claim for claim in claims if claim["verdict"] != "not measured"}
    assert {name.removesuffix(".verdict") for name in found if name.endswith(".verdict")} == set(measured)
    first = measured["clark2019.C1"]
    level, number = (found[f"clark2019.C1.{metric}"] for metric in ("verdict", "difference"))
    assert level["metric_config"]["level_names"][level["score_details"]["score"]] == first["verdict"]
    bounds = number["score_details"]["uncertainty"]["confidence_interval"]
    assert [bounds["lower"], bounds["upper"]] == first["interval"]


@pytest.mark.parametrize("option", ["--card", "--every-eval-ever"])
def test_a_file_about_several_models_is_refused(folder: Path, tmp_path: Path, option: str) -> None:
    refused = run_command("claims", folder, option, tmp_path / "file")
    assert refused.exit_code == 2 and refused.stderr.count("\n") == 1
    assert f"{option} is about one model" in refused.stderr and not (tmp_path / "file").exists()
