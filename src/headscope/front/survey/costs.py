"""What the studies of a survey will take: an estimate, from the shape of the model and the length of the texts.

It is made before anything runs, without torch: a table of what was measured with the built-in model on one core of a
processor, scaled by the shape of the model. Another processor is faster or slower as a whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from headscope.front.survey.plan import PlannedStudy

# Seconds of a forward pass of the built-in model over 1,000 tokens, and its shape.
FORWARD = 0.32
LAYERS, HEADS, WIDTH, INNER = (
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    ("hidden_size", "n_embd", "dim", "d_model"),
    ("intermediate_size", "n_inner", "hidden_dim", "d_ff", "ffn_dim"),
)
# MiB of the libraries, and of the maps and states of a batch beside the model.
LIBRARIES, BATCH = 500, 200
ARRAYS = 4_000  # MiB of what probes read; the rest is on disk
# What studies take of many examples unless all are asked for: `passes.captured_treebanks`, `layers.study`,
# `attributions.sample_sizes`.
SENTENCES, OF_LAYERS = 1_600, 770  # that parsers and probes, and classifiers of layers, are trained and tested on
SCORED, LEAST_SCORED, SCORED_SHARE = 50, 2, 2 / 3
SETS_OF_TOKEN, SETS, TOKENS_OF_PASSES = 20, 700, 260_000
ALTERED, BY_HEAD = 200, 800  # passes of an input whose attention is altered, and of one whose heads are searched


@dataclass(frozen=True)
class ModelShape:
    """The number of layers, of heads in a layer, the width of states, and that of the layer between.

    >>> ModelShape(6, 12, 384, 1536).size
    1.0
    """

    layers: int
    heads: int
    width: int
    inner: int

    @property
    def weights(self) -> int:
        """The number of weights of all layers."""
        return self.layers * (4 * self.width**2 + 2 * self.width * self.inner)

    @property
    def size(self) -> float:
        """The weights of all layers, as a multiple of those of the built-in model."""
        return self.weights / ModelShape(6, 12, 384, 1536).weights if self != BUILT_IN else 1.0


BUILT_IN = ModelShape(6, 12, 384, 1536)


@dataclass(frozen=True)
class StudyCost:
    """What a study takes with the built-in model, in seconds for 1,000 tokens.

    * `passes`: forward passes over its texts; `own`: further seconds of each; `after`: seconds after them.
    * `fixed`: seconds, whatever the texts; `complete`: further ones with `--full`; `cells`: MiB for 1,000 tokens.
    * `shared`: whether its first pass is that of other studies, too.
    * `most`: sentences that it takes unless all are asked for; 0 for all.
    """

    passes: float
    own: float
    after: float = 0.0
    fixed: float = 1.0
    complete: float = 0.0
    cells: float = 0.0
    shared: bool = True
    most: int = 0


COSTS: Mapping[str, StudyCost] = {
    "profile": StudyCost(1, 0.03),
    "patterns": StudyCost(1, 0.9, fixed=2),
    "syntax": StudyCost(1, 0.05, 0.1),
    "relations": StudyCost(4, 0.08, 0.1),
    "coreference": StudyCost(1, 0.05, 0.1, shared=False),
    "clusters": StudyCost(1, 0.15, 0.1),
    "induction": StudyCost(2, 0.3, fixed=2, complete=22, shared=False),
    "geometry": StudyCost(1, 0.13, 0.3),
    "gradients": StudyCost(3, 0.05, shared=False),
    "trees": StudyCost(4, 0.55),
    "structure": StudyCost(4, 0.09, 1, cells=8, most=SENTENCES),
    "layers": StudyCost(22, 0.2, 13, cells=40, shared=False, most=OF_LAYERS),
    "probe": StudyCost(4, 0.05, 8, cells=4, most=SENTENCES),
    "attributions": StudyCost(10, 0, shared=False),
    "ablate": StudyCost(100, 0, shared=False),
    "prune": StudyCost(150, 0, shared=False),
}
# Studies that read a corpus by a forward pass that others can share.
SHARING = tuple(study for study, cost in COSTS.items() if cost.shared)
READING = "one pass"  # of all studies that share it


@dataclass(frozen=True)
class StudyEstimate:
    """What a study will take: seconds, whatever the texts and for each example, and MiB.

    * `per_sampled`: seconds for each of the `most` examples of which it takes no more; `sample`: these in words.

    >>> StudyEstimate("profile", 1.0, 0.5, 100).of(10), StudyEstimate("probe", 1.0, 0.0, 100, 0.5, 4).of(10)
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
        """Seconds for so many examples."""
        return self.fixed + self.per_example * examples + self.per_sampled * min(examples, self.most)


def shape_of(config: Mapping[str, Any]) -> ModelShape:
    """The shape of a model, from its configuration; of one that does not say it, that of the built-in model.

    >>> shape_of({"n_layer": 12, "n_head": 12, "n_embd": 768}).weights
    84934656
    """
    layers, heads, width = (
        next((int(config[name]) for name in names if config.get(name)), least)
        for names, least in ((LAYERS, BUILT_IN.layers), (HEADS, BUILT_IN.heads), (WIDTH, BUILT_IN.width))
    )
    inner = next((int(config[name]) for name in INNER if config.get(name)), 4 * width)
    return ModelShape(layers, heads, width, inner)


def estimates(
    plans: Iterable[PlannedStudy], shape: ModelShape, workers: int = 1, *, full: bool = False
) -> list[StudyEstimate]:
    """What each study of a plan that runs will take, and before them the pass that some of them share.

    * `full`: whether studies take all examples where they take some of many.
    """
    runs = [plan for plan in plans if not plan.lacks]
    sharing = [plan for plan in runs if COSTS[plan.study].shared]
    if len(sharing) < 2:
        return [_estimate(plan, shape, COSTS[plan.study], workers, full) for plan in runs]
    own = sum(COSTS[plan.study].own for plan in sharing)
    first = _estimate(replace(sharing[0], study=READING), shape, StudyCost(2, own / 2, fixed=3), workers, full)
    rest = [replace(COSTS[plan.study], passes=COSTS[plan.study].passes - (plan in sharing)) for plan in runs]
    return [first, *(_estimate(plan, shape, cost, workers, full) for plan, cost in zip(runs, rest, strict=True))]


def _estimate(plan: PlannedStudy, shape: ModelShape, cost: StudyCost, workers: int, full: bool) -> StudyEstimate:
    examples = sum(corpus.n_examples for corpus in plan.corpora) or 1
    tokens = sum(corpus.tokens for corpus in plan.corpora) / examples
    heads = shape.layers * shape.heads / (BUILT_IN.layers * BUILT_IN.heads)
    seconds = cost.passes * (FORWARD * shape.size + cost.own * heads) / workers + cost.after * heads
    most = cost.most if cost.most and not full else examples
    memory = LIBRARIES + BATCH * heads + shape.weights * 4 / 2**20
    memory += min(ARRAYS, cost.cells * heads * tokens * min(most, examples) / 1000)
    fixed = cost.fixed + cost.complete * full
    made = StudyEstimate(plan.study, fixed, tokens * seconds / 1000, round(memory))
    if plan.study == "attributions":
        return _with_scored(made, tokens, FORWARD * shape.size / workers, full)
    if most < examples:
        words = f"{most:,} of them; all with --full"
        return replace(made, per_example=0.0, per_sampled=made.per_example, most=most, sample=words)
    return made


def _with_scored(made: StudyEstimate, tokens: float, forward: float, full: bool) -> StudyEstimate:
    """Add the passes over scored inputs, with tokens blanked, and over as many with altered attention."""
    blanked = max(1.0, tokens * min(SETS_OF_TOKEN * tokens, SETS))
    left = TOKENS_OF_PASSES - min(SCORED * ALTERED * tokens, TOKENS_OF_PASSES * (1 - SCORED_SHARE))
    quick = min(SCORED, max(LEAST_SCORED, int(left / blanked)))
    words = f"{quick} are scored; {SCORED} with --full" if quick < SCORED and not full else ""
    most, total = SCORED if full else quick, SCORED * (blanked + (ALTERED + BY_HEAD) * tokens)
    passes = total if full else min(total, max(TOKENS_OF_PASSES, LEAST_SCORED * blanked))
    return replace(made, per_sampled=passes / most * forward / 1000, most=most, sample=words)
