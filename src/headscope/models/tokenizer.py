"""Load a model's tokenizer and check that it fits the model."""

from typing import Any

from transformers import AutoTokenizer, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import load_config
from headscope.models.tokenizer_growth import refuse_growth

# Embeddings are padded for speed, and a few pieces are added late. A larger difference means the tokenizer of another
# model, or an empty one that transformers builds without a vocabulary.
LEAST, MOST = 0.5, 1.1


def load_tokenizer(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a model.

    Raises `HeadscopeError` if it cannot be loaded, gives no character offsets, has a vocabulary of another size than
    the model's, a token id or a type id beyond the model's embedding, or makes texts far longer.
    """
    name = checkpoint.name
    refuse_growth(checkpoint.folder, name)
    config = load_config(checkpoint, remote_code=remote_code)
    with quiet(), refusing(f"model '{name}': its tokenizer cannot be loaded", "save it again with save_pretrained"):
        tokenizer = AutoTokenizer.from_pretrained(
            checkpoint.folder, config=config, local_files_only=True, trust_remote_code=remote_code
        )
    if not tokenizer.is_fast:
        raise HeadscopeError(
            f"model '{name}': tokenizer {type(tokenizer).__name__} does not give character offsets; "
            "convert it to a fast one (tokenizer.json)"
        )
    if not isinstance(tokenizer.model_max_length, int | float):
        raise HeadscopeError(
            f"model '{name}': model_max_length of its tokenizer is {str(tokenizer.model_max_length)[:40]!r}, not a "
            "number; correct it in tokenizer_config.json"
        )
    size = getattr(config.get_text_config(), "vocab_size", None)
    if size and not LEAST * size <= len(tokenizer) <= MOST * size:
        raise HeadscopeError(
            f"model '{name}': its tokenizer has {len(tokenizer)} pieces, the model {size}; "
            "save the model's own tokenizer, whole, into the folder"
        )
    with refusing(f"model '{name}': its tokenizer reads no text", "save it again with save_pretrained"):
        single, pair = tokenizer("a", verbose=False), tokenizer("a", "b", verbose=False)
    largest = max(*tokenizer.get_vocab().values(), *single["input_ids"], *pair["input_ids"])
    if size and largest >= size:
        raise HeadscopeError(
            f"model '{name}': its tokenizer has the token id {largest}, the embedding ends at {size - 1}; "
            "save the model's own tokenizer into the folder"
        )
    if line := _line(name, max(single.get("token_type_ids", [0]), default=0), _types(config)):
        raise HeadscopeError(line)
    return tokenizer


def refuse_types_of_pairs(name: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """From now on, a network refuses inputs with a type id beyond its embedding.

    This is for a tokenizer that has such ids for pairs alone: a RoBERTa with the tokenizer of a BERT reads texts.
    """
    types = _types(network.config)

    def refuse(module: PreTrainedModel, args: tuple, inputs: dict[str, Any]) -> None:
        if (ids := inputs.get("token_type_ids")) is not None and (line := _line(name, int(ids.max()), types)):
            raise HeadscopeError(line)

    if _line(name, max(tokenizer("a", "b", verbose=False).get("token_type_ids", [0]), default=0), types):
        network.register_forward_pre_hook(refuse, with_kwargs=True)


def _types(config: PreTrainedConfig) -> int:
    """The number of token types that a model has an embedding for; 0 if it reads none."""
    types = getattr(config.get_text_config(), "type_vocab_size", None)
    return types if isinstance(types, int) else 0


def _line(name: str, largest: int, types: int) -> str:
    """The line for a type id beyond the embedding; "" for any other."""
    if not 0 < types <= largest:
        return ""
    return (
        f"model '{name}': its tokenizer has the type id {largest}, the embedding of types ends at {types - 1}; "
        "save the model's own tokenizer into the folder"
    )
