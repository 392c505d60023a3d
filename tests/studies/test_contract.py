"""What every study keeps to, those to come too: they are found by the catalog, and `_template` is one of them."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from inspect import signature
from pathlib import Path

import pytest
import xarray as xr
from transformers import BertForMaskedLM

import headscope
from headscope import Settings, catalog, results
from headscope.report.cards.head_numbers import number_names
from headscope.studies import heads
from headscope.studies._template.study import run as run_template
from headscope.study import Number
from support.docs_tools import declared
from support.every_study import STUDIES, WHOLE_RESULTS, Run, run
from support.letters import letter_model
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

# Here every study runs once, with its page.
pytestmark = pytest.mark.always

FOLDERS = [*STUDIES, "_template"]
PASSAGE = "made-{n}\t{text}\t{pronoun}\t{at}\tAnn\t0\tTRUE\tTom\t8\tFALSE\tnone"
FACTS = {
    "trex_pairs": (
        '{"predicate_id": "P19", "sub_label": "Ann River", "obj_label": "river"}',
        '{"predicate_id": "P19", "sub_label": "Tom", "obj_label": "house"}',
    ),
    "relations": ('{"relation": "P19", "template": "[X] is from [Y]."}',),
    "pararel_patterns": (
        '{"predicate_id": "P19", "pattern": "[X] is from [Y]."}',
        '{"predicate_id": "P19", "pattern": "[Y] is the home of [X]."}',
    ),
}
PRO = (
    "1 [The developer] argued with the designer because [he] slept.\n\n2 The designer met [the chief] and saw [him].\n"
)
# Names that the page of every study asks for beside a variable: most variables have neither.
BESIDE = ("_ci", "_n_examples")
# What the frame of every page asks for: a command adds it to the result of a study that reads a corpus.
FRAME = {"typical_map"}
# What `headscope.Watch` alone reads.
OF_WATCH = ("step_largest", "step_sink", "step_received")
# What takes more layers, seeds, words or other models and texts than the small results have.
SELDOM = {
    "ablate": {"gate_correlation", "random_flip", "trigger_flip", "trigger_lead"},
    "cloze": {"human_agreement", "judged_both", "judged_pairs", "judged_sentences"},
    "film": {"order_of_layers", *OF_WATCH},
    "finetune": {"early_correlation", "chain_score"},
    "layers": {"sense_gain", "sense_silhouette", "sense_silhouette_random", "unseen_senses"},
    "pretrain": {"first_step", "first_step_by_seed"},
    "probe": {"relation_contribution"},
    "prune": {"cache_bytes"},
    "shrink": {"cache"},
}
# Sentences with their maps, which a study of few links does not keep.
KEPT = {"map"}
# What the task of shortcuts alone has; its generated pairs are read in tests/studies/ablate.
SHORTCUTS = {"case_score"}


def gap(folder: Path) -> Path:
    """Write passages of GAP, of both genders; return the file."""
    header = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL"
    rows = [
        PASSAGE.format(n=n, text=f"Ann met Tom, and {pronoun} slept.", pronoun=pronoun, at=17)
        for n, pronoun in enumerate(("she", "he", "she", "he"))
    ]
    (folder / "gap.tsv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return folder / "gap.tsv"


def winobias(folder: Path) -> Path:
    """Write sentences of WinoBias; return the folder."""
    for kind, text in (("pro", PRO), ("anti", PRO.replace("[he]", "[she]").replace("[him]", "[her]"))):
        (folder / f"{kind}_stereotyped_type1.txt.dev").write_text(text, encoding="utf-8")
    (folder / "male_occupations.txt").write_text("developer\nchief\n", encoding="utf-8")
    (folder / "female_occupations.txt").write_text("designer\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def written(
    ended: Callable[[str, str], Run], cases: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Path]]:
    """The folders of results of each study that have, together, all variables that it writes."""
    folder = tmp_path_factory.mktemp("contract")
    save_tiny(folder / "model")
    found = {study: [ended(study, WHOLE_RESULTS)] for study in STUDIES}
    found["shrink"].append(ended("shrink", "not annotated"))
    quick = ("--limit", "9", "--size", "0.001MB", "--best-effort", "--epochs", "0", "--groups", "2")
    words = ("shrink", cases / "bert-words", "sample", *quick, "--resamples", "20")  # it predicts words
    found["shrink"].append(run(*words, out=folder / "out-shrunk", page=False))
    for source in ((gap(folder), "--kind", "gap"), (winobias(folder), "--kind", "winobias", "--task", "type1")):
        words = ("coreference", folder / "model", *source, "--resamples", "20")
        found["coreference"].append(run(*words, out=folder / f"out-{source[2]}", page=False))
    for name, lines in FACTS.items():
        (folder / f"{name}.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    words = ("cloze", cases / "bert-words", folder / "trex_pairs.jsonl", folder / "pararel_patterns.jsonl")
    found["cloze"].append(run(*words, "--resamples", "20", out=folder / "out-facts", page=False))
    pairs = [
        f'{{"good": "the {noun} was old", "bad": "the {noun} old was"}}' for noun in ("cat", "dog", "book", "house")
    ]
    (folder / "pairs.jsonl").write_text("\n".join([*pairs, ""]), encoding="utf-8")
    words = ("ablate", cases / "bert-words", "--task", f"cloze:{folder / 'pairs.jsonl'}", "--resamples", "20")
    found["ablate"].append(run(*words, out=folder / "out-suite", page=False))
    quick = ("--tasks", "part_of_speech", "--remove", "part_of_speech", "--cases", "60", "--predicted", "20")
    words = ("layers", cases / "bert-words", "sample", *quick, "--no-random", "--penalties", "10", "--resamples", "20")
    found["layers"].append(run(*words, out=folder / "out-removed", page=False))
    # A word that is predicted is a decision.
    quick = ("--limit", "4", "--scored", "1", "--flow", "0", "--altered", "2", "--resamples", "20")
    words = ("attributions", cases / "bert-words", cases / "documents.conllu", *quick)
    found["attributions"].append(run(*words, out=folder / "out-words", page=False))
    words = ("patterns", cases / "bert", cases / "documents.conllu", cases / "documents.conllu", "--shown", "1")
    found["patterns"].append(run(*words, "--resamples", "20", out=folder / "out-corpora", page=False))
    # Without a train split one half of the examples chooses.
    (folder / "dev").mkdir()
    rows = [f"{text}\t{number % 2}" for number, text in enumerate(("a cat", "the dog", "no", "yes", "we", "it"))]
    (folder / "dev" / "dev.tsv").write_text("\n".join(["sentence\tlabel", *rows, ""]), encoding="utf-8")
    words = ("prune", cases / "bert", "--task", "made", "--data", folder / "dev", "--tolerance", "0.5")
    found["prune"].append(run(*words, "--resamples", "20", out=folder / "out-dev", page=False))
    assert [saved.errors for runs in found.values() for saved in runs if saved.status] == []
    model = headscope.wrap(tiny_bert(), tiny_tokenizer())
    results.save(run_template(model, headscope.read("sample"), Settings(resamples=20)), folder / "template")
    (folder / "classes.tsv").write_text("A\tFR1\nC\tFR2\nD\t_\n\n" * 40)
    texts = headscope.read(folder / "classes.tsv", kind="classes")
    letters = letter_model(kind=BertForMaskedLM)
    further = {"_template": [folder / "template"]}
    for study in ("profile", "lens"):
        results.save(getattr(headscope, study)(letters, texts, Settings(resamples=20)), folder / f"letters-{study}")
        further[study] = [*(saved.directory for saved in found[study]), folder / f"letters-{study}"]
    return {study: [saved.directory for saved in runs] for study, runs in found.items()} | further


@pytest.fixture(scope="session")
def asked(written: dict[str, list[Path]]) -> dict[str, list[str]]:
    """The names that pages and cards, of a study's first result, ask for in vain, where torch is not there."""
    script = Path(__file__).parents[1] / "support" / "without_torch.py"
    first = [str(folders[0]) for folders in written.values()]
    others = [str(folder) for folders in written.values() for folder in folders[1:]]
    path = os.pathsep.join([str(script.parents[1]), *sys.path])
    words = [sys.executable, str(script), *first, "--", *others]
    ended = subprocess.run(words, env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return json.loads(ended.stdout)


@cache
def opened(folder: Path) -> xr.Dataset:
    """A result, read once for all tests."""
    return results.read(folder)


@pytest.mark.parametrize("study", FOLDERS)
def test_result_has_labels_units_and_provenance(study: str, written: dict[str, list[Path]]) -> None:
    for folder in written[study]:
        result = results.check(opened(folder))
        assert result.attrs["study"] == study and result.attrs["headscope_version"] == headscope.__version__
        assert {name for name in results.means(result) if f"{name}_n_examples" in result}


def test_required_variables_tell_the_results_of_each_study_from_those_of_all_others(
    written: dict[str, list[Path]],
) -> None:
    required = {study: set(catalog.study(study).required) for study in FOLDERS}
    for study, folders in written.items():
        for folder in folders:
            names = set(opened(folder).data_vars)
            assert [other for other in FOLDERS if required[other] <= names] == [study]


@pytest.mark.parametrize("study", FOLDERS)
def test_page_and_cards_need_no_torch(study: str, written: dict[str, list[Path]], asked: dict[str, list[str]]) -> None:
    for folder in written[study]:
        assert str(folder) in asked
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert len(page) > 10_000 and 'class="failed"' not in page
    result = opened(written[study][0])
    heads = any(bool(result[name].notnull().any()) for name in number_names(result))
    assert len(list(written[study][0].glob("head*.html"))) == (2 if heads else 0)


@pytest.mark.parametrize("study", FOLDERS)
def test_page_asks_only_for_variables_that_the_study_writes(
    study: str, written: dict[str, list[Path]], asked: dict[str, list[str]]
) -> None:
    names = {str(name) for folder in written[study] for name in opened(folder).variables}
    absent = {name for folder in written[study] for name in asked[str(folder)] if not name.endswith(BESIDE)}
    assert sorted(absent - names - FRAME - KEPT - SHORTCUTS - SELDOM.get(study, set())) == []


@pytest.mark.parametrize("study", FOLDERS)
def test_folder_says_in_a_line_what_it_is_and_declares_it_without_torch(study: str) -> None:
    code = ast.parse((catalog.study_folder(study) / "__init__.py").read_text(encoding="utf-8"))
    imported = {str(part.module) for part in code.body if isinstance(part, ast.ImportFrom)}
    light = {"headscope.study", "headscope.common_numbers", "headscope.measures"}
    assert {module for module in imported if module.startswith("headscope")} <= light
    assert not [part for part in code.body if isinstance(part, ast.Import)]
    assert 10 < len(catalog.summary("studies", study)) < 120


def numbers_of(study: str) -> dict[str, Number]:
    """The numbers that a study declares, with those of its measures."""
    measures = [catalog.load("measures", name).VARIABLE for name in catalog.study(study).measures]
    of_heads = [
        Number(one.name, one.long_name, one.units, ("layer", "head", *one.coords), one.source) for one in measures
    ]
    return {number.name: number for number in (*of_heads, *catalog.study(study).numbers)}


@pytest.mark.parametrize("study", FOLDERS)
def test_result_has_the_numbers_that_the_study_declares_and_no_others(
    study: str, written: dict[str, list[Path]]
) -> None:
    declared, held = numbers_of(study), set[str]()
    patterns = {name: re.compile(re.escape(name).replace(r"\*", "[a-z0-9_]+")) for name in declared}
    for folder in written[study]:
        for name in results.means(opened(folder)):
            array = opened(folder)[name]
            number = declared.get(name) or next(
                (declared[key] for key, one in patterns.items() if one.fullmatch(name)), None
            )
            assert number, f"{study}: '{name}' is not declared"
            held.add(number.name)
            if "*" not in number.name:
                assert (array.attrs["long_name"], array.attrs["units"]) == (number.what, number.unit), name
                assert array.dims in (number.dims, ("task", *number.dims)), name  # one of several corpora
    seldom = SHORTCUTS | SELDOM.get(study, set())
    assert declared.keys() - held - seldom == set(), "declared, but in no result"


@pytest.mark.parametrize("study", FOLDERS)
def test_docstring_names_no_number_that_the_study_lacks(study: str) -> None:
    run = catalog.load("studies", study).run
    named = set(re.findall(r"`([a-z]\w*)\[", run.__doc__ or ""))
    assert named <= numbers_of(study).keys()


@pytest.mark.parametrize("study", STUDIES)
def test_study_is_a_public_function(study: str) -> None:
    assert study in dir(headscope)
    public, own = getattr(headscope, study), catalog.load("studies", study).run
    assert public is own or set(signature(own).parameters) & set(signature(public).parameters)


def test_copy_of_the_template_is_a_command_with_page_and_cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy becomes a command, with its option, its result and its page."""
    folder, out = tmp_path / "headscope" / "studies", tmp_path / "out"
    shutil.copytree(catalog.ROOT, folder.parent, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(folder / "_template", folder / "heads" / "selfish")
    monkeypatch.setattr(catalog, "ROOT", folder.parent)
    monkeypatch.setattr(heads, "__path__", [str(folder / "heads")])
    model, words = save_tiny(tmp_path / "model"), ("--resamples", "20", "--no-entropy")
    listed, ended = run("list"), run("selfish", model, "sample", "--limit", "4", *words, out=out)
    assert "selfish" in listed.output and "Attention of each token to itself, by head." in listed.output
    assert ended.status == 0 and "selfish: " in ended.output
    assert "Measure the entropy too" in run("selfish", "--help").output
    assert results.read(out).attrs["study"] == "selfish" and "entropy" not in results.read(out)
    assert "template" in results.read(out) and (out / "report.html").is_file()
    readme, nav = declared.ROOT / "README.md", declared.ROOT / "mkdocs.yml"
    lists = [declared.questions(readme), declared.functions(readme), declared.everything(), declared.navigation(nav)]
    assert all("selfish" in text for text in lists)


# Intervals of what a single example of the small corpora has.
ONE_EXAMPLE = {
    *("accuracy_by_condition_ci", "accuracy_beyond_ci", "chosen_preference_gap_ci", "uuas_by_rank_ci"),
    *("loss_ci", "perplexity_ci", "accuracy_ci", "loss_gain_ci", "accuracy_gain_ci"),
    *("expected_layer_ci", "gain_concentration_ci", "mix_concentration_ci", "first_wording_gain_ci"),
    *("accuracy_of_best_wording_ci", "best_wording_gain_ci"),
    *("agreement_ci", "final_divergence_ci", "settled_ci", "final_first_ci", "right_ci", "final_rank_ci"),
    *("settling_layer_ci", "right_change_ci", "right_gain_ci", "right_most_frequent_ci"),
}


@pytest.mark.parametrize("study", FOLDERS)
def test_every_variable_has_values(study: str, written: dict[str, list[Path]]) -> None:
    read = [opened(folder) for folder in written[study]]
    names = {name for result in read for name, array in result.data_vars.items() if bool(array.notnull().any())}
    missing = {str(name) for result in read for name in result.data_vars} - {*map(str, names)} - ONE_EXAMPLE
    # The measures of pairs of `profile`, which `compare` has of all models.
    assert {
        name for name in missing if study != "compare" or not re.search("same_word|segment_attention", name)
    } == set()
