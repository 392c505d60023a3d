"""What is removed, and up to which target, where the command leaves them open."""

from dataclasses import dataclass

from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.as_albert import is_bert
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.shrink.target import DEFAULT, EIGHT_BIT, KINDS, WITH_EMBEDDINGS, SizeTarget, kinds, target

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

    @property
    def eight_bit(self) -> bool:
        """Whether eight bits are a step of the search."""
        return EIGHT_BIT in kinds(self.parts)


def plan_of(
    model: Model,
    speed: str | None = None,
    size: str | None = None,
    parts: str | None = None,
    vocabulary: float | None = None,
    *,
    within: bool = False,
    method: str = "estimate",
    fine: bool = False,
) -> ShrinkPlan:
    """The plan of the options of the same names; None for an option that is not given.

    Without a target and without parts, a BERT becomes half as fast again and 60% of its size, with narrower embeddings;
    other models, and gates, half as fast again. All pieces of the vocabulary stay where embeddings may be narrower.

    Raises `HeadscopeError` for a text that is no speed, no size or no part, and for eight bits as a step without a size
    or in a search that cannot weigh them.

    >>> from headscope.models import load
    >>> plan = plan_of(load("minilm"))
    >>> plan.target.words(), plan.parts, plan.vocabulary
    ('1.5 times as fast and at most 54.5117 MB', 'neurons,heads,layers,embeddings', 1.0)
    >>> plan = plan_of(load("minilm"), speed="2x")
    >>> plan.target.words(), plan.parts, plan.vocabulary
    ('2 times as fast', 'neurons,heads,layers', 0.6)
    """
    opened = parts is None and speed is None and size is None and not within
    narrow = opened and method != "gates" and is_bert(model.network)
    if narrow:
        speed, size = f"{DEFAULT}x", DEFAULT_SIZE
    wanted = target(speed, size, megabytes(model), within=within)
    parts = ",".join(WITH_EMBEDDINGS if narrow else KINDS) if parts is None else parts
    if EIGHT_BIT in kinds(parts):
        refuse_eight_bit(wanted, size, method, fine=fine)
    usual = 1.0 if "embeddings" in kinds(parts) else DEFAULT_VOCABULARY
    return ShrinkPlan(wanted, parts, usual if vocabulary is None else vocabulary)


def refuse_eight_bit(wanted: SizeTarget, size: str | None, method: str, *, fine: bool) -> None:
    """Raise `HeadscopeError` where eight bits cannot be a step: without a size, with gates, or with `--fine`."""
    beside = "leave eight-bit out of --parts; --eight-bit writes the file after the search"
    if wanted.within:
        raise HeadscopeError(f"--within-interval tests models in float32; {beside}")
    if method == "gates":
        raise HeadscopeError(f"--method gates has no gate of eight bits; {beside}")
    if fine:
        raise HeadscopeError(f"--fine does not weigh eight bits against parts of single layers; {beside}")
    if size is None:
        raise HeadscopeError("part 'eight-bit' is weighed by its megabytes alone; add --size, as in --size 12MB")
