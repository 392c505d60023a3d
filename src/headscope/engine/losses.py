"""Losses of examples, and the masking of words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerBase

from headscope.encoding.encoded import CLASS, Encoded
from headscope.errors import HeadscopeError
from headscope.tasks import TaskKind

# The share of an input's tokens, special ones aside, that are masked (Devlin et al. 2019).
MASKED_SHARE = 0.15
# The target that cross entropy leaves out.
IGNORED = -100

Target = float | Int[np.ndarray, " token"]


def losses(kind: TaskKind, logits: Float[Tensor, "example ..."], targets: Tensor) -> Float[Tensor, " example"]:
    """The loss of each example: cross entropy in nats, or the squared difference of a regression.

    * `targets`: the class or the score of each example, [example]; of masked words the piece behind each mask and
      elsewhere `IGNORED`, [example, token]: their losses are summed.

    >>> losses("classification", torch.zeros(2, 3), torch.tensor([0, 2]))
    tensor([1.0986, 1.0986])
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if kind == "regression":
        # [example, 1] or [example] -> [example]
        return (logits.reshape(len(logits), -1)[:, 0] - targets).square()
    if kind == "classification":
        return cross_entropy(logits, targets.long(), reduction="none")
    return cross_entropy(logits.mT, targets, ignore_index=IGNORED, reduction="none").sum(-1)


def masked(
    encoded: Encoded, tokenizer: PreTrainedTokenizerBase, seed: int
) -> tuple[Encoded, Int[np.ndarray, " token"]]:
    """Mask 15% of an input's tokens: at least one, never a special one.

    The choice depends on the seed and the input's number alone. An input of special and unknown tokens only stays as
    it is. The class of a masked token is "other": the model cannot see whether a "." or a word is behind the mask.

    Returns: the masked input, and the piece behind each mask, elsewhere `IGNORED`.

    Raises `HeadscopeError` if the tokenizer has no mask.
    """
    if not isinstance(tokenizer.mask_token_id, int):
        raise HeadscopeError("the model's tokenizer has no mask; name a model that was trained to tell masked words")
    ids = encoded.inputs["input_ids"]
    special = np.isin(encoded.token_class, [CLASS["cls"], CLASS["sep"]]) | np.isin(ids, tokenizer.all_special_ids)
    words = np.flatnonzero(~special)
    random = np.random.Generator(np.random.Philox(key=[seed, encoded.index]))
    chosen = random.permutation(words)[: max(1, round(MASKED_SHARE * len(words)))]
    hidden, pieces, token_class = ids.copy(), np.full(len(ids), IGNORED), encoded.token_class.copy()
    hidden[chosen], pieces[chosen], token_class[chosen] = tokenizer.mask_token_id, ids[chosen], CLASS["other"]
    return replace(encoded, inputs=encoded.inputs | {"input_ids": hidden}, token_class=token_class), pieces


def collated(targets: Sequence[Target], device: torch.device) -> Tensor:
    """The targets of a batch for `losses`, from those of its examples; tokens are padded on the right.

    >>> collated([np.array([-100, 7, -100]), np.array([5])], torch.device("cpu"))
    tensor([[-100,    7, -100],
            [   5, -100, -100]])
    """
    if not isinstance(targets[0], np.ndarray):
        return torch.tensor(targets, device=device)
    whole = np.full((len(targets), max(map(np.size, targets))), IGNORED)
    for row, target in zip(whole, targets, strict=True):
        row[: np.size(target)] = target
    return torch.from_numpy(whole).to(device)
