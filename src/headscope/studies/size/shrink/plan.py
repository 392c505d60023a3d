"""Sizes of a model: what a smaller one has to reach, what may go for it, and what the command leaves open."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from headscope.errors import HeadscopeError, suggest
from headscope.models import Model
from headscope.models.as_albert import is_bert
from headscope.models.onnx import refuse_unexportable
from headscope.outputs.size_and_speed import megabytes
from headscope.ranges import Range

SPEED = re.compile(r"(\d{1,4}(?:\.\d{1,6})?)x?", re.ASCII)
SIZE = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)(KB|MB|GB|%)?", re.ASCII | re.IGNORECASE)
UNITS = {"KB": 1e-3, "MB": 1.0, "GB": 1e3}
# Without a target: half as fast again; and where embeddings may become narrower, of this size.
DEFAULT, DEFAULT_SIZE = 1.5, "60%"
# The parts that a search removes; narrower embeddings make a BERT an ALBERT.
KINDS, EMBEDDINGS = ("neurons", "heads", "layers"), "embeddings"
# Pieces of the vocabulary that no text has go in any case, but this share stays.
VOCABULARY, LEAST_PIECES = "vocabulary", 0.6
ALL_PARTS = (*KINDS, EMBEDDINGS, VOCABULARY)


@dataclass(frozen=True)
class Size:
    """The layers that stay (from 0), and the numbers of neurons and heads that each layer of the whole model keeps.

    An ordinary class has the same numbers in all layers. The numbers of a layer that does not stay count for nothing.

    * `embeddings`: numbers of each embedding; 0 for those of the whole model.
    """

    layers: tuple[int, ...]
    neurons: tuple[int, ...]
    heads: tuple[int, ...]
    embeddings: int = 0

    @property
    def by_layer(self) -> tuple[tuple[int, int], ...]:
        """The numbers of neurons and heads of the layers that stay."""
        return tuple((self.neurons[layer], self.heads[layer]) for layer in self.layers)

    def moved_to(self, layers: Sequence[int], base: "Size") -> "Size":
        """The size with other layers in the same number, which keep the same numbers in order.

        * `base`: has the numbers of layers that are gone.

        >>> Size((0,), (5, 8), (1, 4)).moved_to((1,), Size((0, 1), (8, 8), (4, 4)))
        Size(layers=(1,), neurons=(8, 5), heads=(4, 1), embeddings=0)
        """
        moved = replace(base, layers=tuple(layers), embeddings=self.embeddings)
        for layer, (neurons, heads) in zip(layers, self.by_layer, strict=True):
            moved = moved.with_numbers((layer,), neurons, heads)
        return moved

    def with_numbers(self, layers: Sequence[int], neurons: int | None = None, heads: int | None = None) -> "Size":
        """The size with other numbers in some layers."""
        return replace(self, neurons=_put(self.neurons, layers, neurons), heads=_put(self.heads, layers, heads))


def _put(numbers: tuple[int, ...], layers: Sequence[int], number: int | None) -> tuple[int, ...]:
    if number is None:
        return numbers
    return tuple(number if layer in layers else before for layer, before in enumerate(numbers))


@dataclass(frozen=True)
class SizeTarget:
    """The least speed, as times that of the whole model, and the most megabytes; None for any."""

    speed: float | None
    megabytes: float | None

    def fast_enough(self, share: float) -> bool:
        """Whether this share of the whole model's time is short enough."""
        return self.speed is None or share * self.speed <= 1

    def small_enough(self, megabytes: float) -> bool:
        """Whether a model of this size is small enough."""
        return self.megabytes is None or megabytes <= self.megabytes

    def words(self) -> str:
        """The target in words.

        >>> SizeTarget(1.5, 10.0).words()
        '1.5 times as fast and at most 10 MB'
        """
        speed = f"{self.speed:g} times as fast" if self.speed else ""
        size = f"at most {self.megabytes:g} MB" if self.megabytes else ""
        return " and ".join(filter(None, (speed, size)))


def target(speed: str | None, size: str | None, megabytes: float) -> SizeTarget:
    """The target of the options `--speed` and `--size`; without them, 1.5 times the speed.

    * `megabytes`: of the whole model, of which a size may be a percentage.

    Raises `HeadscopeError` for a text that is no speed or no size.

    >>> target("3x", None, 80).speed, target(None, "10MB", 80).megabytes, target(None, "60%", 80).megabytes
    (3.0, 10.0, 48.0)
    """
    times = most = None
    if speed is not None:
        match = SPEED.fullmatch(speed.strip())
        if match is None or (times := float(match.group(1))) < 1:
            raise HeadscopeError(f"speed '{speed[:20]}' is not a factor of 1 or more; write one like 1.5x")
    if size is not None:
        match = SIZE.fullmatch(size.strip())
        units = UNITS | {"%": megabytes / 100}
        if match is None or not (most := float(match.group(1)) * units[(match.group(2) or "MB").upper()]):
            raise HeadscopeError(f"size '{size[:20]}' is not the size of a model; write one like 10MB or 60%")
    return SizeTarget(DEFAULT, None) if times is None and most is None else SizeTarget(times, most)


def parts_in(text: str) -> tuple[str, ...]:
    """The parts of a list such as "neurons,layers".

    Raises `HeadscopeError` for an unknown name.

    >>> parts_in("layers, neurons")
    ('neurons', 'layers')
    """
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if unknown := next((name for name in wanted or [text] if name not in ALL_PARTS), None):
        raise HeadscopeError(f"part '{unknown[:40]}' is unknown; {suggest(unknown, ALL_PARTS)}")
    return tuple(part for part in ALL_PARTS if part in wanted)


@dataclass(frozen=True, kw_only=True)
class ShrinkOptions:
    """What a smaller model has to reach, and how it is found.

    * `speed`: Become at least this many times as fast, such as 1.5x (the default without a target).
    * `size`: Have at most this size, such as 10MB or 60%. Without a target a BERT gets 60% and 1.5x.
    * `method`: Choose parts by what they add (estimate), or by gates that are trained together with the model towards
      --speed or --size.
    * `fine`: Let each layer keep its own numbers of heads and neurons, or none, instead of what an ordinary class can
      hold.
    * `parts`: Remove these parts alone, separated by commas: neurons, heads, layers; vocabulary (pieces that no text
      has, the rarest first, at most two fifths); embeddings, which makes a BERT with narrower embeddings an ALBERT
      (default: the first four, and without a target, for a BERT, embeddings instead of the vocabulary).
    * `groups`: Remove 1/N of a layer's neurons in a step (with `fine` also of its heads).
    * `epochs`: Train for this number of epochs, and gates for as many before (at least one); 0 for no training.
    * `best_effort`: Save the smallest model that was found, if none reaches the target; and a language model whose loss
      rises by more.
    * `eight_bit`: Save the model also as ONNX files, in float32 and with weights of eight bits.
    """

    speed: str | None = None
    size: str | None = None
    method: Literal["estimate", "gates"] = "estimate"
    fine: bool = False
    parts: str | None = None
    groups: Annotated[int, Range(2, 1000)] = 12
    epochs: Annotated[int, Range(0, 1000)] = 4
    best_effort: bool = False
    eight_bit: bool = False


@dataclass(frozen=True, kw_only=True)
class ShrinkPlan(ShrinkOptions):
    """Options, the target that they name, and the parts of `ALL_PARTS` that may go."""

    target: SizeTarget
    may_go: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The parts that the search removes."""
        return tuple(part for part in self.may_go if part != VOCABULARY)

    @property
    def gate_epochs(self) -> int:
        """The epochs of the training of gates."""
        return max(self.epochs, 1) if self.method == "gates" else 0

    @property
    def vocabulary(self) -> float:
        """The least share of the vocabulary that stays."""
        return LEAST_PIECES if VOCABULARY in self.may_go else 1.0

    def options(self) -> dict[str, str | int]:
        """The options as the result stores them."""
        gates = {"gate_epochs": self.gate_epochs} if self.gate_epochs else {}
        return {
            "target": self.target.words(),
            "parts": ",".join(self.may_go),
            "method": self.method,
            "groups": self.groups,
            **({"fine": True} if self.fine else {}),
            **gates,
        }


def plan_of(model: Model, options: ShrinkOptions) -> ShrinkPlan:
    """The target of some options, and what may go.

    Without a target and without parts, a BERT becomes half as fast again and 60% of its size, with narrower embeddings
    and all pieces of the vocabulary; other models, and gates, half as fast again.

    Raises `HeadscopeError` for a text that is no speed, no size or no part, for gates of embeddings, and for a model
    that cannot be made smaller, or exported to eight bits.

    >>> from headscope.models import load
    >>> plan = plan_of(load("minilm"), ShrinkOptions())
    >>> plan.target.words(), plan.may_go
    ('1.5 times as fast and at most 54.5117 MB', ('neurons', 'heads', 'layers', 'embeddings'))
    >>> plan = plan_of(load("minilm"), ShrinkOptions(speed="2x"))
    >>> plan.target.words(), plan.may_go
    ('2 times as fast', ('neurons', 'heads', 'layers', 'vocabulary'))
    """
    open_target = options.parts is None and options.speed is None and options.size is None
    narrow = open_target and options.method != "gates" and is_bert(model.network)
    speed, size = (f"{DEFAULT}x", DEFAULT_SIZE) if narrow else (options.speed, options.size)
    named = None if options.parts is None else parts_in(options.parts)
    may_go = named or (*KINDS, EMBEDDINGS if narrow else VOCABULARY)
    if options.method == "gates" and EMBEDDINGS in may_go:
        raise HeadscopeError("--method gates has no gates for embeddings; leave embeddings out of --parts")
    plan = ShrinkPlan(**vars(options), target=target(speed, size, megabytes(model)), may_go=may_go)
    model.refuse_spread("made smaller")
    if plan.eight_bit:
        refuse_unexportable(model)
    return plan
