"""Segment ids (`token_type_ids`): a model with a table of segments gets them, as its behaviour shows.

The second text of a pair has another id than the first; a special token may have one of its own, as XLNet's [CLS]. The
list of inputs in a tokenizer is no evidence: ALBERT's lacks them, and the code of GPT-2 takes them as further words.
"""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headscope.capture.eager import short_input
from headscope.capture.transformers_logging import quiet
from headscope.errors import HeadscopeError

NAME = "token_type_ids"


@dataclass(frozen=True)
class SegmentReading:
    """What a network does with segment ids.

    * `changes`: whether its output changes with the id of a token.
    * `rows`: the number of rows of the table in which it looks them up; 0 where it has none, as XLNet.
    * `among_words`: whether that is the table of its words.
    """

    changes: bool
    rows: int = 0
    among_words: bool = False


def with_segment_ids(
    name: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> tuple[PreTrainedTokenizerBase, tuple[str, ...]]:
    """A tokenizer that lists segment ids as inputs where a network has a table of segments: itself, or a copy.

    Where it has none, but the tokenizer lists them, they are passed, as `model(**tokenizer(text))` does.

    * `name`: the model's name, for messages.

    Returns: the tokenizer, and a line if it lists ids that are looked up among the words.

    Raises `HeadscopeError` if a text has an id beyond the table; for pairs that is left to the network.
    """
    reading = segment_reading(network)
    if NAME in tokenizer.model_input_names:
        _refuse_beyond(name, network, tokenizer, reading.rows)
        line = (
            f"model '{name}': its tokenizer lists segment ids ({NAME}), which its network adds to each token as "
            "further words; they are passed, as model(**tokenizer(text)) does"
        )
        return tokenizer, (line,) if reading.among_words else ()
    if not reading.changes or reading.among_words:
        return tokenizer, ()
    listing = copy.copy(tokenizer)
    listing.model_input_names = [*tokenizer.model_input_names, NAME]
    listing.init_kwargs = tokenizer.init_kwargs | {"model_input_names": listing.model_input_names}  # these are saved
    _refuse_beyond(name, network, listing, reading.rows)
    return listing, ()


def segment_reading(network: PreTrainedModel) -> SegmentReading:
    """What a network does with segment ids, tried on a short input of which one token has another id.

    >>> from headscope import load
    >>> segment_reading(load("minilm").network)
    SegmentReading(changes=True, rows=2, among_words=False)
    """
    inputs = short_input(network)
    same = torch.zeros_like(inputs["input_ids"])
    other = same.index_fill(1, torch.tensor([3], device=same.device), 1)
    tables = list[nn.Module]()

    def look(module: nn.Module, args: tuple[Any, ...]) -> None:
        index, weight = args[0] if args else None, getattr(module, "weight", None)
        if not (isinstance(index, Tensor) and isinstance(weight, Tensor)) or index.is_floating_point():
            return
        if torch.equal(index.flatten().cpu(), ids):
            tables.append(module)
            if len(weight) < 2:
                raise IndexError  # here: after one in its own code a GPU is of no use

    ids, training = other.flatten().cpu(), network.training
    handles = [module.register_forward_pre_hook(look) for module in network.modules()]
    try:
        with torch.inference_mode(), quiet():
            network.eval()
            before, after = (network(**inputs, **{NAME: types})[0] for types in (same, other))
            changes = not torch.equal(before, after)
    except Exception:  # a network without such an input says so as it likes
        changes = False
    finally:
        network.train(training)
        for handle in handles:
            handle.remove()
    rows = max((len(table.weight) for table in tables), default=0)  # type: ignore[arg-type]
    return SegmentReading(changes, rows, network.get_input_embeddings() in tables if tables else False)


def _refuse_beyond(name: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: int) -> None:
    """Refuse ids beyond the table: now for a single text; for pairs a network refuses them from now on.

    A tokenizer may have them for pairs alone: a RoBERTa with the tokenizer of a BERT reads texts.
    """

    def refuse(largest: int) -> None:
        if 0 < rows <= largest:
            raise HeadscopeError(
                f"model '{name}': its tokenizer has the type id {largest}, the embedding of types ends at {rows - 1}; "
                "save the model's own tokenizer into the folder"
            )

    def look(module: nn.Module, args: tuple[Any, ...], inputs: dict[str, Any]) -> None:
        if (ids := inputs.get(NAME)) is not None:
            refuse(int(ids.max()))

    refuse(max(tokenizer("a", verbose=False)[NAME]))
    if 0 < rows <= max(tokenizer("a", "b", verbose=False)[NAME]):
        network.register_forward_pre_hook(look, with_kwargs=True)
