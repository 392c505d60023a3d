"""Vectors of spans in all spaces: the embeddings, then each layer; one pass over the texts that have them.

The vector of a span of words, or of a whole text, is pooled from those of its tokens.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.corpora import Corpus
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.passes.forward import Forward, half_scales
from headscope.passes.kept_arrays import ArrayPass, ArrayStore, half_precision_tables
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import Attributes
from headscope.passes.settings import Settings, state_width
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.storage.kept_inputs import free_models
from headscope.studies.layers.layers.groups import WHOLE_TEXT, Unit
from headscope.studies.layers.layers.tasks import Span
from headscope.studies.layers.layers.texts import Texts

Pooling = Literal["mean", "max", "first", "last", "cls"]
STATES = 1 << 23  # numbers of the states of a batch, which are there several times over
TOGETHER = 256  # units that are pooled together: all units of a batch have its tokens many times over
CLS, SEP = TOKEN_CLASSES.index("cls"), TOKEN_CLASSES.index("sep")


def tokens_of(batch: Batch, row: int, pooling: Pooling) -> "TextTokensOf":
    """The tokens of an example of a batch, to be chosen from."""
    pieces = batch.pieces[batch.pieces[:, 0] == row, 1:].cpu().numpy() if batch.pieces is not None else np.empty((0, 2))
    classes = batch.token_class[row].cpu().numpy()
    cls = np.flatnonzero(classes == CLS)[:1]
    inside = np.flatnonzero((classes >= 0) & (classes != CLS) & (classes != SEP))
    return TextTokensOf(pieces, cls if pooling == "cls" else inside)


class TextTokensOf:
    """The tokens of a text: rows (word, token), and the tokens that stand for the whole."""

    def __init__(self, pieces: Int[np.ndarray, "piece 2"], text: Int[np.ndarray, " token"]):
        self.pieces, self.of_text = pieces, text

    def __getitem__(self, span: Span) -> Int[np.ndarray, " token"]:
        """The tokens of the words [start, end), or of the whole; none where they have none."""
        if span == WHOLE_TEXT:
            return self.of_text
        words = self.pieces[:, 0]
        return np.unique(self.pieces[(words >= span[0]) & (words < span[1]), 1])


def pooled(
    states: Float[Tensor, "space example token width"],
    rows: Sequence[int],
    tokens: Sequence[Int[np.ndarray, " token"]],
    pooling: Pooling,
) -> Float[Tensor, "space span width"]:
    """The vector of each span: the mean, the largest value, the first or the last of its tokens.

    * `rows`, `tokens`: the example and the tokens of each span, one or more.

    >>> states = torch.tensor([[[[1.0], [3.0], [8.0]]]])
    >>> [pooled(states, [0], [np.array([0, 1])], how).item() for how in ("mean", "max", "first", "last")]
    [2.0, 3.0, 1.0, 3.0]
    """
    if pooling in ("first", "last"):
        tokens = [unit[:1] if pooling == "first" else unit[-1:] for unit in tokens]
    lengths = [len(unit) for unit in tokens]
    example = torch.from_numpy(np.repeat(rows, lengths)).to(states.device)
    token = torch.from_numpy(np.concatenate(tokens)).to(states.device)
    chosen = states[:, example, token].float().transpose(0, 1).contiguous()  # [piece, space, width]
    reduce = "max" if pooling == "max" else "mean"
    return torch.segment_reduce(chosen, reduce, lengths=torch.tensor(lengths, device=states.device)).transpose(0, 1)


@dataclass(frozen=True)
class UnitStates:
    """Vectors of spans in half precision, one table for each space.

    * `filled`: which rows have a vector: a word without a token has none.
    * `pieces`: the number of tokens of each row's words; 0 of a whole text.
    * `read`: counts of the corpora's examples and, apart, of generated texts, as attributes of a result.
    * `in_memory`, `on_disk`: bytes.
    """

    tables: list[Float[np.ndarray, "span width"]]
    filled: Bool[np.ndarray, " span"]
    pieces: Int[np.ndarray, " span"]
    read: Attributes
    in_memory: int
    on_disk: int


@dataclass(frozen=True)
class BatchUnits:
    """The units of a batch: `rows` of their vectors; `pieces`: of their words; `sizes`: numbers of tokens by text."""

    rows: Int[np.ndarray, " unit"]
    pieces: Int[np.ndarray, " unit"]
    sizes: dict[int, int]


@contextmanager
def captured_units(
    model: Model, texts: Texts, units: Mapping[Unit, int], pooling: Pooling, settings: Settings, budget: int
) -> Iterator[UnitStates]:
    """Read the texts that have units, and keep the units' vectors while the context lasts, but not the model.

    * `units`: the row of each unit: a text, and the start and end of a span.
    * `budget`: bytes of vectors in memory; the rest is on disk.

    Raises `HeadscopeError` if the disk is full, or [CLS] is wanted of a model that has none.
    """
    with ArrayStore(budget=0) as store, ExitStack() as stack:
        result = store.gather(unit_pass(model, texts, units, pooling, settings))
        del model
        free_models()
        _, spaces, width = store.arrays[0].shape
        tables = stack.enter_context(half_precision_tables(spaces, (len(units), width), budget))
        filled, pieces = np.zeros(len(units), dtype=bool), np.zeros(len(units), dtype=np.int64)
        for batch, vectors in zip(result.value, store.arrays, strict=True):
            filled[batch.rows], pieces[batch.rows] = True, batch.pieces
            for space, table in enumerate(tables):
                table[batch.rows] = vectors[:, space].numpy()
        if not filled.any():
            if pooling == "cls":
                raise HeadscopeError("pooling 'cls': no text has the token that it needs; use --pooling mean")
            raise HeadscopeError("no span has a token that the model reads; shorten the texts, or use --long truncate")
        sizes = {text: size for batch in result.value for text, size in batch.sizes.items()}
        on_disk = sum(table.nbytes for table in tables if isinstance(table, np.memmap))
        in_memory = sum(table.nbytes for table in tables) - on_disk
        yield UnitStates(tables, filled, pieces, result.attributes | _counts(texts, sizes), in_memory, on_disk)


def unit_pass(
    model: Model, texts: Texts, units: Mapping[Unit, int], pooling: Pooling, settings: Settings
) -> ArrayPass[BatchUnits]:
    """The pass over the texts that have units, whose vectors are kept; states of a batch are bounded on a processor."""
    if model.device.type == "cpu":
        numbers = (len(model.capture.heads) + 1) * state_width(model.network.config)
        settings = replace(settings, batch_tokens=min(settings.batch_tokens, max(1, STATES // numbers)))
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    forward = Forward[Any](model)
    inputs = Pass(model, _corpus(texts, units), settings, words)
    return ArrayPass(inputs, _unit_reader(forward, units, pooling, half_scales(model)), BatchUnits, forward)


def _corpus(texts: Texts, units: Mapping[Unit, int]) -> Corpus:
    """The texts that have units; the hash is of them and of all units."""
    examples = [Example(str(text), (texts.sentences[text],)) for text in sorted({text for text, _, _ in units})]
    content = sha256(repr((list(units.items()), [(example.id, example.sentences) for example in examples])).encode())
    return Corpus("texts", content.hexdigest(), len(examples), {}, lambda: iter(examples))


def _unit_reader(
    forward: Forward[Any], units: Mapping[Unit, int], pooling: Pooling, scales: Float[Tensor, " space"]
) -> Callable[[list[Encoded]], tuple[BatchUnits, list[Float[np.ndarray, "unit space width"]]]]:
    """A function that runs a batch. Returns: its units, and their vectors, times the scale of each space."""
    by_text: dict[int, list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for (text, start, end), row in units.items():
        by_text[text].append((row, (start, end)))

    def observe(group: list[Encoded]) -> tuple[BatchUnits, list[Float[np.ndarray, "unit space width"]]]:
        batch, states = forward.states(group)
        rows, examples, tokens, pieces = [], [], [], []
        for number, example in enumerate(batch.examples):
            tokens_of_units = tokens_of(batch, number, pooling)
            for row, span in by_text[int(example.id)]:
                if len(chosen := tokens_of_units[span]):
                    rows.append(row)
                    examples.append(number)
                    tokens.append(chosen)
                    pieces.append(0 if span == WHOLE_TEXT else len(chosen))
        vectors = states.new_empty(len(states), 0, states.shape[-1])  # [space, unit, width]
        if rows:
            parts = [slice(first, first + TOGETHER) for first in range(0, len(rows), TOGETHER)]
            vectors = torch.cat([pooled(states, examples[part], tokens[part], pooling) for part in parts], dim=1)
        lengths = batch.real.sum(1).tolist()
        sizes = {int(example.id): length for example, length in zip(batch.examples, lengths, strict=True)}
        counted = BatchUnits(np.array(rows, dtype=np.int64), np.array(pieces, dtype=np.int64), sizes)
        scaled = vectors * scales[:, None, None]  # classifiers standardise each space
        return counted, [scaled.to(torch.float16).transpose(0, 1).cpu().numpy()]  # [unit, space, width]

    return observe


def _counts(texts: Texts, sizes: Mapping[int, int]) -> dict[str, int]:
    """Numbers of examples of corpora and of generated texts, and of their tokens; `sizes` has tokens by text."""
    generated = {text: size for text, size in sizes.items() if not texts.examples[text]}
    return {
        "n_examples": len({example for text in sizes for example in texts.examples[text]}),
        "n_tokens": sum(sizes.values()) - sum(generated.values()),
        "n_generated": len(generated),
        "n_generated_tokens": sum(generated.values()),
    }
