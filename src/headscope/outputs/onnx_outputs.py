"""What an ONNX file answers, and how long it takes."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.catalog import require
from headscope.outputs.size_and_speed import ROUNDS, in_turns


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


def file_seconds(sessions: Sequence[Any], ids: Tensor, rounds: int = ROUNDS) -> list[float]:
    """Median seconds of a pass of each file over the same tokens without padding; files take turns."""
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def seconds(session: Any) -> float:
        start = time.perf_counter()
        first_output(session, inputs)
        return time.perf_counter() - start

    return in_turns([partial(seconds, session) for session in sessions], rounds)
