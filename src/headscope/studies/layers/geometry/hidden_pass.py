"""One pass over a corpus: samples of hidden states, and averages over the tokens of each input."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.corpora import Corpus
from headscope.encoding.batch import Batch, Values
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes import Settings
from headscope.passes.accumulators import Buffer, Tallies, added
from headscope.passes.forward import Forward
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult, PlannedPass
from headscope.passes.shards import Fold
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.statistics.bootstrap import Tally
from headscope.studies.layers.geometry.samples import Occurrences, RandomSample, RepeatedSample, keys

CLS, SEP = TOKEN_CLASSES.index("cls"), TOKEN_CLASSES.index("sep")
Spaces = Float[Tensor, "space example token width"]


@dataclass(frozen=True)
class Hidden:
    """What is kept of the hidden states of a corpus; special tokens are left out, but for `cls`.

    * `words`: a random sample of tokens; `cls`: of [CLS]; `repeated`: tokens with their occurrences.
    * `tallies`: by name, means over inputs of `intra_sentence` similarity and of `norm`, by space.
    """

    words: Occurrences | None
    cls: Occurrences | None
    repeated: Occurrences | None
    tallies: Mapping[str, Tally]


@dataclass(frozen=True)
class HiddenState:
    """Samples of the hidden states of some shards, and their tallies."""

    words: RandomSample
    cls: RandomSample
    repeated: RepeatedSample
    tallies: Tallies

    def __add__(self, other: "HiddenState") -> "HiddenState":
        """The samples and tallies of both parts of a corpus."""
        return HiddenState(
            self.words + other.words,
            self.cls + other.cls,
            self.repeated + other.repeated,
            added(self.tallies, other.tallies),
        )


Sample = TypeVar("Sample", RandomSample, RepeatedSample)


@dataclass
class Growing(Generic[Sample]):
    """The sample of a corpus being read; new rows wait until they are as many as its bound."""

    sample: Sample
    pending: list[Occurrences] = field(default_factory=list)

    def offer(self, batch: Batch, states: Spaces, among: Bool[Tensor, "example token"], seed: int) -> None:
        """Offer some tokens of a batch; vectors are moved only of those that may stay."""
        example, position = torch.nonzero(among, as_tuple=True)
        token = batch.inputs["input_ids"][example, position].cpu().numpy()
        key = keys(seed, batch.index.numpy()[example.cpu().numpy()], position.cpu().numpy())
        wanted = torch.from_numpy(self.sample.wanted(key, token)).to(example.device)
        if len(wanted):
            self.pending.append(occurrences(batch, states, example[wanted], position[wanted], seed))
        if sum(map(len, self.pending)) >= self.sample.bound:
            self.merge()

    def merge(self) -> Sample:
        """The sample, with all that was offered."""
        if self.pending:
            parts = [rows for rows in (self.sample.rows, *self.pending) if rows is not None]
            rows = Occurrences.concatenate(parts)
            self.sample = replace(self.sample, rows=None) + replace(self.sample, rows=rows)
        self.pending = []
        return self.sample


class HiddenAccumulator:
    """The hidden states of the batches of a shard."""

    def __init__(self, forward: Forward[Any], settings: Settings, words: int, repeated: int):
        self.forward, self.seed = forward, settings.seed
        self.buffer = Buffer(settings.seed, settings.resamples)
        self.words, self.cls = Growing(RandomSample(words)), Growing(RandomSample(words))
        self.repeated = Growing(RepeatedSample(repeated, settings.seed))

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        batch, states = self.forward.states(group)
        states = states.float()
        among, is_cls = is_word(batch), batch.token_class == CLS
        self.buffer.add(batch.unit, averages(states, among))
        for sample, tokens in ((self.words, among), (self.cls, is_cls), (self.repeated, among)):
            sample.offer(batch, states, tokens, self.seed)

    def state(self) -> HiddenState:
        """The samples and tallies of all batches so far."""
        return HiddenState(self.words.merge(), self.cls.merge(), self.repeated.merge(), self.buffer.flush())


def hidden_pass(
    model: Model, corpus: Corpus, settings: Settings, words: int, repeated: int
) -> PlannedPass[HiddenState]:
    """The pass over a corpus; memory is bounded by `words` random tokens, as many of [CLS], and `repeated` others."""
    forward = Forward[Any](model)
    start = partial(HiddenAccumulator, forward, settings, words, repeated)
    return Pass(model, corpus, settings).fold(Fold(start, HiddenState.__add__, HiddenState, forward=forward))


def read_hidden(planned: PlannedPass[HiddenState]) -> PassResult[Hidden]:
    """Read the corpus of `hidden_pass`."""
    with torch.inference_mode():
        result = planned.read()
    state = result.value
    hidden = Hidden(state.words.rows, state.cls.rows, state.repeated.rows, state.tallies)
    return PassResult(hidden, result.coverage, result.attributes)


def is_word(batch: Batch) -> Bool[Tensor, "example token"]:
    """Mask of the tokens that are neither padding nor [CLS] nor [SEP]."""
    return batch.real & (batch.token_class != CLS) & (batch.token_class != SEP)


def averages(states: Spaces, among: Bool[Tensor, "example token"]) -> dict[str, Values]:
    """Means over the tokens of each input: the cosine with the mean of its tokens (`intra_sentence`), and the norm."""
    weights = among / among.sum(-1, keepdim=True).clamp_min(1)  # [example, token]
    norm = torch.linalg.vector_norm(states, dim=-1)
    mean = torch.einsum("et,setw->sew", weights, states)
    dots = torch.einsum("setw,sew->set", states, mean)
    length = torch.linalg.vector_norm(mean, dim=-1)[..., None]
    cosine = dots / (norm * length).clamp_min(torch.finfo(torch.float32).tiny)
    valid = among.any(-1)
    means = {"intra_sentence": cosine, "norm": norm}
    return {name: Values(torch.einsum("et,set->es", weights, mean), valid) for name, mean in means.items()}


def occurrences(batch: Batch, states: Spaces, example: Tensor, position: Tensor, seed: int) -> Occurrences:
    """The rows of tokens of a batch, in half precision."""
    vectors = states[:, example, position]
    segment = batch.inputs.get("token_type_ids", torch.zeros_like(batch.inputs["input_ids"]))
    norm = torch.linalg.vector_norm(vectors, dim=-1)
    unit = vectors / norm[..., None].clamp_min(torch.finfo(torch.float32).tiny)
    row, at = example.cpu().numpy(), position.cpu().numpy()
    input = batch.index.numpy()[row]
    return Occurrences(
        keys(seed, input, at),
        input,
        batch.unit.numpy()[row],
        at,
        segment[example, position].cpu().numpy(),
        (segment > 0).any(-1)[example].cpu().numpy(),
        batch.inputs["input_ids"][example, position].cpu().numpy(),
        unit.transpose(0, 1).to(torch.float16).cpu().numpy(),  # [occurrence, space, width]
        norm.T.cpu().numpy(),  # [occurrence, space]
    )
