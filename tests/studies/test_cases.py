"""Every study in the cases that are easily forgotten: a page with all its parts, or a refusal in one line."""

import json
import re
from collections.abc import Callable

import pytest

from headscope.front.cli.printing import SCHEMA
from support.every_study import CASES, JSON, STUDIES, WHOLE_RESULTS, Run
from support.tiers import in_turn

NO_TASK = "gives no task"
NO_TREES, NO_LINKS = "has no dependency trees; name a treebank", "has no annotated or dependency links; name a treebank"
NO_MENTIONS, ONE_LABEL = "has no coreference; name a treebank", "have the label '0'; name the right column"
REFUSED = {
    **{("syntax", case): NO_TREES for case in ("not annotated", "no feature")},
    **{("structure", case): NO_TREES for case in ("not annotated", "no feature")},
    **{("layers", case): NO_TASK for case in ("not annotated", "no feature")},
    **{("probe", case): NO_TREES for case in ("not annotated", "no feature")},
    **{("trees", case): NO_TREES for case in ("not annotated", "no feature")},
    **{("contacts", case): "in links or trees; name pairs with --contacts" for case in ("not annotated", "no feature")},
    **{("relations", case): NO_LINKS for case in ("not annotated", "no feature")},
    **{("coreference", case): NO_MENTIONS for case in ("not annotated", "no feature")},
    ("pretrain", "no feature"): "5 pieces give 0 inputs to train on and 0 held-out ones; use more text",
    ("pretrain_head", "one example"): "1 examples give 0 inputs to train on and 1 held-out ones; use more text",
    ("pretrain_head", "decoder"): "type 'gpt2' has no masked-language head in transformers; use another model",
    **{(study, "uneven heads"): "without a head that predicts words; train one" for study in ("cloze", "lens")},
    ("gradients", "decoder"): "it has no head for the next word",
    ("prune", "one head"): "has at most 1 head in a layer, and keep 1",
    ("kv", "no feature"): "none of its 1 texts has 13 tokens",
    ("shrink", "one example"): "has 1 text that the model can read; at least 2 are needed",
    ("shrink", "uneven heads"): "which its class has no sizes for; shrink the original model",
    **{(study, "one example"): ONE_LABEL for study in ("ablate", "finetune", "landscape", "prune")},
}
# Beside whole results and refusals, each case has a study; the others are thorough.
FIRST = (
    *(("landscape", "not annotated"), ("lens", "one example"), ("pretrain_head", "two examples")),
    *(("geometry", "no feature"), ("gradients", "one head"), ("coreference", "uneven heads"), ("kv", "decoder")),
)
CELLS = [
    pytest.param(study, case, marks=() if case == WHOLE_RESULTS or cell in (*REFUSED, *FIRST) else pytest.mark.thorough)
    for study in STUDIES
    for case in CASES
    for cell in [(study, case)]
]
# The last is a number that nobody has rounded.
UGLY = re.compile(r"(?<![\w-])nan(?![\w-])|-0\.0+(?!\d)|\d\.\d{9,}")


@pytest.mark.parametrize(("study", "case"), CELLS)
def test_page_has_all_its_parts_or_the_study_refuses_in_a_line(study: str, case: str, ended: Callable) -> None:
    result: Run = ended(study, case)
    if (study, case) in REFUSED:
        assert result.status == 2
        *_, message = result.errors.splitlines()
        assert (
            message.startswith("headscope: ") and REFUSED[study, case] in message and "Traceback" not in result.errors
        )
        return
    assert result.status == 0, result.errors
    assert case == JSON or UGLY.findall(result.output) == []
    if case != WHOLE_RESULTS:
        assert 'class="failed"' not in (result.directory / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("study", in_turn(STUDIES, at=1))
def test_with_json_standard_output_is_one_object(study: str, ended: Callable) -> None:
    result: Run = ended(study, JSON)
    assert result.status == 0, result.errors
    printed = json.loads(result.output)
    assert printed["schema"] == SCHEMA and printed["attrs"]["study"] == study
    assert printed["data_vars"] and printed["report"] == str(result.directory / "report.html")


@pytest.mark.parametrize("study", STUDIES)
def test_the_time_that_is_said_is_that_of_all_steps(study: str, ended: Callable) -> None:
    announced, done = ended(study, WHOLE_RESULTS).steps
    assert announced == done > 0


@pytest.mark.parametrize("study", ["ablate", "prune"])
def test_terminal_prints_the_table_and_no_means_by_layer(study: str, ended: Callable) -> None:
    output = ended(study, WHOLE_RESULTS).output
    assert "95% interval" in output and "mean of heads, by layer" not in output
