"""The state of a view in Python: the fragment that `state.js` writes, as far as a picture needs it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import parse_qs, urlencode

from headscope.capture.interventions import Mode
from headscope.errors import HeadscopeError, suggest
from headscope.storage.limits import MOST_FIELDS

VIEWS = ("lines", "map", "card", "compare", "try", "importance", "examples", "heads")
# The key of each field in a fragment, as `state.js` has it.
NAMES = (
    "first second against view heads unit special across scale zoom at pin colour sort all kind model grid off mode "
    "method by"
)
KEYS = "t t2 ta v h w s b n z at p c o a k m g x xm i e"
FIELDS: dict[str, str] = dict(zip(NAMES.split(), KEYS.split(), strict=True))
COMPARING = "v=compare&c=difference&o=difference&a=1"  # as `COMPARING` of state.js
HEAD = re.compile(r"([1-9]\d{0,3})-([1-9]\d{0,3})")


@dataclass(frozen=True)
class ViewState:
    """A view of a text.

    * `view`: one of `VIEWS`; "heads" is the grid of all heads.
    * `heads`: layer and head, from 1, of the chosen heads.
    * `words`: maps between words, not pieces; None where the text decides.
    * `special`: with special tokens; `across`: first to second text only.
    * `model`: the number of the model on show, from 0.
    * `off`, `mode`: the heads that "try" disables, and how; `by`: the class or relation of "examples".
    * `method`: that of "importance".
    """

    view: str = "lines"
    heads: tuple[tuple[int, int], ...] = ()
    words: bool | None = None
    special: bool = True
    across: bool = False
    model: int = 0
    off: str = ""
    mode: Mode = "uniform"
    by: str = ""
    method: str = "integrated_gradients"


def fragment(*states: str | Mapping[str, Any]) -> str:
    """Parts of a state as one fragment, without fields that are empty; of two values of a field the first counts.

    * `states`: fragments, or fields by name, such as `view`, `heads`, `unit`, `special`, `off` and `by`.

    Raises `HeadscopeError` for an unknown field.

    >>> fragment({"view": "map", "heads": ["4-7", "5-1"], "special": False}, "w=words")
    'v=map&h=4-7,5-1&s=0&w=words'
    """
    return "&".join(filter(None, map(_fragment, states)))


def _fragment(state: str | Mapping[str, Any]) -> str:
    if isinstance(state, str):
        return state.removeprefix("#")
    _refuse_unknown(state, FIELDS)
    texts = {FIELDS[name]: _text(value) for name, value in state.items() if value not in ("", None, [], ())}
    return urlencode(texts, safe=",*")


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(int(value) if isinstance(value, bool) else value)


def comparing(state: str) -> str:
    """A fragment that compares two texts, and sorts heads by their change, where it does not name another view.

    >>> comparing("h=4-7")
    'h=4-7&v=compare&c=difference&o=difference&a=1'
    """
    return state if "v" in parse_qs(state.removeprefix("#")) else fragment(state, COMPARING)


def _refuse_unknown(names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            key = f"write {FIELDS[name]}= for it" if name in FIELDS else suggest(name[:40], known)
            raise HeadscopeError(f"state: there is no field '{name[:40]}'; {key}")


def parse_state(fragment: str) -> ViewState:
    """The state that a fragment describes; what it does not name has its default.

    Raises `HeadscopeError` for an unknown field or view, a name that is no head, or too many fields.

    >>> parse_state("v=map&h=4-7,5-1&w=words").heads
    ((4, 7), (5, 1))
    """
    try:
        fields = parse_qs(fragment.removeprefix("#"), max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise HeadscopeError(f"state: more than {MOST_FIELDS} fields; take the state of the page's address") from error
    _refuse_unknown(fields, FIELDS.values())
    first = {key: values[0] for key, values in fields.items()}
    view = first.get("v", "lines")
    if view not in VIEWS:
        raise HeadscopeError(f"state: there is no view '{view[:40]}'; {suggest(view[:40], VIEWS)}")
    return ViewState(
        view=view,
        heads=tuple(_head_index(name) for name in first.get("h", "").split(",") if name),
        words={"words": True, "pieces": False}.get(first.get("w", "")),
        special=first.get("s") != "0",
        across=first.get("b", "0") != "0",
        # as `state.js` reads it: 0 for what is no number of at most six digits
        model=int(first["m"]) if re.fullmatch(r"[0-9]{1,6}", first.get("m", "")) else 0,
        off=first.get("x", ""),
        mode=next((mode for mode in get_args(Mode) if mode == first.get("xm")), "uniform"),
        by=first.get("e", ""),
        method=first.get("i", ViewState.method),
    )


def _head_index(name: str) -> tuple[int, int]:
    match = HEAD.fullmatch(name)
    if match is None:
        raise HeadscopeError(f"state: '{name[:40]}' is no head; write layer and head, e.g. h=4-7")
    return int(match[1]), int(match[2])
