"""Tokens that are predicted in a random order, after XLNet (Yang et al. 2019, sections 2.2 and 2.3)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from headscope.encoding.encoded import CLASS, Encoded
from headscope.encoding.masking import IGNORED
from headscope.training.dataset import MaskedTrainingSet

PLACES, RANK = "position_ids", "rank"


@dataclass
class PermutedTrainingSet(MaskedTrainingSet):
    """Inputs whose chosen tokens are predicted one after the other, in a new random order in each epoch.

    The masked tokens stay as they are. After the input stands a [MASK] for each of them, in its position: what is
    predicted there is the token. `rank` says what sees what: it is 0 for tokens that are not predicted, and for the
    token that is predicted as number k, from 1, it is 2 k, and 2 k - 1 for its [MASK].
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._longest *= 2

    def __getitem__(self, index: int) -> tuple[Encoded, Int[np.ndarray, " token"]]:
        encoded, (_, pieces) = self.inputs[index], super().__getitem__(index)
        random = np.random.Generator(np.random.Philox(key=[self.seed, index], counter=[0, 0, 2, self.epoch]))
        order = random.permutation(np.flatnonzero(pieces != IGNORED))
        rank = np.zeros(len(encoded), dtype=np.int64)
        rank[order] = 2 * np.arange(1, len(order) + 1)
        inputs = encoded.inputs | {PLACES: np.arange(len(encoded)), RANK: rank}
        inputs = {name: np.concatenate([values, values[order]]) for name, values in inputs.items()}
        inputs["input_ids"][len(encoded) :] = self.tokenizer.mask_token_id
        inputs[RANK][len(encoded) :] -= 1
        token_class = np.append(encoded.token_class, np.full(len(order), CLASS["other"]))
        labels = np.append(np.full(len(encoded), IGNORED), pieces[order])
        return replace(encoded, inputs=inputs, token_class=token_class), labels

    def collate(self, group: list[Any], pad: int) -> dict[str, Tensor]:
        """As of masks, with an attention mask for each token, [example, 1, query, key]."""
        batch = super().collate(group, pad)
        rank = batch.pop(RANK)
        return batch | {"attention_mask": seen(rank, batch["attention_mask"].bool())[:, None]}

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The mean cross entropy of the predicted tokens, in nats."""
        mask = batch["attention_mask"]
        if network.config._attn_implementation == "eager":  # which adds the mask to the scores
            mask = torch.zeros(mask.shape, device=mask.device).masked_fill(~mask, torch.finfo(torch.float32).min)
        return super().loss(network, batch | {"attention_mask": mask})


def seen(rank: Int[Tensor, "example token"], real: Tensor) -> Tensor:
    """Which tokens each token sees, [example, query, key]: those of no higher rank, never another's [MASK], itself.

    >>> rank = torch.tensor([[0, 4, 2, 1, 3]])  # a b c, then the [MASK] of c, which is predicted first, and of b
    >>> seen(rank, torch.ones(1, 5, dtype=torch.bool))[0, 3:].int().tolist()
    [[1, 0, 0, 1, 0], [1, 0, 1, 0, 1]]
    """
    keys = real & (rank % 2 == 0)
    itself = torch.eye(rank.shape[1], dtype=torch.bool)
    return (keys[:, None] & (rank[:, None] <= rank[:, :, None])) | itself
