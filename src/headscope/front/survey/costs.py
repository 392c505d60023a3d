"""What the studies of a survey will take: an estimate, from the shape of the model and the length of the texts.

It is made before anything runs, without torch: what each study declares, as measured with the built-in model on one
core of a processor, scaled by the shape of the model. Another processor is faster or slower as a whole.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from headscope.front.survey.plan import PlannedStudy, in_survey, shares
from headscope.study import FORWARD, Cost

if TYPE_CHECKING:
    from headscope.models.checkpoint import Checkpoint

# Names of the shape of a model in its configuration.
LAYERS, HEADS, WIDTH, INNER, PIECES = (
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    ("hidden_size", "n_embd", "dim", "d_model"),
    ("intermediate_size", "n_inner", "hidden_dim", "d_ff", "ffn_dim"),
    ("vocab_size",),
)
# Names in the configuration of a model that runs stored weights several times, or not at all.
UNCOUNTED = ("num_hidden_groups", "is_encoder_decoder")
# How the classes of models end that predict the next word, and masked ones.
NEXT, MASKED = ("ForCausalLM", "LMHeadModel"), ("ForMaskedLM", "ForPreTraining")
# MiB of the libraries, and of the maps and states of a batch beside the model.
LIBRARIES, BATCH = 455, 200
# MiB of a piece in a tokenizer; the most words of a batch that are predicted together.
PIECE, PREDICTED = 0.0013, 512
ARRAYS = 4_000  # MiB of what probes read; the rest is on disk
# Scored inputs take as much as fits into two minutes, in a larger model ten, unless all are asked for:
# `attributions.sample_sizes`.
LEAST_SCORED, SCORED_SHARE = 2, 2 / 3
SETS_OF_TOKEN, SETS, TOKENS_OF_PASSES, LONGEST = 20, 700, 260_000, 5
INTEGRATED = 350  # of a decoder's integrated gradients, in sets of blanked tokens
ALTERED, BY_HEAD = 200, 800  # passes of an input whose attention is altered, and of one whose heads are searched


@dataclass(frozen=True)
class ModelShape:
    """The number of layers, of heads in a layer, the width of states, that of the layer between, and the pieces.

    * `predicts`: next or masked words, if any.
    * `stored`: the weights of all layers, and of all embeddings, where they were counted.

    >>> ModelShape(6, 12, 384, 1536).size
    1.0
    """

    layers: int
    heads: int
    width: int
    inner: int
    pieces: int = 30_522
    predicts: Literal["", "next", "masked"] = ""
    stored: tuple[int, int] = (0, 0)

    @property
    def weights(self) -> int:
        """The number of weights of all layers."""
        return self.stored[0] or self.layers * (4 * self.width**2 + 2 * self.width * self.inner)

    @property
    def mib(self) -> float:
        """MiB of the weights of all layers and of the embeddings, of four bytes."""
        return (self.weights + (self.stored[1] or self.pieces * self.width)) * 4 / 2**20

    @property
    def size(self) -> float:
        """The weights of all layers, as a multiple of those of the built-in model."""
        return self.weights / BUILT_IN.weights

    @property
    def word_size(self) -> float:
        """The weights that predict a word, as that multiple; 0 for a model that predicts none."""
        return self.pieces * self.width / BUILT_IN.weights if self.predicts else 0.0

    @property
    def passes_without_heads(self) -> float:
        """Full passes that read a token: whole, for means of heads, and without each head and each layer.

        Of the passes without a head only its layer and those after it are run.

        >>> ModelShape(2, 4, 24, 96).passes_without_heads
        9.5
        """
        return 2 + (self.heads + 1) * (self.layers + 1) / 2

    @property
    def predictions_without_heads(self) -> int:
        """How often each of these passes predicts the word after a token.

        >>> ModelShape(2, 4, 24, 96).predictions_without_heads
        12
        """
        return 2 + (self.heads + 1) * self.layers

    @property
    def swept_size(self) -> float:
        """The cost of a token in such passes, as a multiple of one of the built-in model; half of them predict."""
        return self.passes_without_heads * self.size + self.predictions_without_heads * self.word_size / 2


BUILT_IN = ModelShape(6, 12, 384, 1536)


READING = "one pass"  # of all studies that share it


@dataclass(frozen=True)
class StudyEstimate:
    """What a study will take: fixed seconds, seconds for each example, and MiB.

    * `per_sampled`: seconds for each of the `most` examples of which it takes no more; `sample`: these in words.

    >>> StudyEstimate("all", 1.0, 0.5, 100).of(10), StudyEstimate("some", 1.0, 0.0, 100, 0.5, 4).of(10)
    (6.0, 3.0)
    """

    study: str
    fixed: float
    per_example: float
    memory: int
    per_sampled: float = 0.0
    most: int = 0
    sample: str = ""

    def of(self, examples: int) -> float:
        """Seconds for this many examples."""
        return self.fixed + self.per_example * examples + self.per_sampled * min(examples, self.most)


def shape_of(config: Mapping[str, Any], weights: Iterable[Sequence[int]] = ()) -> ModelShape:
    """The shape of a model, from its configuration; of one that does not say it, that of the built-in model.

    * `weights`: shapes of all of its weights, which are counted; those with a row for each piece are embeddings.

    >>> shape_of({"n_layer": 12, "n_head": 12, "n_embd": 768}).weights
    84934656
    >>> shape_of({"vocab_size": 9}, [(9, 4), (4, 4), (4,)]).stored
    (20, 36)
    """

    def stated(names: Iterable[str], otherwise: int) -> int:
        return next((int(config[name]) for name in names if config.get(name)), otherwise)

    width, pieces = stated(WIDTH, BUILT_IN.width), stated(PIECES, BUILT_IN.pieces)
    heads = stated(HEADS, BUILT_IN.heads)
    stored = Counter[bool]()
    for sizes in () if any(config.get(name) for name in UNCOUNTED) else weights:
        stored[tuple(sizes[:1]) == (pieces,)] += prod(sizes)
    name = str((config.get("architectures") or [""])[0])
    predicts = "next" if name.endswith(NEXT) else "masked" if name.endswith(MASKED) else ""
    layers, inner = stated(LAYERS, BUILT_IN.layers), stated(INNER, 4 * width)
    return ModelShape(layers, heads, width, inner, pieces, predicts, (stored[False], stored[True]))


def checkpoint_shape(checkpoint: "Checkpoint") -> ModelShape:
    """The shape of a model that is not loaded for this."""
    return shape_of(checkpoint.config, [weight.shape for weight in checkpoint.stored().values()])


def loaded_shape(model: Any) -> ModelShape:
    """The shape of a loaded model (`headscope.Model`)."""
    config = model.network.config.to_dict() | {"architectures": [type(model.network).__name__]}
    return shape_of(config, [weight.shape for weight in model.network.parameters()])


def estimates(
    plans: Iterable[PlannedStudy], shape: ModelShape, workers: int = 1, *, full: bool = False
) -> list[StudyEstimate]:
    """What each study of a plan that runs will take, and before them the pass that some of them share."""
    runs = [plan for plan in plans if not plan.lacks]
    costs = {plan.study: in_survey(plan.study).cost for plan in runs}
    sharing = [plan for plan in runs if shares(plan.study)]
    first = []
    if len(sharing) > 1:
        together = Cost(2, sum(costs[plan.study].own for plan in sharing) / 2, fixed=3)
        first = [_estimate(replace(sharing[0], study=READING), shape, together, workers, full)]
        costs |= {name: replace(cost, passes=cost.passes - shares(name)) for name, cost in costs.items()}
    return [*first, *(_estimate(plan, shape, costs[plan.study], workers, full) for plan in runs)]


def _estimate(plan: PlannedStudy, shape: ModelShape, cost: Cost, workers: int, full: bool) -> StudyEstimate:
    examples = sum(corpus.n_examples for corpus in plan.corpora) or 1
    tokens = sum(corpus.tokens for corpus in plan.corpora) / examples
    heads = shape.layers * shape.heads / (BUILT_IN.layers * BUILT_IN.heads)
    seconds = cost.passes * (FORWARD * shape.size + cost.own * heads) + FORWARD * cost.words * shape.word_size
    seconds = seconds / workers + cost.after * heads
    most = cost.most if cost.most and not full else examples
    memory = LIBRARIES + BATCH * heads + shape.mib * (1 + cost.untrained)
    memory += PIECE * max(0, shape.pieces - BUILT_IN.pieces)
    if shape.predicts and (cost.words or cost.swept or cost.scored):
        memory += PREDICTED * shape.pieces * 4 / 2**20
    memory += min(ARRAYS, cost.cells * heads * tokens * min(most, examples) / 1000)
    inputs = cost.tokens * shape.size + (cost.swept * shape.swept_size if shape.predicts == "next" else 0)
    fixed = cost.fixed + cost.complete * full + FORWARD * inputs / 1000
    estimate = StudyEstimate(plan.study, fixed, tokens * seconds / 1000, round(memory))
    if cost.scored:
        work = shape.size * shape.layers / BUILT_IN.layers
        sets = min(SETS_OF_TOKEN * tokens, SETS) + INTEGRATED * (shape.predicts == "next")
        return _with_scored(estimate, tokens, sets, work, FORWARD * work / workers, cost.scored, full)
    if most < examples:
        words = f"{most:,} of them; all with --full"
        return replace(estimate, per_example=0.0, per_sampled=estimate.per_example, most=most, sample=words)
    return estimate


def _with_scored(
    estimate: StudyEstimate, tokens: float, sets: float, work: float, forward: float, scored: int, full: bool
) -> StudyEstimate:
    """Add the passes over scored inputs, with tokens blanked, and over as many with altered attention.

    * `sets`: passes of a scored input; `work`: of them, as a multiple of that in the built-in model.
    * `forward`: seconds for 1,000 tokens of them.
    """
    together = TOKENS_OF_PASSES * min(1, LONGEST / work)
    blanked = max(1.0, tokens * sets)
    left = together - min(scored * ALTERED * tokens, together * (1 - SCORED_SHARE))
    quick = min(scored, max(LEAST_SCORED, int(left / blanked)))
    words = f"{quick} are scored; {scored} with --full" if quick < scored and not full else ""
    most, total = scored if full else quick, scored * (blanked + (ALTERED + BY_HEAD) * tokens)
    passes = total if full else min(total, max(together, LEAST_SCORED * blanked))
    return replace(estimate, per_sampled=passes / most * forward / 1000, most=most, sample=words)


def rows(plans: Sequence[PlannedStudy], expected: Sequence[StudyEstimate], examples: int) -> list[dict[str, Any]]:
    """The shared reading, then the studies of a plan; those that have no estimate have no `seconds`."""
    studies = {plan.study for plan in plans}
    shared = [
        _row(estimate.study, estimate, examples, "for all studies that can share it")
        for estimate in expected
        if estimate.study not in studies
    ]
    by_study = {estimate.study: estimate for estimate in expected}
    return shared + [_row(plan.study, by_study.get(plan.study), examples, plan.reads) for plan in plans]


def examples_of(plans: Sequence[PlannedStudy]) -> int:
    """The number of examples of the largest corpus of a plan."""
    return max([corpus.n_examples for plan in plans for corpus in plan.corpora], default=1)


def _row(study: str, cost: StudyEstimate | None, examples: int, reads: str) -> dict[str, Any]:
    row: dict[str, Any] = {"study": study, "runs": cost is not None, "reads": reads}
    if cost is None:
        return row
    if cost.sample and cost.most < examples:
        row["reads"] += f"; {cost.sample}"
    return row | {"seconds": round(cost.of(examples)), "mib": cost.memory}
