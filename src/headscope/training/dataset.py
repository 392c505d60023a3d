"""Training inputs with labels or with masked words, in batches of similar length."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedTokenizerBase

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.choices import by_choice
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.encoding.masking import IGNORED, Choose, Masking, masked, next_pieces, single_tokens
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.prediction_heads import is_causal, refuse_without_words_head
from headscope.outputs.losses import collated
from headscope.outputs.outputs import masked_logits
from headscope.outputs.passages import passage_inputs
from headscope.outputs.task_inputs import encode_for_task, refuse_unfit

# How words are masked in training (Devlin et al. 2019).
DEVLIN = Masking(share=0.15, mask=0.8, random=0.1)
# Lengths are sorted within random pools of this many batches.
POOL = 50
# Lengths of batches with masked words, and their numbers of masked words, are padded to a multiple of these.
LENGTHS, MASKS = 16, 64


class TrainingInputs(Protocol):
    """Inputs with their targets, and the loss of a batch of them."""

    @property
    def inputs(self) -> list[Encoded]:
        """The inputs; the batches are made by their lengths."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Any: ...

    def collate(self, group: list[Any], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of `loss`; `pad` is the id of the padding token."""
        ...

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The mean loss of a batch."""
        ...


@dataclass(frozen=True)
class TrainingSet:
    """Inputs with class numbers, or with scores (`regression`)."""

    inputs: list[Encoded]
    targets: Float[np.ndarray, " example"]
    regression: bool

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[Encoded, float]:
        return self.inputs[index], float(self.targets[index])

    def collate(self, group: list[tuple[Encoded, float]], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of the network, each [example, token], and `labels`, [example]."""
        targets = torch.tensor([target for _, target in group])
        return padded([encoded for encoded, _ in group], pad) | {
            "labels": targets.float() if self.regression else targets.long()
        }

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The network's own loss for its kind of task."""
        return network(**batch).loss


@dataclass(frozen=True)
class SpanSet:
    """Questions with their passages, and the first and the last token of the answer of each."""

    inputs: list[Encoded]
    targets: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[Encoded, tuple[int, int]]:
        return self.inputs[index], self.targets[index]

    def collate(self, group: list[tuple[Encoded, tuple[int, int]]], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of the network, each [example, token], and its two targets, [example]."""
        starts, ends = torch.tensor([target for _, target in group]).T
        return padded([encoded for encoded, _ in group], pad) | {"start_positions": starts, "end_positions": ends}

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The network's own loss: the mean cross entropy of first and last token, in nats."""
        return network(**batch).loss


@dataclass(frozen=True)
class ChoiceSet:
    """Examples with an input for each choice, and the number of the right one; one output scores an input."""

    choices: list[list[Encoded]]
    targets: Float[np.ndarray, " example"]

    @property
    def inputs(self) -> list[Encoded]:
        """The longest input of each example."""
        return [max(group, key=len) for group in self.choices]

    def __len__(self) -> int:
        return len(self.choices)

    def __getitem__(self, index: int) -> tuple[list[Encoded], float]:
        return self.choices[index], float(self.targets[index])

    def collate(self, group: list[tuple[list[Encoded], float]], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of the network, each [input, token], `labels` and `choices`, [example]."""
        labels = torch.tensor([target for _, target in group]).long()
        choices = torch.tensor([len(inputs) for inputs, _ in group])
        return padded([encoded for inputs, _ in group for encoded in inputs], pad) | {
            "labels": labels,
            "choices": choices,
        }

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The mean over examples of the cross entropy of a softmax over their choices, in nats."""
        inputs = {name: tensor for name, tensor in batch.items() if name not in ("labels", "choices")}
        scores = network(**inputs).logits[:, 0].float().split(batch["choices"].tolist())
        filled = nn.utils.rnn.pad_sequence(list(scores), batch_first=True, padding_value=float("-inf"))
        return functional.cross_entropy(filled, batch["labels"])


@dataclass
class MaskedTrainingSet:
    """Inputs whose masked tokens are chosen again in each epoch, by the seed and the number of the input.

    * `causal`: nothing is masked, and the next words are predicted.
    * `choose`: which tokens are masked together; `static`: the masks of the first epoch stay.

    Batches have few shapes: in bfloat16 on a processor, each shape of a product keeps some megabytes of memory.
    """

    inputs: list[Encoded]
    tokenizer: PreTrainedTokenizerBase
    masking: Masking
    seed: int
    causal: bool = False
    choose: Choose = single_tokens
    static: bool = False
    epoch: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._longest = max(map(len, self.inputs))

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next masks, from 0."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[Encoded, Int[np.ndarray, " token"]]:
        encoded = self.inputs[index]
        if self.causal:
            return encoded, next_pieces(encoded, self.tokenizer)
        epoch = 0 if self.static else self.epoch
        return masked(encoded, self.tokenizer, self.seed, self.masking, epoch=epoch, choose=self.choose)

    def collate(self, group: list[tuple[Encoded, Int[np.ndarray, " token"]]], pad: int) -> dict[str, Tensor]:
        """Padded keyword arguments of the network, and `labels`, the predicted pieces, each [example, token]."""
        labels = collated([pieces for _, pieces in group], torch.device("cpu"))
        width = min(-(-labels.shape[1] // LENGTHS) * LENGTHS, self._longest)
        labels = functional.pad(labels, (0, width - labels.shape[1]), value=IGNORED)
        return padded([encoded for encoded, _ in group], pad, width) | {"labels": labels}

    def loss(self, network: Any, batch: dict[str, Tensor]) -> Tensor:
        """The mean cross entropy of the predicted pieces, in nats."""
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        logits, pieces = masked_logits(network, inputs, batch["labels"], multiple=MASKS)
        return functional.cross_entropy(logits.float(), pieces, ignore_index=IGNORED)


def training_set(model: Model, task: Task, max_tokens: int, seed: int = 0) -> tuple[TrainingInputs, int]:
    """The training inputs of a task, and how many examples were shortened; of words long texts are read in windows.

    * `seed`: of masks.

    Raises `HeadscopeError` for a task without a train split, or examples that cannot be shortened.
    """
    corpus = task.training()
    if task.kind == "words":
        refuse_without_words_head(model)
        inputs = list(Words(model.tokenizer, min(max_tokens, model.max_tokens), "window").encode(corpus))
        return MaskedTrainingSet(inputs, model.tokenizer, DEVLIN, seed, is_causal(model)), 0
    if task.kind == "span":
        return _span_set(model, corpus, max_tokens)
    if task.kind == "choice":
        pairs, numbers = by_choice(corpus)
        inputs, cut = encode_for_task(model, pairs, max_tokens)
        ends = np.flatnonzero(np.diff(numbers, append=-1)) + 1
        choices = [inputs[start:end] for start, end in pairwise([0, *ends.tolist()])]
        return ChoiceSet(choices, task.targets(corpus)), cut.total()
    inputs, cut = encode_for_task(model, corpus, max_tokens)
    return TrainingSet(inputs, task.targets(corpus), task.kind == "regression"), cut.total()


def _span_set(model: Model, corpus: Corpus, max_tokens: int) -> tuple[SpanSet, int]:
    """The questions whose answer is not cut off, and the number of those that were shortened, with all others."""
    inputs, passages, words = passage_inputs(model, corpus, min(max_tokens, model.max_tokens))
    refuse_unfit(corpus, len(inputs), words)
    kept = [(encoded, target) for encoded, passage in zip(inputs, passages, strict=True) if (target := passage.target)]
    if not kept:
        raise HeadscopeError(f"corpus '{corpus.name}': no answer is within {max_tokens} tokens; raise --max-tokens")
    return SpanSet([encoded for encoded, _ in kept], [target for _, target in kept]), words.counts["truncated"]


class LengthGrouped:
    """Example indices of each batch: similar lengths, and a new seeded order in each epoch."""

    def __init__(self, lengths: list[int], batch: int, seed: int):
        self.lengths, self.batch, self.seed = np.array(lengths), batch, seed
        self.batch_size, self.drop_last, self.sampler = batch, False, None  # accelerate asks for these
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next batches, from 0."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch)

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng([self.seed, self.epoch])
        order = random.permutation(len(self.lengths))
        pools = np.split(order, range(POOL * self.batch, len(order), POOL * self.batch))
        ordered = np.concatenate([pool[np.argsort(self.lengths[pool], kind="stable")] for pool in pools])
        batches = np.split(ordered, range(self.batch, len(ordered), self.batch))
        return (batches[number].tolist() for number in random.permutation(len(batches)))


def padded(group: list[Encoded], pad: int, width: int = 0) -> dict[str, Tensor]:
    """Keyword arguments of the network, each [example, token], padded to the longest input, or to `width` tokens."""
    lengths = [len(encoded) for encoded in group]
    real = np.arange(max(width, *lengths)) < np.array(lengths)[:, None]
    inputs = {"attention_mask": torch.from_numpy(real.astype(np.int64))}
    for name in group[0].inputs:
        rows = np.full(real.shape, pad if name == "input_ids" else 0)
        rows[real] = np.concatenate([encoded.inputs[name] for encoded in group])
        inputs[name] = torch.from_numpy(rows)
    return inputs
