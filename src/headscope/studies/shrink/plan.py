"""What is removed, and up to which target, where the command leaves them open."""

from dataclasses import dataclass

from headscope.models import Model
from headscope.models.as_albert import is_bert
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.shrink.target import ALL_KINDS, DEFAULT, KINDS, SizeTarget, kinds, target

# Of the whole model, where embeddings may become narrower.
DEFAULT_SIZE = "60%"
# The least share of the vocabulary that stays, where embeddings keep their width.
DEFAULT_VOCABULARY = 0.6


@dataclass(frozen=True)
class ShrinkPlan:
    """What a search has to reach, the parts that may go for it, and the least share of the vocabulary that stays."""

    target: SizeTarget
    parts: str
    vocabulary: float


def plan_of(
    model: Model,
    speed: str | None = None,
    size: str | None = None,
    parts: str | None = None,
    vocabulary: float | None = None,
    method: str = "estimate",
) -> ShrinkPlan:
    """The plan of the options of the same names; None for an option that is not given.

    Without a target and without parts, a BERT becomes half as fast again and 60% of its size, with narrower embeddings;
    other models, and gates, half as fast again. All pieces of the vocabulary stay where embeddings may be narrower.

    Raises `HeadscopeError` for a text that is no speed, no size or no part.

    >>> from headscope.models import load
    >>> plan = plan_of(load("minilm"))
    >>> plan.target.words(), plan.parts, plan.vocabulary
    ('1.5 times as fast and at most 54.5117 MB', 'neurons,heads,layers,embeddings', 1.0)
    >>> plan = plan_of(load("minilm"), speed="2x")
    >>> plan.target.words(), plan.parts, plan.vocabulary
    ('2 times as fast', 'neurons,heads,layers', 0.6)
    """
    opened = parts is None and speed is None and size is None
    narrow = opened and method != "gates" and is_bert(model.network)
    if narrow:
        speed, size = f"{DEFAULT}x", DEFAULT_SIZE
    wanted = target(speed, size, megabytes(model))
    parts = ",".join(ALL_KINDS if narrow else KINDS) if parts is None else parts
    usual = 1.0 if "embeddings" in kinds(parts) else DEFAULT_VOCABULARY
    return ShrinkPlan(wanted, parts, usual if vocabulary is None else vocabulary)
