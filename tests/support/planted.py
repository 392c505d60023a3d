"""A BERT whose heads do what they are told, so that what a study finds can be compared with what is there.

Each token's vector is two ones, for its piece and for its position, in all layers alike: values and
feed-forward layers add nothing, and LayerNorm is set so that it changes nothing. A head's scores are then
whatever its two matrices say, and its attention is known in closed form.

>>> network = planted({(1, 1): looks_at_offset(-1), (2, 3): looks_at_piece("[SEP]")})
>>> network.config.num_hidden_layers, network.config.num_attention_heads
(2, 4)
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from support.tiny import tiny_bert, tiny_vocabulary

POSITIONS = 64
PIECES = tiny_vocabulary()
HEADS, WIDTH = 4, 64  # of a head
HIDDEN = HEADS * WIDTH
# Scores this large leave e^-20 to all other tokens.
CERTAIN = 20.0


class Head(NamedTuple):
    """A head as two matrices: the score of a query and a key is the product of what these make of their vectors."""

    query: Float[Tensor, "width hidden"]
    key: Float[Tensor, "width hidden"]


def planted(heads: Mapping[tuple[int, int], Head], layers: int = 2) -> PreTrainedModel:
    """A BERT for `tiny_tokenizer` with these heads at (layer, head), from 1; all others look at all tokens alike."""
    network: Any = tiny_bert(
        hidden_size=HIDDEN, num_hidden_layers=layers, num_attention_heads=HEADS, max_position_embeddings=POSITIONS
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.embeddings.word_embeddings.weight[:, : len(PIECES)] = torch.eye(len(PIECES))
        network.embeddings.position_embeddings.weight[:, -POSITIONS:] = torch.eye(POSITIONS)
        for module in network.modules():
            if isinstance(module, nn.LayerNorm):
                _changes_nothing(module)
        for (layer, head), (query, key) in heads.items():
            attention = network.encoder.layer[layer - 1].attention.self
            rows = slice((head - 1) * WIDTH, head * WIDTH)
            attention.query.weight[rows] = query * WIDTH**0.5
            attention.key.weight[rows] = key
    return network


def looks_at_offset(offset: int, score: float = CERTAIN) -> Head:
    """A head that gives the token at an offset this score, and all others 0."""
    query, key = torch.zeros(2, WIDTH, HIDDEN)
    key[:, -POSITIONS:] = torch.eye(WIDTH)
    for position in range(POSITIONS):
        if 0 <= position + offset < POSITIONS:
            query[position + offset, HIDDEN - POSITIONS + position] = score
    return Head(query, key)


def looks_at_piece(piece: str, score: float = CERTAIN) -> Head:
    """A head in which every token gives the tokens of one piece this score, and all others 0."""
    query, key = torch.zeros(2, WIDTH, HIDDEN)
    query[0, -POSITIONS:] = score
    key[0, PIECES[piece]] = 1
    return Head(query, key)


def looks_at_copies(score: float = 2 * CERTAIN) -> Head:
    """A head in which each token gives all tokens of its own piece this score, and all others much less."""
    keys = torch.zeros(WIDTH, HIDDEN)
    signs = torch.randn(WIDTH, len(PIECES), generator=torch.Generator().manual_seed(0)).sign()
    keys[:, : len(PIECES)] = signs / WIDTH**0.5
    return Head(score * keys, keys)


def looks_from_to(pairs: Mapping[str, str], score: float = CERTAIN) -> Head:
    """A head in which each piece of the mapping looks at the piece it is mapped to (a word at its syntactic head)."""
    query, key = torch.zeros(2, WIDTH, HIDDEN)
    for row, target in enumerate(sorted(set(pairs.values()))):
        key[row, PIECES[target]] = 1
        for source in (source for source in pairs if pairs[source] == target):
            query[row, PIECES[source]] = score
    return Head(query, key)


def _changes_nothing(norm: nn.LayerNorm) -> None:
    """Vectors of two ones and otherwise zeros all have this mean and variance, which are put back."""
    mean = 2 / HIDDEN
    norm.weight.fill_((mean - mean**2 + norm.eps) ** 0.5)
    norm.bias.fill_(mean)
