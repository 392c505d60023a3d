"""Load a model's tokenizer, and refuse one that does not fit the model."""

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint
from headscope.models.config import load_config

# Embeddings are padded for speed and a few pieces are added late; more than that is another model's tokenizer,
# or one that transformers built empty because its vocabulary is missing.
LEAST, MOST = 0.5, 1.1


def load_tokenizer(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedTokenizerBase:
    """The tokenizer of a model.

    Raises `HeadscopeError` if it cannot be loaded, does not say which characters its pieces cover, or has
    a vocabulary of another size than the model's.
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
    size = getattr(config.get_text_config(), "vocab_size", None)
    if size and not LEAST * size <= len(tokenizer) <= MOST * size:
        raise HeadscopeError(
            f"model '{name}': its tokenizer has {len(tokenizer)} pieces, the model {size}; "
            "save the model's own tokenizer, whole, into the folder"
        )
    return tokenizer
