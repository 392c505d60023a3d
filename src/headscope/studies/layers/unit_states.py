"""Vectors of spans in all spaces: the embeddings, then each layer; one pass over the texts that have them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.batch import Batch
from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.engine.half_precision_tables import half_precision_tables
from headscope.engine.passes import Attributes, Pass
from headscope.engine.settings import Settings
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.studies.layers.groups import Unit
from headscope.studies.layers.pooling import Pooling, pooled, tokens_of
from headscope.studies.layers.texts import Texts
from headscope.types import Example


@dataclass(frozen=True)
class UnitStates:
    """Vectors of spans in half precision, one table for each space.

    * `filled`: which rows have a vector: a word without a token has none.
    * `read`: counts of the corpora's examples and, apart, of generated texts, as attributes of a result.
    * `in_memory`, `on_disk`: bytes.
    """

    tables: list[Float[np.ndarray, "span width"]]
    filled: Bool[np.ndarray, " span"]
    read: Attributes
    in_memory: int
    on_disk: int


@contextmanager
def captured_units(
    model: Model, texts: Texts, units: Mapping[Unit, int], pooling: Pooling, settings: Settings, budget: int
) -> Iterator[UnitStates]:
    """Read the texts that have units, and keep the units' vectors while the context lasts.

    * `units`: the row of each unit: a text, and the start and end of a span.
    * `budget`: bytes of vectors in memory; the rest is on disk.

    Raises `HeadscopeError` if the disk is full, or [CLS] is wanted of a model that has none.
    """
    of_text: dict[int, list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for (text, start, end), row in units.items():
        of_text[text].append((row, (start, end)))
    examples = [Example(str(text), (texts.sentences[text],)) for text in sorted(of_text)]
    corpus = Corpus("texts", "", len(examples), {}, lambda: iter(examples))
    words = Words(model.tokenizer, model.max_tokens, settings.long, aligned=True)
    tables: list[Float[np.ndarray, "span width"]] = []
    filled = np.zeros(len(units), dtype=bool)
    sizes: dict[int, int] = {}
    with ExitStack() as stack:

        def visit(batch: Batch, states: Float[Tensor, "space example token width"]) -> None:
            if not tables:
                shape = (len(units), states.shape[-1])
                tables.extend(stack.enter_context(half_precision_tables(len(states), shape, budget)))
            rows, places, tokens = [], [], []
            for place, example in enumerate(batch.examples):
                sizes[int(example.id)] = int(batch.real[place].sum())
                every = tokens_of(batch, place, pooling)
                for row, span in of_text[int(example.id)]:
                    if len(chosen := every[span]):
                        rows.append(row)
                        places.append(place)
                        tokens.append(chosen)
            if rows:
                vectors = pooled(states, places, tokens, pooling).to(torch.float16).cpu().numpy()
                for table, of_space in zip(tables, vectors, strict=True):
                    table[rows] = of_space
                filled[rows] = True

        read = Pass(model, corpus, settings, words).visit_states(visit).attributes
        if not filled.any():
            raise HeadscopeError(f"pooling '{pooling}': no text has the token that it needs; use --pooling mean")
        on_disk = sum(table.nbytes for table in tables if isinstance(table, np.memmap))
        yield UnitStates(
            tables, filled, read | _counts(texts, sizes), sum(table.nbytes for table in tables) - on_disk, on_disk
        )


def _counts(texts: Texts, sizes: Mapping[int, int]) -> dict[str, int]:
    """Numbers of examples of corpora and of generated texts, and of their tokens; `sizes` has tokens by text."""
    generated = {text: size for text, size in sizes.items() if not texts.examples[text]}
    return {
        "n_examples": len({example for text in sizes for example in texts.examples[text]}),
        "n_tokens": sum(sizes.values()) - sum(generated.values()),
        "n_generated": len(generated),
        "n_generated_tokens": sum(generated.values()),
    }
