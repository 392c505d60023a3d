"""The size of batches on a GPU: as many tokens as its memory holds, up to where more make it no faster."""

from dataclasses import replace

import torch
from transformers import PreTrainedConfig

from headscope.models import Model
from headscope.passes.settings import BATCH_TOKENS, Settings

# Where a plain pass of BERT-base's shape on an H100 reads as many tokens a second as with twice as many in a batch.
MOST_TOKENS = 65_536
# Numbers of four bytes of a token: of each head (rows, keys and their copies), and times the widths of one layer.
OF_HEADS, OF_WIDTH, OF_INNER = 24, 16, 4


def fitting(settings: Settings, model: Model) -> Settings:
    """Settings with larger batches, where the default is asked for and fused kernels read a model on a GPU.

    It depends on the model and the kind of GPU alone, not on what else is in its memory: half of it is left free.
    """
    if settings.batch_tokens != BATCH_TOKENS or model.device.type != "cuda" or model.needs_map:
        return settings
    memory = torch.cuda.get_device_properties(model.device).total_memory
    weights = sum(weight.numel() * weight.element_size() for weight in model.network.parameters())
    tokens = most_tokens(memory // 2 - weights, sum(model.capture.heads), model.network.config)
    return replace(settings, batch_tokens=tokens)


def most_tokens(memory: int, heads: int, config: PreTrainedConfig) -> int:
    """The tokens of a batch that fit into so many bytes: a power of 2, from `BATCH_TOKENS` to `MOST_TOKENS`.

    >>> from transformers import BertConfig
    >>> [most_tokens(memory, 144, BertConfig()) for memory in (0, 4 * 2**30, 40 * 2**30)]
    [2048, 32768, 65536]
    """
    text = config.get_text_config()
    width = getattr(text, "hidden_size", 1024)
    inner = getattr(text, "intermediate_size", None) or 4 * width
    one = 4 * (OF_HEADS * heads + OF_WIDTH * width + OF_INNER * inner)
    return min(MOST_TOKENS, max(BATCH_TOKENS, 2 ** (max(1, memory // one).bit_length() - 1)))
