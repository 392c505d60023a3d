"""Files of claims, kept steps, searches, smaller models and installed measures: a good one of each, and its reader."""

import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

import torch
from onnx import TensorProto, helper

from headscope import models
from headscope.capture.transformers_logging import quiet, refusing
from headscope.catalog import installed_measures
from headscope.errors import HeadscopeError
from headscope.models.onnx import first_output, session_of
from headscope.papers import judge, read_papers
from headscope.passes.measures import measure_named
from headscope.report.cards.model_results import MeasuredModel, model_of
from headscope.storage.hashes import FILE, add_digest
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.prices import Prices
from headscope.studies.size.shrink.record import SearchRecord, SearchState, Step
from headscope.studies.size.shrink.verification import recorded
from headscope.training.steps import KeptSteps, StepKeeper
from support.profile_result import profile_result
from support.tiny import tiny_bert, tiny_tokenizer

CLAIMS = b"""schema: 1
paper: mine
title: A paper
claims:
  - id: X1
    section: "3"
    claim: Most heads look at few tokens.
    study: profile
    number: {variable: entropy, at: {layer: 1}}
    rule: most are positive
    limit: 0.5
    command: profile MODEL CORPUS
    figure: "1.2"
    source: Mine
    level: P
"""
FACTS = {
    "parameters": [9, 8], "max_tokens": None, "timed_on": "cpu", "model_class": ["BertModel", "BertForMaskedLM"],
    "timed": [{"examples": 1, "tokens": 8, "before": 2.5, "after": 1.5}], "times_as_fast": [1.7, 1.6, 1.8],
    "eight_bit": {"megabytes": [2.0, 1.0]}, "pseudo_labels": {},
}  # fmt: skip
MEASURE = b"[headscope.measures]\nsharpest = headscope.measures.entropy\n\n[console_scripts]\nsharp = sharp:main\n"


def read_claims(content: bytes, folder: Path) -> object:
    """Read claims, and judge them by a result."""
    (folder / "claims.yaml").write_bytes(content)
    return judge(_measured(), read_papers(folder / "claims.yaml"))


@cache
def _measured() -> MeasuredModel:
    return model_of(profile_result())


def kept_step(folder: Path) -> bytes:
    """The second kept step of a training."""
    return _training()["step-2.safetensors"]


def read_step(content: bytes, folder: Path) -> object:
    """Put a step whose digest fits, or that has none, into its network."""
    for name, unchanged in _training().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if name == "step-2.safetensors" else unchanged)
    if len(content) % 2:
        for name in ("start", "step-1.safetensors", "step-2.safetensors"):
            add_digest(folder / name, folder / name)
    steps, (start, moving) = KeptSteps(folder), (_network() for _ in range(2))
    return [steps.put(moving, start, step) for step in steps.paths]


def _network() -> models.Model:
    network = tiny_bert(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2)
    return models.wrap(network, tiny_tokenizer())


@cache
def _training() -> dict[str, bytes]:
    """The files of a training with two kept steps, without digests."""
    with TemporaryDirectory() as directory, quiet():
        model, folder = _network(), Path(directory, "steps")
        keeper = StepKeeper(folder, model, (1, 2))
        for step in (1, 2):
            with torch.no_grad():
                next(model.network.parameters()).add_(0.5)
            keeper.on_step_end(None, SimpleNamespace(global_step=step), None)
        paths = [path for path in folder.rglob("*") if path.is_file() and path.name != FILE]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def search(folder: Path) -> bytes:
    """The state of a search."""
    _record(folder, []).save(
        SearchState(
            Prices(((1, 8),), 2, 4, (0.0,), (8, 4), ((2.0,), (1.0,)), (0.0,)),
            [Step("", Size((0, 1), (8, 8), (4, 4)), 0.0, 1.0, 1.0)],
            {"head 1-2": 0.5},
        )
    )
    return (folder / "search.json").read_bytes().splitlines()[1].partition(b" ")[2]


def read_search(content: bytes, folder: Path) -> object:
    """Go on with a search whose state is mutated and whose checksum fits; one that starts anew has refused it."""
    search(folder)
    first, _ = (folder / "search.json").read_bytes().splitlines(keepends=True)
    content = content.replace(b"\n", b" ")
    (folder / "search.json").write_bytes(first + sha256(content).hexdigest().encode() + b" " + content + b"\n")
    lines: list[str] = []
    if (state := _record(folder, lines).read()) is None:
        raise HeadscopeError(lines[-1])
    return state


def _record(folder: Path, lines: list[str]) -> SearchRecord:
    return SearchRecord(folder / "search.json", {"study": "made"}, lines.append)


def read_facts(content: bytes, folder: Path) -> object:
    """Read what a result says of a smaller model, as `verify` does."""
    result = profile_result()[[]].assign({f"{name}_score": ("metric", [0.5]) for name in ("shrunk", "eight_bit")})
    return recorded(result.assign_attrs(shrinking=content.decode(errors="replace")), "it")


def onnx_file(folder: Path) -> bytes:
    """A graph with the inputs and the output of an exported model; an export takes seconds."""
    names, sizes = ("input_ids", "attention_mask"), ["examples", "tokens"]
    nodes = [
        helper.make_node("Mul", names, ["seen"]),
        helper.make_node("Cast", ["seen"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["numbers", "bias"], ["logits"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, sizes) for name in names]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, sizes)
    bias = helper.make_tensor("bias", TensorProto.FLOAT, [1], [0.5])
    graph = helper.make_graph(nodes, "tiny", inputs, [output], [bias])
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def read_onnx(content: bytes, folder: Path) -> object:
    """Run a mutated file, as `verify` does."""
    (folder / "model.onnx").write_bytes(content)
    ids = torch.ones(1, 4, dtype=torch.long)
    with refusing("the file cannot be run", "run 'headscope shrink' again"):
        return first_output(session_of(folder / "model.onnx"), {"input_ids": ids, "attention_mask": ids})


def read_measures(content: bytes, folder: Path) -> object:
    """List and load the measures of a package whose entry points are mutated."""
    described = folder / "sharp-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: sharp\nVersion: 1.0\n", encoding="utf-8")
    (described / "entry_points.txt").write_bytes(content)
    with patch.object(sys, "path", [str(folder), *sys.path]):
        return [measure_named(name) for name in ("sharpest", *installed_measures().names)]


# By the name of the target: what makes a good input, and what reads a mutated one.
INPUTS: Mapping[str, tuple[Callable[[Path], bytes], Callable[[bytes, Path], object]]] = {
    "claims": (lambda folder: CLAIMS, read_claims),
    "step of a training": (kept_step, read_step),
    "search for a smaller model": (search, read_search),
    "smaller model, facts": (lambda folder: json.dumps(FACTS).encode(), read_facts),
    "smaller model, ONNX": (onnx_file, read_onnx),
    "entry points": (lambda folder: MEASURE, read_measures),
}
