"""How a folder of sentence-transformers makes an embedding of the states of a text."""

import json
from pathlib import Path
from typing import Any, Literal, get_args

from headscope.errors import HeadscopeError

Pooling = Literal["mean", "first", "max", "last"]
# Names of versions 2 to 6 of sentence-transformers, and ours.
NAMES: dict[str, Pooling] = {"mean": "mean", "mean_tokens": "mean", "cls": "first", "cls_token": "first"}
NAMES |= {"max": "max", "max_tokens": "max", "lasttoken": "last"}
READ = ("Transformer", "Pooling", "Normalize")


def pooling_of(folder: Path) -> Pooling:
    """How the modules of a folder pool states; "mean" for a folder without modules.

    Raises `HeadscopeError` for modules or modes that are not read.
    """
    listed = folder / "modules.json"
    try:
        modules = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
        kinds = {str(module["type"]).rpartition(".")[2]: folder / str(module["path"]) for module in modules}
        path = kinds.get("Pooling", folder / "1_Pooling") / "config.json"
        options: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        modes = _modes(options)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise HeadscopeError(
            f"'{folder}': its modules of sentence-transformers cannot be read; save it anew"
        ) from error
    if other := next((kind for kind in kinds if kind not in READ), ""):
        raise HeadscopeError(f"'{folder}': the module '{other}' of sentence-transformers is not read; give a --task")
    if not all(mode in NAMES for mode in modes) or len(modes) > 1:
        raise HeadscopeError(
            f"'{folder}': it pools states by {' and '.join(modes)}, which is not read; use a model that pools by "
            f"one of {', '.join(get_args(Pooling))}, or give a --task"
        )
    return NAMES[modes[0]] if modes else "mean"


def _modes(options: dict[str, Any]) -> list[str]:
    """The modes of pooling of a configuration: one key with names, or a key for each."""
    named = options.get("pooling_mode")
    if named:
        return [named] if isinstance(named, str) else list(map(str, named))
    return [key.removeprefix("pooling_mode_") for key, on in options.items() if key.startswith("pooling_mode_") and on]
