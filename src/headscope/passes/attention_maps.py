"""Attention maps for people to look at: of a few chosen inputs and heads, and of all heads on typical inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float, UInt8
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.encoding.batch import Batch, Rows
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.word_tokens import readable_tokens
from headscope.models import Model
from headscope.passes.batches import by_length, collator
from headscope.passes.forward import observing
from headscope.passes.observing import RowsObserver
from headscope.passes.settings import DEFAULTS, Settings
from headscope.results.vocabulary import MOST_TYPICAL


@dataclass(frozen=True)
class MapChoice:
    """A head's map of an input; `layer` and `head` count from 0."""

    encoded: Encoded
    layer: int
    head: int


def attention_maps(
    model: Model, chosen: Sequence[MapChoice], settings: Settings = DEFAULTS
) -> list[Float[np.ndarray, "query key"]]:
    """The maps in the order of `chosen`."""
    inputs = [replace(example.encoded, index=index) for index, example in enumerate(chosen)]
    observer = MapObserver(chosen)
    with observing(model, observer) as observe:
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            observe(group)
            settings.on_progress(len(group))
    return observer.maps


class MapObserver(RowsObserver):
    """An observer that copies the rows of the chosen heads."""

    def __init__(self, chosen: Sequence[MapChoice]):
        self.chosen = chosen
        self.maps = [np.zeros((len(choice.encoded),) * 2, np.float32) for choice in chosen]

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def add(self, layer: int, rows: Rows) -> None:
        for number, index in enumerate(self.batch.index[rows.examples].tolist()):
            choice, first = self.chosen[index], rows.heads.start if rows.heads else 0
            if choice.layer == layer and first <= choice.head < first + rows.attention.shape[1]:
                part = self.maps[index][rows.queries, rows.keys or slice(None)]
                part[:] = rows.attention[number, choice.head - first, : part.shape[0], : part.shape[1]].cpu().numpy()

    def finish(self) -> None:
        """See `BatchObserver`; `maps` has the observations of all batches."""


SAMPLE = 16
LEVELS = 255
SOURCE = "inputs of median length, chosen by the seed"


def with_typical_maps(result: xr.Dataset, model: Model, corpus: Corpus, number: int = 3, seed: int = 0) -> xr.Dataset:
    """The result with the attention maps of a few typical inputs of its corpus, for all heads; of 0 without any."""
    maps = typical_maps(model, typical_inputs(model, corpus, number, seed)) if number else {}
    return result.assign(maps)


def with_maps_of(result: xr.Dataset, inputs: Mapping[str, Any], number: int) -> xr.Dataset:
    """The result of a study with the maps of typical inputs of its first model and corpus, or task."""
    model = inputs["model"] if "model" in inputs else inputs["models"][0]
    several = inputs.get("corpora") or inputs.get("treebanks") or [inputs.get("corpus") or inputs["task"].dev]
    seed = inputs["settings"].seed if "settings" in inputs else 0
    return with_typical_maps(result, model, several[0], number, seed)


def typical_inputs(model: Model, corpus: Corpus, number: int, seed: int = 0) -> list[Encoded]:
    """A few inputs of median length from a random sample of the corpus, in its order; longer ones are cut at 64 tokens.

    The sample has at most 16 examples: they alone are encoded and kept. The corpus is read once more to find them.
    """
    generator = np.random.default_rng(seed)
    chosen = generator.choice(corpus.n_examples, min(SAMPLE, corpus.n_examples), replace=False)
    wanted = set(chosen.tolist())
    examples = [example for index, example in enumerate(corpus) if index in wanted]
    encoder = Words(model.tokenizer, min(MOST_TYPICAL, model.max_tokens), "truncate", aligned=True)
    parts = [(example, part) for example, several in encoder.tokenized(examples) for part in several]
    if not parts:
        return []
    lengths = np.array([len(part.ids) for _, part in parts])
    ranks = generator.permutation(len(parts))
    nearest = np.lexsort((ranks, abs(lengths - np.median(lengths))))[:number]
    return [encoder.encoded(index, *parts[index]) for index in sorted(nearest.tolist())]


def typical_maps(model: Model, inputs: Sequence[Encoded]) -> dict[str, xr.DataArray]:
    """The attention maps of all heads on a few inputs, as bytes: 255 is the largest attention of a map.

    Returns: `typical_map[typical_input, layer, head, typical_query, typical_key]`, and the attention that 255 stands
    for, `typical_map_maximum[typical_input, layer, head]`; nothing without inputs.
    """
    if not inputs:
        return {}
    heads, side = model.capture.heads, max(map(len, inputs))
    maps = np.zeros((len(inputs), len(heads), max(heads), side, side), np.uint8)
    maximum = np.full(maps.shape[:3], np.nan, np.float32)
    for layer, attention in enumerate(maps_of_inputs(model, inputs)):
        for number, encoded in enumerate(inputs):
            part = attention[number, :, : len(encoded), : len(encoded)]
            levels, peak = quantised(part)
            maps[number, layer, : heads[layer], : len(encoded), : len(encoded)] = levels
            maximum[number, layer, : heads[layer]] = peak
    return _variables(maps, maximum, _tokens(model.tokenizer, inputs), inputs)


def maps_of_inputs(model: Model, inputs: Sequence[Encoded]) -> list[Float[np.ndarray, "input head query key"]]:
    """The attention maps of some inputs, layer by layer, by one forward pass; shorter inputs are padded."""
    batch = collator(model)([replace(encoded, index=index) for index, encoded in enumerate(inputs)])
    observer = _MapKeeper(batch, model.capture.heads)
    with torch.inference_mode(), model.observed(observer):
        model.network(**batch.inputs)
    return observer.maps


def quantised(
    attention: Float[np.ndarray, "head query key"],
) -> tuple[UInt8[np.ndarray, "head query key"], Float[np.ndarray, " head"]]:
    """Attention in 255 equal steps up to the largest of each map. Returns: the steps, and the largest attention.

    >>> levels, maximum = quantised(np.array([[[0.5, 0.25], [0.0, 0.5]]]))
    >>> levels.tolist(), maximum.tolist()
    ([[[255, 128], [0, 255]]], [0.5])
    """
    maximum = attention.max((1, 2))
    scaled = attention / np.where(maximum > 0, maximum, 1)[:, None, None] * LEVELS
    return np.rint(scaled).astype(np.uint8), maximum


class _MapKeeper(RowsObserver):
    """An observer that copies all maps of one batch of inputs."""

    def __init__(self, batch: Batch, heads: Sequence[int]):
        inputs, side = batch.real.shape
        self.batch, self.maps = batch, [np.zeros((inputs, number, side, side), np.float32) for number in heads]

    def add(self, layer: int, rows: Rows, /) -> None:
        """Copy a block."""
        self.maps[layer][rows.slices] = rows.attention.float().cpu().numpy()


def _tokens(tokenizer: PreTrainedTokenizerBase, inputs: Sequence[Encoded]) -> dict[str, list[list[str]]]:
    """The tokens of each input as people read them, and as the tokenizer writes them, with "" after shorter inputs."""
    raw = [tokenizer.convert_ids_to_tokens(encoded.inputs["input_ids"].tolist()) for encoded in inputs]
    readable = [readable_tokens(tokenizer, tokens) for tokens in raw]
    side = max(map(len, inputs))
    return {
        name: [[*tokens, *[""] * (side - len(tokens))] for tokens in several]
        for name, several in (("typical_token", readable), ("typical_raw_token", raw))
    }


def _variables(
    levels: UInt8[np.ndarray, "input layer head query key"],
    maximum: Float[np.ndarray, "input layer head"],
    tokens: dict[str, list[list[str]]],
    inputs: Sequence[Encoded],
) -> dict[str, xr.DataArray]:
    numbered = ("layer", "head", "typical_query", "typical_key")  # dimensions of results that do arithmetic together
    labels = {name: np.arange(1, size + 1) for name, size in zip(numbered, levels.shape[1:], strict=True)}
    names = [encoded.example.id if encoded.example else str(encoded.index) for encoded in inputs]
    coords = labels | {"typical_input": names}
    coords |= {
        name: (("typical_input", "typical_query"), np.array(texts, dtype=object)) for name, texts in tokens.items()
    }
    first = ("typical_input", "layer", "head")
    maps = xr.DataArray(levels, coords, (*first, "typical_query", "typical_key"))
    maps.encoding = {"zlib": True, "complevel": 4}
    names = {"long_name": "attention maps of typical inputs", "units": "255ths of the largest attention of the map"}
    largest = {"long_name": "largest attention of each map of typical inputs", "units": "share of attention"}
    return {
        "typical_map": maps.assign_attrs(names | {"source": SOURCE}),
        "typical_map_maximum": xr.DataArray(
            maximum, {name: coords[name] for name in first}, first, attrs=largest | {"source": SOURCE}
        ),
    }
