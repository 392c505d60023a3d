"""One pass over a corpus: shares of importance by class of token, and the faithfulness of a sample of the inputs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.capture.attention_switch import switchable
from headscope.capture.layer_stack import stack
from headscope.encoding.batch import Batch, Values
from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import IGNORED, Masking, masked
from headscope.encoding.word_tokens import readable_ids
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.gradient_importance import frozen
from headscope.passes.accumulators import Buffer, added
from headscope.passes.batches import collator
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult
from headscope.passes.shards import Fold
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.statistics.bootstrap import Tally
from headscope.studies.words.attributions.altered_inputs import (
    MOST_TOKENS,
    AlteredInputs,
    Copies,
    Search,
    altered_input,
)
from headscope.studies.words.attributions.blanking import Blanking, fastest
from headscope.studies.words.attributions.faithfulness import Faithfulness, faithfulness
from headscope.studies.words.attributions.integrated_gradients import start_token
from headscope.studies.words.attributions.maps import residuals
from headscope.studies.words.attributions.methods import FLOW_TOKENS, Explainer, Importance
from headscope.studies.words.attributions.targets import Target

# Inputs of more tokens do not fit on a line of a page.
SHOWN_TOKENS = 24
# Of a scored input; a few short ones have fewer.
PASSES, ALTERED_PASSES = 400, 200
# Steps of the bar for each layer of the model: about as measured, if reading an input is one step.
INTEGRATED_STEPS, SCORED_STEPS, ALTERED_STEPS = 3, 4, 1
# At least one token is masked, and with such a share only one.
ONE_TOKEN = Masking(share=1e-6)


@dataclass(frozen=True)
class Sample:
    """The numbers of the inputs of which more is taken.

    * `scored`: whose importances are scored; `flow`: those of them of which flow is taken.
    * `altered`: whose attention is altered; `by_head`: those of them whose heads are searched one by one.
    """

    scored: frozenset[int]
    flow: frozenset[int]
    altered: frozenset[int] = frozenset()
    by_head: frozenset[int] = frozenset()

    @property
    def steps(self) -> int:
        """Steps of the bar for each layer, beside one for each input of the corpus."""
        return (INTEGRATED_STEPS + SCORED_STEPS) * len(self.scored) + ALTERED_STEPS * len(self.altered)


@dataclass(frozen=True)
class Shown:
    """The importances of one input, to be drawn."""

    index: int
    tokens: list[str]
    importance: Float[np.ndarray, "method layer token"]


@dataclass
class Explained:
    """What a pass gives; the parts of a corpus add up.

    * `tallies`: `importance_share`, `attention_to` and `norm_to`.
    * `rows`: the faithfulness of each scored input; `shown`: short inputs of them.
    * `altered`: what alterations of attention change, of each input of the sample.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    rows: list[Faithfulness] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    altered: list[AlteredInputs] = field(default_factory=list)

    def __add__(self, other: "Explained") -> "Explained":
        """Both parts of the corpus."""
        lists = (self.rows + other.rows, self.shown + other.shown, self.altered + other.altered)
        return Explained(added(self.tallies, other.tallies), *lists)


def drawn(inputs: int, seed: int) -> list[int]:
    """The numbers of the inputs of a corpus in random order, by the seed."""
    return np.random.default_rng(seed).permutation(inputs).tolist()


def sample_of(inputs: int, scored: int, flow: int, seed: int, altered: int = 0, by_head: int = 0) -> Sample:
    """A random sample of the inputs of a corpus, by the seed.

    >>> sample = sample_of(inputs=10, scored=4, flow=2, seed=0)
    >>> len(sample.scored), sample.flow < sample.scored
    (4, True)
    """
    order = drawn(inputs, seed)
    numbers = (scored, min(flow, scored), altered, min(by_head, altered))
    return Sample(*(frozenset(order[:number]) for number in numbers))


@contextmanager
def explainer(model: Model, target: Target, blank: int | None = None, batch_tokens: int = 1024) -> Iterator[Explainer]:
    """The parts of a model that an explanation needs; the model attends switchably within this context.

    * `blank`: the token in the place of blanked ones, if any.

    Raises `HeadscopeError` for a model whose layers are not called one after the other, or whose attention is not
    computed from queries, keys and values alone, and for one that is spread over devices.
    """
    model.refuse_spread("taken apart")
    kind, layers = model.network.config.model_type, stack(model.network, len(model.capture.heads))
    if layers is None or model.capture.method == "softmax tap":
        raise HeadscopeError(f"model type '{kind}': its layers cannot be run one by one; use another model")
    with switchable(model.network), frozen(model.network):
        try:
            parts = (layers, model.projections, residuals(layers, model.projections), target)
            yield Explainer(*parts, start_token(model, blank), batch_tokens)
        except NotImplementedError as error:
            raise HeadscopeError(f"model type '{kind}': {error}; use another model") from error


class ExplainedAccumulator:
    """The explanations of the batches of a shard."""

    def __init__(self, run: Pass, explain: Explainer, blanking: Blanking, sample: Sample, search: Search):
        self.run, self.explain, self.blanking, self.sample, self.search = run, explain, blanking, sample, search
        self.collate, self.explained = collator(run.model), Explained()
        self.buffer = Buffer(run.settings.seed, run.settings.resamples)

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        model, sample, seed = self.run.model, self.sample, self.run.settings.seed
        inputs, positions = _questions(group, model, self.explain.target, seed)
        batch = self.collate(inputs)
        importance = self.explain.explain(batch, positions, *_chosen(batch, sample))
        shares = {"importance_share": importance_shares(batch, importance.tokens)} | _errors(importance)
        self._done(INTEGRATED_STEPS * sum(index in sample.scored for index in batch.index.tolist()))
        scored = list(self._scored(batch, positions, importance))
        self.buffer.add(batch.unit, shares | importance.heads)
        self.explained.rows += scored
        self.explained.altered += self._altered(batch, positions, importance)
        self.explained.shown += _shown(model, batch, importance, sample)

    def _scored(self, batch: Batch, positions: Tensor, importance: Importance) -> Iterator[Faithfulness]:
        settings, candidates = self.run.settings, self.explain.target.blankable(batch, positions)
        for example, index in enumerate(batch.index.tolist()):
            if index not in self.sample.scored:
                continue
            if len(tokens := candidates[example].nonzero()[:, 0]):
                length, reference = int(batch.real[example].sum()), importance.reference[[example]]
                inputs = {name: tensor[example, :length] for name, tensor in batch.inputs.items()}
                scores = partial(self.blanking.scores, inputs, tokens, positions[example], reference)
                token_importance, unit = importance.tokens[example][..., tokens.cpu().numpy()], int(batch.unit[example])
                yield faithfulness(token_importance, scores, index, settings.seed, unit)
            self._done(SCORED_STEPS)

    def _altered(self, batch: Batch, positions: Tensor, importance: Importance) -> Iterator[AlteredInputs]:
        for example, index in enumerate(batch.index.tolist()):
            if index not in self.sample.altered:
                continue
            if (length := int(batch.real[example].sum())) <= MOST_TOKENS:
                inputs = {name: tensor[[example], :length] for name, tensor in batch.inputs.items()}
                explain, reference = self.explain, importance.reference[[example]]
                copies = Copies(self.run.model, explain.stack, explain.target, inputs, positions[example], reference)
                by_head = index in self.sample.by_head
                yield altered_input(copies, self.search, index, int(batch.unit[example]), by_head)
            self._done(ALTERED_STEPS)

    def _done(self, steps: int) -> None:
        """Move the bar by some steps for each layer; a worker has none."""
        if steps and not self.run.settings.in_parts:
            self.run.settings.on_progress(steps * len(self.run.model.capture.heads))

    def state(self) -> Explained:
        """The explanations of all batches so far."""
        return replace(self.explained, tallies=self.buffer.flush())


def explain_corpus(
    run: Pass, target: Target, sample: Sample, blank: int | None, tolerance: float, points: int
) -> PassResult[Explained]:
    """Explain all inputs of a corpus, score those of the sample, and alter their attention.

    * `blank`: the token of blanked ones, if any; `tolerance`: the largest change of an output that is called the same.
    * `points`: the most of a path of integrated gradients.
    """
    search = Search(tolerance, max(run.settings.batch_tokens, 1), run.settings.seed)
    blanking = Blanking(run.model, target, blank, max(run.settings.batch_tokens, 1))
    with explainer(run.model, target, blank, search.batch_tokens) as explain:
        shortcut = fastest(explain.stack, explain.projections, target, blanking.trial)
        blanking = replace(blanking, shortcut=shortcut)
        alone = replace(target, alone=bool(getattr(shortcut, "last", "")))
        explain = replace(explain, target=alone, points=points)
        start = partial(ExplainedAccumulator, run, explain, blanking, sample, search)
        return run.fold(Fold(start, Explained.__add__, Explained)).read()


def _questions(
    group: Sequence[Encoded], model: Model, target: Target, seed: int
) -> tuple[list[Encoded], Int[Tensor, " example"]]:
    """The inputs, and the token of each at which a word is predicted: the one that is masked, or the last."""
    if not target.masks:
        return list(group), torch.tensor([len(encoded) - 1 for encoded in group], device=model.device)
    hidden, pieces = zip(*(masked(encoded, model.tokenizer, seed, ONE_TOKEN) for encoded in group), strict=True)
    # An input of special tokens alone has no mask; its first token is read.
    positions = [int(np.argmax(labels != IGNORED)) for labels in pieces]
    return list(hidden), torch.tensor(positions, device=model.device)


def _chosen(batch: Batch, sample: Sample) -> tuple[Bool[Tensor, " example"], Bool[Tensor, " example"]]:
    """Masks of the examples that are scored, and of those of which flow is taken."""
    scored, flow = (
        torch.tensor([index in numbers for index in batch.index.tolist()], device=batch.real.device)
        for numbers in (sample.scored, sample.flow)
    )
    return scored, flow & (batch.lengths <= FLOW_TOKENS)


def importance_shares(batch: Batch, tokens: Float[np.ndarray, "example method layer token"]) -> Values:
    """The share of the sizes of all importances of an input that tokens of each class have."""
    members = batch.token_class.cpu().numpy()[:, None] == np.arange(len(TOKEN_CLASSES))[:, None]
    sizes = np.abs(tokens)
    total = sizes.sum(-1)  # [example, method, layer]
    shares = np.einsum("emlt,ect->emlc", sizes, members.astype(float))
    valid = np.isfinite(total) & (total > 0)
    shares = np.divide(shares, total[..., None], out=np.zeros_like(shares), where=valid[..., None])
    exists = batch.class_exists.cpu().numpy()
    # [example, 1, method, layer, token_class]
    return Values(torch.from_numpy(shares[:, None]), torch.from_numpy(valid[..., None] & exists))


def _errors(importance: Importance) -> dict[str, Values]:
    """The errors of integrated gradients, in the place of heads."""
    errors = torch.from_numpy(importance.errors)
    return {"completeness_error": Values(errors.nan_to_num()[:, None], errors.isfinite())}


def _shown(model: Model, batch: Batch, importance: Importance, sample: Sample) -> Iterator[Shown]:
    for example, index in enumerate(batch.index.tolist()):
        length = int(batch.real[example].sum())
        if index in sample.scored and length <= SHOWN_TOKENS:
            ids = batch.inputs["input_ids"][example, :length].tolist()
            tokens = readable_ids(model.tokenizer, ids)
            yield Shown(index, list(tokens), importance.tokens[example][..., :length])
