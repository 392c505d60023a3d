"""What a model is asked about each example, and the loss of its answer."""

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

# Of the tokens of an input, special ones aside, this share is behind a mask (Devlin et al. 2019).
MASKED_SHARE = 0.15
# What torch's cross entropy leaves out.
NOT_ASKED = -100

Answer = float | Int[np.ndarray, " token"]


def losses(kind: TaskKind, logits: Float[Tensor, "example ..."], targets: Tensor) -> Float[Tensor, " example"]:
    """The loss of each example: in nats, or of a regression the squared difference.

    * `targets`: the class or the score of each example, [example]; where words are asked for, the piece behind
      each mask and elsewhere `NOT_ASKED`, [example, token]: their losses are summed.

    >>> losses("classification", torch.zeros(2, 3), torch.tensor([0, 2]))
    tensor([1.0986, 1.0986])
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if kind == "regression":
        return (logits.reshape(len(logits), -1)[:, 0] - targets).square()
    if kind == "classification":
        return cross_entropy(logits, targets.long(), reduction="none")
    return cross_entropy(logits.mT, targets, ignore_index=NOT_ASKED, reduction="none").sum(-1)


def masked(
    encoded: Encoded, tokenizer: PreTrainedTokenizerBase, seed: int
) -> tuple[Encoded, Int[np.ndarray, " token"]]:
    """The input with 15% of its tokens replaced by the mask, and the piece that was there, elsewhere `NOT_ASKED`.

    At least one token, never a special one; which ones depends on the seed and the input's number alone.
    An input of special and unknown tokens only stays as it is.

    Raises `HeadscopeError` if the tokenizer has no mask.
    """
    if not isinstance(tokenizer.mask_token_id, int):
        raise HeadscopeError("the model's tokenizer has no mask; name a model that was trained to tell masked words")
    ids = encoded.inputs["input_ids"]
    special = np.isin(encoded.token_class, [CLASS["cls"], CLASS["sep"]]) | np.isin(ids, tokenizer.all_special_ids)
    words = np.flatnonzero(~special)
    random = np.random.Generator(np.random.Philox(key=[seed, encoded.index]))
    chosen = random.permutation(words)[: max(1, round(MASKED_SHARE * len(words)))]
    hidden, answers = ids.copy(), np.full(len(ids), NOT_ASKED)
    hidden[chosen], answers[chosen] = tokenizer.mask_token_id, ids[chosen]
    return replace(encoded, inputs=encoded.inputs | {"input_ids": hidden}), answers


def collated(answers: Sequence[Answer], device: torch.device) -> Tensor:
    """The targets of a batch as `losses` wants them, from those of its examples; tokens are padded on the right.

    >>> collated([np.array([-100, 7, -100]), np.array([5])], torch.device("cpu"))
    tensor([[-100,    7, -100],
            [   5, -100, -100]])
    """
    if not isinstance(answers[0], np.ndarray):
        return torch.tensor(answers, device=device)
    whole = np.full((len(answers), max(map(np.size, answers))), NOT_ASKED)
    for row, answer in zip(whole, answers, strict=True):
        row[: np.size(answer)] = answer
    return torch.from_numpy(whole).to(device)
