"""Load a model's tokenizer and check that it fits the model."""

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import load_config

# Embeddings are padded for speed, and a few pieces are added late. A larger difference means the tokenizer of another
# model, or an empty one that transformers builds without a vocabulary.
LEAST, MOST = 0.5, 1.1


def load_tokenizer(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a model.

    Raises `HeadscopeError` if it cannot be loaded, gives no character offsets, has a vocabulary of another size than
    the model's, or a token id beyond the model's embedding.
    """
    name = checkpoint.name
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
    if size and (largest := _largest_id(tokenizer)) >= size:
        raise HeadscopeError(
            f"model '{name}': its tokenizer has the token id {largest}, the embedding ends at {size - 1}; "
            "save the model's own tokenizer into the folder"
        )
    return tokenizer


def _largest_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """The largest token id in the vocabulary, or in an input as the post-processor completes it."""
    inputs = (tokenizer("a", verbose=False)["input_ids"], tokenizer("a", "b", verbose=False)["input_ids"])
    return max(*tokenizer.get_vocab().values(), *(token for ids in inputs for token in ids))
