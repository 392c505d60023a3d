"""Milliseconds of all models side by side: one thread, and each takes its turn in each round."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from benchmarks.shrink.ways import Row

from headscope import Model, load
from headscope.models.onnx import first_output, session_of
from headscope.outputs.size_and_speed import by_round, pass_seconds

Shape = tuple[int, int]
Timed = Callable[[torch.Tensor], float]


def milliseconds(rows: Sequence[Row], shapes: Sequence[Shape], rounds: int) -> np.ndarray:
    """Median milliseconds of a pass, [row, shape]; tokens are random, of the smallest vocabulary.

    Raises `ValueError` for a file that is no model.
    """
    torch.set_num_threads(1)
    timed, most = zip(*(_timed(Path(row.path)) for row in rows), strict=True)
    random = torch.Generator().manual_seed(0)
    table = []
    for shape in shapes:
        ids = torch.randint(5, min(most), shape, generator=random)
        table.append(np.median(by_round([partial(one, ids) for one in timed], rounds + 1), axis=1))
    return 1000 * np.array(table).T


def _timed(path: Path) -> tuple[Timed, int]:
    """What times a pass of a model, and the pieces that it has."""
    if path.suffix == ".npz":
        return _of_table(path)
    if path.suffix == ".onnx":
        model = load(str(path.parents[1]), head=True, device="cpu")
        return partial(file_seconds, session_of(path)), _pieces(model)
    model = load(str(path), head=True, device="cpu")
    return partial(pass_seconds, model), _pieces(model)


def _pieces(model: Model) -> int:
    return model.network.config.get_text_config().vocab_size


def file_seconds(session: object, ids: torch.Tensor) -> float:
    """Seconds of a pass of an ONNX file over tokens without padding."""
    start = time.perf_counter()
    first_output(session, {"input_ids": ids, "attention_mask": torch.ones_like(ids)})
    return time.perf_counter() - start


def _of_table(path: Path) -> tuple[Timed, int]:
    table = np.load(path)
    vectors, weight, bias = (torch.from_numpy(table[name]) for name in ("vectors", "weight", "bias"))
    copies = weight.shape[1] // vectors.shape[1]  # of a pair four: read as if all were means

    @torch.inference_mode()
    def seconds(ids: torch.Tensor) -> float:
        start = time.perf_counter()
        means = torch.nn.functional.embedding_bag(ids, vectors, mode="mean")
        torch.nn.functional.linear(means.repeat(1, copies), weight, bias)
        return time.perf_counter() - start

    return seconds, len(vectors)
