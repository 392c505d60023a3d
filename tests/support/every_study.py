"""Every study, run from the command line on a tiny model and little text, in the cases that are easily forgotten.

>>> arguments("profile", "one example", Path("models"))
['profile', 'models/bert', 'sample', '--limit', '1', '--resamples', '20']
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from transformers import BertForMaskedLM, BertForSequenceClassification, GPT2ForSequenceClassification, GPT2LMHeadModel
from typer.testing import CliRunner

from headscope import catalog
from headscope.corpora.readers import sample
from headscope.front.cli.app import application
from headscope.front.time_needed import TimeNeeded
from headscope.models import Model
from headscope.studies.layers.layers import scalar_mix
from headscope.studies.size.shrink import groups
from headscope.studies.words.attributions import altered_inputs
from support.marked_result import marked
from support.pages import WITHOUT_FILES, not_written
from support.reference_rates import rates_compared
from support.repeating import with_window
from support.tiny import save_tiny, tiny_bert, tiny_gpt2, tiny_tokenizer

STUDIES = catalog.names("studies")
# First sentences of so many documents of the built-in corpus: fewer than five, in a half, have no intervals.
SAMPLE, DOCUMENTS = ("documents.conllu",), 12
TOKENS = 200  # to which `compare --as-coded` pads
# A case: the model, the corpus, and the folder of the task.
CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "annotated": ("bert", SAMPLE, "task"),
    "not annotated": ("bert", ("plain.txt",), "task"),
    "one example": ("bert", ("sample", "--limit", "1"), "one"),
    "two examples": ("bert", ("sample", "--limit", "2"), "two"),
    "no feature": ("bert", ("words.txt",), "words"),
    "one head": ("one-head", SAMPLE, "task"),
    "uneven heads": ("pruned/model", SAMPLE, "task"),
    "decoder": ("decoder", SAMPLE, "task"),
}
PLAIN = ("The cat did not sleep.", "We went home early.", "Nothing is fine, she said.")
ROWS = ("A man sings.", "It rains and rains.", "She left, but he stayed.", "We ate bread.", "Is it you?", "No, not me.")
BRACKETS = "( (S (NP (DT The) (JJ old) (NN cat)) (VP (VBD saw) (NP (PRP her))) (. .)) )\n"
WORDS = ("Yes", "No", "Yes yes", "No no")
# Items of a suite: pairs, gaps, and an answer that is ranked in the vocabulary.
ITEMS = (
    '{"good": "The cat sat.", "bad": "The cat was sat.", "phenomenon": "verbs", "condition": "passive"}',
    '{"sentence": "The [MASK] ran.", "answer": "dog", "alternatives": ["tree", "road"], "phenomenon": "nouns"}',
    '{"sentence": "The river is [MASK].", "answer": "old", "phenomenon": "facts"}',
    '{"good": "He saw her.", "bad": "He saw she.", "phenomenon": "verbs", "condition": "active"}',
)
WHOLE_RESULTS = "annotated"  # the case whose results have all variables; their pages are written without torch
JSON = "two examples"  # the case whose command prints JSON
FEW = {"one example": 1, "two examples": 2}
# The model and the corpus with which a study writes most of its variables, in the first case, where not `CASES`'.
WHOLE_INPUTS = {
    "geometry": ("bert", ("sample",)),
    "induction": ("local-words", SAMPLE),
    "lens": ("decoder", ("sample",)),
    "profile": ("bert", ("sample",)),
    "trees": ("bert", ("phrases", "--kind", "brackets")),
}
# Options with which it writes them; coreference and others have more for other corpora.
WHOLE = {
    "ablate": (
        *("--heads", "1-1", "--heads-of", "{folder}/marked", "--beside", "{folder}/marked", "--draws", "3"),
        *("--pairs", "all", "--one-head", "--skip-layers"),
    ),
    "landscape": ("--random", "{model}"),
    "compare": ("--as-coded", "--restore", "1", "--task", "made", "--data", "{folder}/task"),
    "film": ("--task", "made", "--data", "{folder}/task", "--studies", "profile,geometry"),
    "finetune": (
        *("--weight-seeds", "2", "--order-seeds", "2", "--ways", "finetuned,frozen", "--epochs", "2", "--batch", "6"),
        *("--task", "rte", "--data", "{folder}/glue"),
    ),
    "geometry": ("--other", "{folder}/other"),
    "induction": ("--sequences", "14", "--texts", "14"),
    "lens": (
        *("--suite", "{folder}/items-4.jsonl", "--text", "the cat saw", "--against", "the dog saw"),
        *("--answers", "it,her", "--predictions", "200"),
    ),
    "probe": ("--seeds", "2"),
    "profile": ("--predicted-frequency",),
    "prune": ("--subnetworks", "2"),
    "shrink": ("--task", "made", "--data", "{folder}/task", "--fine", "--eight-bit", "--heads-of", "{folder}/profile"),
    "structure": ("--tensor-products",),
}
# Options of further cases, for numbers that the first cannot have.
FURTHER = {("shrink", "not annotated"): ("--fine", "--method", "gates")}


@dataclass(frozen=True)
class Run:
    """A command that has ended: exit status, standard output, standard error, and the folder of its result.

    * `steps`: of progress, as they were announced and as they were done.
    """

    status: int
    output: str
    errors: str
    directory: Path
    steps: tuple[int, int] = (0, 0)


class Followed(TimeNeeded):
    """The progress of the last command."""

    last: "Followed | None" = None

    def __init__(self, *given: Any, **options: Any):
        super().__init__(*given, **options)
        self.all_done = 0
        Followed.last = self

    def advance(self, done: int) -> None:
        """See `TimeNeeded`, which does not count once it has said the time."""
        self.all_done += done
        super().advance(done)


def arguments(study: str, case: str, folder: Path) -> list[str]:
    """The command line of a study in a case, with the inputs that its `run` takes; files are those of `prepare`."""
    model, corpus, task = CASES[case]
    model = "decoder" if study == "kv" else model
    model, corpus = WHOLE_INPUTS.get(study, (model, corpus)) if case == WHOLE_RESULTS else (model, corpus)
    takes = signature(catalog.load("studies", study).run).parameters
    several = bool({"models", "steps"} & set(takes))
    models = [model, "other" if model == "bert" else model] if several else [model]
    source, limit = [corpus[0] if corpus[0] == "sample" else str(folder / corpus[0])], list(corpus[1:])
    if {"task", "tasks", "directory"} & set(takes) and not {"corpus", "treebanks"} & set(takes):
        source, limit = ["--task", "made", "--data", str(folder / task)], []
    predicts = case == WHOLE_RESULTS and "--predicted-frequency" in WHOLE.get(study, ())
    if "suites" in takes or study in ("kv", "lens") or predicts:
        models = [model if "/" in model else f"{model}-words"]
    if "vocabulary" in takes:
        models = []
    if "suites" in takes:
        source, limit = [str(folder / f"items-{FEW.get(case, len(ITEMS))}.jsonl")], []
    named = ["--corpus", *source] if several else source
    options = catalog.study(study).quick + (WHOLE.get(study, ()) if case == WHOLE_RESULTS else ())
    options += FURTHER.get((study, case), ())
    options += ("--tokenizer", str(folder / CASES[case][0])) if "vocabulary" in takes else ()
    options = [option.format(folder=folder, model=folder / model) for option in options] + (
        ["--json"] if case == JSON else []
    )
    return [
        catalog.command_name(study),
        *(str(folder / model) for model in models),
        *named,
        *limit,
        "--resamples",
        "20",
        *options,
    ]


def run(*given: str | Path, out: Path | None = None, page: bool = True) -> Run:
    """Run a command; figures are in its page, and not saved as files. Without `page` there is none.

    Raises whatever the command raises that is not an exit.
    """
    words = [*map(str, given), *(["-o", str(out)] if out else [])]
    Followed.last = None
    drawing = patch(WITHOUT_FILES[0]) if page else patch("headscope.report.write", not_written)
    mixing = patch.multiple(scalar_mix, EPOCHS=2, LEAST_STEPS=2)
    searching, grouping = patch.object(altered_inputs, "HEAD_STEPS", 3), patch.object(groups, "LEAST", 2)
    rates = rates_compared(out)  # also of pages
    with rates, drawing, mixing, searching, grouping, patch("headscope.front.cli.compute.TimeNeeded", Followed):
        ended = CliRunner().invoke(application(words), words)
    if ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    steps = (Followed.last.total, Followed.last.all_done) if Followed.last else (0, 0)
    return Run(ended.exit_code, ended.stdout, ended.stderr, out or Path(), steps)


def prepare(folder: Path) -> Path:
    """Write the models, the texts and the tasks of `CASES`; return the folder."""
    (folder / "plain.txt").write_text("\n".join([*PLAIN, ""]), encoding="utf-8")
    (folder / "documents.conllu").write_text(_beginnings(), encoding="utf-8")
    (folder / "words.txt").write_text("\n".join([*WORDS[:2], ""]), encoding="utf-8")
    for name, train, dev in (("task", ROWS, ROWS), ("one", ROWS, ROWS[:1]), ("two", ROWS, ROWS[:2])):
        _table(folder / name, train, dev)
    _table(folder / "words", WORDS, WORDS)
    (folder / "glue").mkdir()
    pairs = [f"{number}\t{text}\tWe ate." for number, text in enumerate(ROWS)]
    _table(folder / "glue" / "RTE", pairs, pairs, "index\tsentence1\tsentence2", ("entailment", "not_entailment"))
    labels = {"id2label": {0: "0", 1: "1"}, "label2id": {"0": 0, "1": 1}}
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    one = {"num_hidden_layers": 1, "num_attention_heads": 1}
    for name, seed, config in (("bert", 0, sizes), ("other", 1, sizes), ("one-head", 0, sizes | one)):
        network = tiny_bert(seed, BertForSequenceClassification, max_position_embeddings=TOKENS, **config, **labels)
        save_tiny(folder / name, network, tiny_tokenizer(TOKENS))
    network = tiny_gpt2(0, GPT2ForSequenceClassification, n_embd=8, n_head=2, n_positions=TOKENS, **labels)
    save_tiny(folder / "decoder", network, tiny_tokenizer(TOKENS))
    for name, config in (("bert", sizes), ("one-head", sizes | one)):
        network = tiny_bert(0, BertForMaskedLM, max_position_embeddings=TOKENS, **config)
        save_tiny(folder / f"{name}-words", network, tiny_tokenizer(TOKENS))
    save_tiny(folder / "decoder-words", tiny_gpt2(0, GPT2LMHeadModel, n_embd=8, n_head=2))
    save_tiny(folder / "local-words", with_window(8, max_position_embeddings=TOKENS), tiny_tokenizer(TOKENS))
    (folder / "phrases").mkdir()
    for name in "abcdefghijklmn":  # a document each: a half of fewer than five has no interval
        (folder / "phrases" / f"{name}.mrg").write_text(BRACKETS, encoding="utf-8")
    for number in (*FEW.values(), len(ITEMS)):
        (folder / f"items-{number}.jsonl").write_text("\n".join([*ITEMS[:number], ""]), encoding="utf-8")
    marked(folder / "marked", (1, 1), of=(2, 2))
    assert run("profile", folder / "bert", "sample", "--limit", "4", out=folder / "profile", page=False).status == 0
    pruned = ["--task", "made", "--data", folder / "task", "--share", "0.25", "--step", "0.25"]
    assert run("prune", folder / "bert", *pruned, out=folder / "pruned", page=False).status == 0
    return folder


def small_onnx(model: Model, path: Path) -> Path:
    """In the place of `export`, which takes seconds: logits of the mean embedding, whatever the model answers."""
    onnx: Any = import_module("onnx")
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    labels, generator = model.network.config.num_labels, np.random.default_rng(0)
    weights = {"table": (model.network.config.vocab_size, 8), "map": (8, labels)}
    nodes = [
        node("Gather", ["table", "input_ids"], ["embeddings"], name="tokens"),
        node("ReduceMean", ["embeddings"], ["mean"], name="mean", axes=[1], keepdims=0),
        node("MatMul", ["mean", "map"], ["logits"], name="classifier"),
    ]
    read = info("input_ids", onnx.TensorProto.INT64, ["examples", "tokens"])
    written = info("logits", onnx.TensorProto.FLOAT, ["examples", labels])
    arrays = {name: generator.normal(size=size).astype(np.float32) for name, size in weights.items()}
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = onnx.helper.make_graph(nodes, "small", [read], [written], tensors)
    versions = {"opset_imports": [onnx.helper.make_opsetid("", 17)], "ir_version": 8}
    onnx.save(onnx.helper.make_model(graph, **versions), str(path))
    return path


def _beginnings() -> str:
    """The first sentence of some documents of the built-in corpus, as CoNLL-U."""
    files = [(sample.FOLDER / f"{name}.conllu").read_text(encoding="utf-8") for name in ("conversation", "knowledge")]
    blocks = [block for text in files for block in text.strip().split("\n\n") if "# newdoc" in block]
    return "\n\n".join([*blocks[:DOCUMENTS], ""])


def _table(
    folder: Path,
    train: Sequence[str],
    dev: Sequence[str],
    header: str = "sentence",
    labels: tuple[str, str] = ("0", "1"),
) -> None:
    folder.mkdir()
    for split, rows in {"train": train, "dev": dev}.items():
        lines = [f"{text}\t{labels[number % 2]}" for number, text in enumerate(rows)]
        (folder / f"{split}.tsv").write_text("\n".join([f"{header}\tlabel", *lines, ""]), encoding="utf-8")
