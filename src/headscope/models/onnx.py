"""Models as ONNX files: exported, checked against torch, run by onnxruntime, and written with weights of eight bits.

Weights of eight bits are whole numbers with a scale, and so are the inputs of linear maps, whose scale is found anew at
each pass. See onnxruntime's guide "Quantize ONNX models".
"""

import importlib
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.attention_switch import fast
from headscope.capture.transformers_logging import quiet, refusing
from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import locate
from headscope.models.loading import load
from headscope.models.model import Model
from headscope.storage.files import replacing

PACKAGES = ("onnx", "onnxruntime", "onnxscript")
TEXTS = (("A short text.",), ("The cat sat by the river, and nobody saw it leave.", "No."))
# Largest difference of the file's outputs, relative to the largest output.
TOLERANCE = 1e-4


class _Outputs(nn.Module):
    """The first output of a network, with its inputs in a fixed order."""

    def __init__(self, network: nn.Module, names: tuple[str, ...]):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.network(**dict(zip(self.names, inputs, strict=True)), return_dict=False)[0]


def export(model: Model, path: str | Path) -> Path:
    """Export a model to an ONNX file with any number of examples and tokens, through `torch.onnx`.

    Inputs and the output have the names of transformers (`last_hidden_state`, `logits`), which other programs read.
    The file is run with onnxruntime on inputs of other shapes than the exported ones; its outputs must be those of
    the model. Weights are those of `model`, in float32. A former file stays as it is until the new one is checked.

    Raises `HeadscopeError` if the extra `onnx` is not installed, the model cannot be exported, or outputs differ.
    """
    path = Path(path)
    refuse_unexportable(model)
    model = model.on("cpu")
    trials = [_inputs(model, texts) for texts in (TEXTS, TEXTS[:1], TEXTS[1:])]
    names = tuple(trials[0])
    network = _Outputs(model.network, names).eval()
    axes = {0: torch.export.Dim("examples"), 1: torch.export.Dim("tokens", max=model.max_tokens)}
    with torch.inference_mode(False), torch.no_grad(), fast(model.network), quiet(), silent():
        with refusing(f"model '{model.name}' cannot be exported to ONNX", "use it through torch"):
            first, *_ = model.network(**trials[0], return_dict=True)
            program = torch.onnx.export(
                network,
                tuple(trials[0].values()),
                input_names=list(names),
                output_names=[first],
                dynamic_shapes=(tuple(axes for _ in names),),
                dynamo=True,
                verbose=False,
            )
        for node in program.model.graph.all_nodes():  # type: ignore[union-attr]
            node.metadata_props.clear()  # where torch writes the paths of this machine's source files
        with replacing(path) as scratch:
            program.save(str(scratch))  # type: ignore[union-attr]
            with refusing(f"the ONNX file of model '{model.name}' cannot be run", "use it through torch"):
                for trial in trials:
                    _compare(scratch, trial, network(*trial.values()))
            for beside in set(scratch.parent.iterdir()) - {scratch}:  # large weights have a file of their own
                os.replace(beside, path.parent / beside.name)
    return path


def refuse_unexportable(model: Model) -> None:
    """Raise `HeadscopeError` without the extra `onnx`, or for a model not in float32, or without a head in a layer."""
    for package in PACKAGES:
        require(package)
    if model.network.dtype != torch.float32:
        raise HeadscopeError(f"ONNX files are exported in float32, not in {model.network.dtype}; leave --dtype out")
    if 0 in model.capture.heads:
        layer = model.capture.heads.index(0) + 1
        raise HeadscopeError(
            f"layer {layer} of model '{model.name}' has no head, which onnxruntime does not run; keep one in each layer"
        )


def export_folder(directory: Path) -> Path:
    """Export the model in a folder, or in `model` of a result's folder, with its task head if it has one."""
    folder = directory / "model" if (directory / "model" / "config.json").is_file() else directory
    if not (folder / "config.json").is_file():
        raise HeadscopeError(f"folder '{directory}' has no model (config.json); name the folder of a model")
    checkpoint = locate(str(folder))
    try:
        model = load(checkpoint, head=True, device="cpu")
    except HeadscopeError:  # no task head; any other error comes again
        model = load(checkpoint, device="cpu")
    return export(model, folder / "model.onnx")


@contextmanager
def silent() -> Iterator[None]:
    """Context without warnings of the exporter about its own internals and packages that are not installed."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _inputs(model: Model, texts: tuple[tuple[str, ...], ...]) -> dict[str, Tensor]:
    """Inputs of the model, padded or for want of a padding token shortened, each [example, token]."""
    tokenizer: Any = model.tokenizer
    encoded = [tokenizer(*text, verbose=False) for text in texts]
    if tokenizer.pad_token_id is not None:
        return dict(tokenizer.pad(encoded, padding=True, return_tensors="pt"))
    shortest = min(len(item["input_ids"]) for item in encoded)
    return {name: torch.tensor([item[name][:shortest] for item in encoded]) for name in encoded[0]}


def _compare(path: Path, inputs: dict[str, Tensor], expected: Tensor) -> None:
    output = first_output(session_of(path), inputs)
    real = inputs["attention_mask"].bool().numpy()
    both = output.numpy(), expected.numpy()
    ours, theirs = (output[real] if output.shape[:2] == real.shape else output for output in both)
    difference = np.abs(ours - theirs).max() if ours.shape == theirs.shape else np.inf
    if not difference <= TOLERANCE * max(1.0, np.abs(theirs).max()):
        raise HeadscopeError(
            f"outputs of the ONNX file differ from torch by {difference:.1e}; use the model through torch"
        )


def session_of(path: Path) -> Any:
    """A session of onnxruntime on the processor, with as many threads as torch has.

    Raises `HeadscopeError` if onnxruntime is not installed.
    """
    runtime = require("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def first_output(session: Any, inputs: Mapping[str, Tensor]) -> Float[Tensor, "example *dims"]:
    """The first output of a file for the inputs of a network; token types that are not given are 0."""
    arrays = {"token_type_ids": torch.zeros_like(inputs["input_ids"]), **inputs}
    feeds = {feed.name: arrays[feed.name].cpu().numpy() for feed in session.get_inputs()}
    return torch.from_numpy(session.run(None, feeds)[0])


# Linear maps, and tables of embeddings.
MAPS = ("MatMul", "Gemm", "Gather")


@dataclass(frozen=True)
class EightBits:
    """How weights become numbers of eight bits.

    * `per_channel`: a scale for each output of a linear map, not one for each map.
    * `reduce_range`: seven of the eight bits: on processors whose sums of products of eight bits may overflow.
    """

    per_channel: bool = False
    reduce_range: bool = False

    @property
    def words(self) -> str:
        """The options in words.

        >>> EightBits(per_channel=True).words
        'per channel, eight bits'
        """
        scale = "per channel" if self.per_channel else "per map"
        return f"{scale}, {'seven bits' if self.reduce_range else 'eight bits'}"


def quantised(source: Path, target: Path, options: EightBits) -> Path:
    """Write an ONNX file with weights of eight bits.

    Raises `HeadscopeError` if the extra `onnx` is not installed, or the file cannot be written.
    """
    require("onnxruntime")
    quantization: Any = importlib.import_module("onnxruntime.quantization")
    model = _without_shapes_of_weights(source)
    weights = {tensor.name for tensor in model.graph.initializer if len(tensor.dims) == 2}
    nodes = [node for node in model.graph.node if node.op_type in MAPS and weights.intersection(node.input)]
    with replacing(target) as scratch, silent():
        quantization.quantize_dynamic(
            model,
            scratch,
            op_types_to_quantize=[*MAPS],
            nodes_to_quantize=[node.name for node in nodes],
            per_channel=options.per_channel,
            reduce_range=options.reduce_range,
        )
    return target


def _without_shapes_of_weights(path: Path) -> Any:
    """A file's model, whose weights have no shapes beside their own: onnxruntime turns some of them, but not these."""
    model: Any = require("onnx").load(str(path))
    weights = {tensor.name for tensor in model.graph.initializer}
    stay = [tensor for tensor in model.graph.value_info if tensor.name not in weights]
    del model.graph.value_info[:]
    model.graph.value_info.extend(stay)
    return model
