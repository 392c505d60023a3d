"""Ways to fine-tune, by their names in `finetune --ways`: what is trained, and from which weights."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, get_args

from headscope.errors import HeadscopeError, suggest
from headscope.training.beginning import Beginning
from headscope.training.initialisation import Init, InitialModel
from headscope.training.lora import lora
from headscope.training.perturbed import perturbed
from headscope.training.trained_before import adapted, two_stages
from headscope.training.ways_by_layer import adapters, last_layers, mix, stacked

WITHOUT_TRAINING = "pretrained"


class Way(NamedTuple):
    """A way: what makes the model before training, and the fields of `WayOptions` that it reads."""

    begin: Callable[[Beginning], InitialModel]
    options: tuple[str, ...] = ()


# Beside the inits of `training.initial`, which are ways too.
FURTHER = {
    "adapted": Way(adapted),
    "adapters": Way(adapters, ("rank",)),
    "last_layers": Way(last_layers, ("top_layers",)),
    "lora": Way(lora, ("rank",)),
    "mix": Way(mix),
    "perturbed": Way(perturbed),
    "stacked": Way(stacked),
    "two_stages": Way(two_stages, ("first_task",)),
}


def way_names() -> list[str]:
    """The names of all ways, sorted.

    >>> {"finetuned", "frozen", "lora"} <= set(way_names())
    True
    """
    return sorted((*get_args(Init), *FURTHER))


def options_of(ways: Iterable[str]) -> set[str]:
    """The fields of `WayOptions` that any of some ways reads."""
    return {name for way in ways if way in FURTHER for name in FURTHER[way].options}


def begin(way: str, beginning: Beginning) -> InitialModel:
    """The model of a way before training.

    Raises `HeadscopeError` if there is no such way, or it cannot be used with the model.
    """
    return FURTHER[way].begin(beginning) if refuse_unknown(way) in FURTHER else beginning.initial(way)


def refuse_unknown(way: str) -> str:
    """The name of a way. Raises `HeadscopeError` with near-miss names if there is none of that name."""
    if way not in way_names():
        raise HeadscopeError(f"way '{way}' is unknown; {suggest(way, way_names())}")
    return way
