"""Second parts of inputs that [CLS] must tell: next sentences (Devlin et al. 2019), their order (Lan et al. 2020)."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel

from headscope.studies.training.pretrain.blocks import TextBlock
from headscope.training.dataset import MaskedTrainingSet

# How the names of what tells second parts begin.
PAIR_HEAD = "pair_head"
# A block with what may stand in the place of its second part.
Second = Callable[[Sequence[TextBlock], int, np.random.Generator], TextBlock]


def as_it_is(blocks: Sequence[TextBlock], index: int, random: np.random.Generator) -> TextBlock:
    """The block."""
    return blocks[index]


def another_text(blocks: Sequence[TextBlock], index: int, random: np.random.Generator) -> TextBlock:
    """The block with the second part of another one, from another document if there is one."""
    here = blocks[index]
    several = blocks[0].document != blocks[-1].document  # the blocks of a document follow each other
    draws = (blocks[int(random.integers(len(blocks)))] for _ in count())
    other = next(block for block in draws if not several or block.document != here.document)
    return here.followed_by(other.second)


def turned_round(blocks: Sequence[TextBlock], index: int, random: np.random.Generator) -> TextBlock:
    """The block with its second part first."""
    return blocks[index].turned_round


@dataclass
class PairTrainingSet(MaskedTrainingSet):
    """Inputs whose second part may be another one in each epoch, which the state of [CLS] must tell.

    * `blocks`: the text; `seconds`: what may stand in the place of the second part, equally often.
    """

    blocks: Sequence[TextBlock] = ()
    seconds: tuple[Second, ...] = ()

    def __getitem__(self, index: int) -> Any:
        """An input, the pieces under its masks, and the number of what stands in the place of its second part."""
        random = np.random.Generator(np.random.Philox(key=[self.seed, index], counter=[0, 0, 1, self.epoch]))
        number = int(random.integers(len(self.seconds)))
        self.inputs[index] = self.seconds[number](self.blocks, index, random).encoded(index, self.tokenizer)
        return *super().__getitem__(index), number

    def collate(self, group: list[Any], pad: int) -> dict[str, Tensor]:
        """As of masks, with `second`, [example]."""
        second = torch.tensor([number for *_, number in group])
        return super().collate([(encoded, pieces) for encoded, pieces, _ in group], pad) | {"second": second}

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The loss of masked tokens, and that of telling the second parts (Devlin et al. 2019, section 3.1)."""
        states: list[Tensor] = []
        hook = network.base_model.register_forward_hook(lambda module, inputs, output: states.append(output[0]))
        try:
            loss = super().loss(network, {name: tensor for name, tensor in batch.items() if name != "second"})
        finally:
            hook.remove()
        return loss + cross_entropy(getattr(network, head_of(self.seconds))(states[0][:, 0].float()), batch["second"])


def head_of(seconds: Sequence[Second]) -> str:
    """The name of what tells second parts."""
    return "_".join([PAIR_HEAD, *(second.__name__ for second in seconds)])


def add_pair_heads(network: PreTrainedModel, pairs: Sequence[Sequence[Second]]) -> None:
    """Add to a network what tells the second parts of each objective."""
    for seconds in dict.fromkeys(map(tuple, pairs)):
        network.add_module(head_of(seconds), nn.Linear(network.config.hidden_size, len(seconds)))


def without_pair_heads(network: PreTrainedModel) -> PreTrainedModel:
    """A copy of the network without what tells the second parts."""
    copied = deepcopy(network)
    for name in [name for name, _ in copied.named_children() if name.startswith(PAIR_HEAD)]:
        delattr(copied, name)
    return copied
