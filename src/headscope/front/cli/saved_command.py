"""The command of a saved result: which of its options are followed, since a stranger may have written the file.

A command says what is computed from what. Where that runs, in how much memory, which code is trusted and what is
written is for the user to say anew: a Ray cluster of others would run its own code here.
"""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.cli.compute import function_of
from headscope.front.cli.errors import notice
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.parameters import flag
from headscope.front.cli.study import OTHER_COMMAND, parsed
from headscope.front.from_options import reads_standard_input
from headscope.front.inputs import ATTRIBUTE, MODEL_TYPES, from_options, made_from
from headscope.front.signatures import read
from headscope.storage.hashes import Fingerprint, difference

if TYPE_CHECKING:
    import xarray as xr

# The shared options that are followed, beside those of the study itself: they read, and set numbers.
FOLLOWED = {
    *("model", "models", "steps", "corpus", "corpora", "suites", "other", "training", "trainings", "training_limit"),
    *("kind", "columns", "document", "task", "data", "regression", "split", "segment", "limit", "skip_bad", "long"),
    *("revision", "tokenizer", "device", "dtype", "batch_tokens", "resamples", "seed", "examples"),
}
# Words of a command that say how it prints.
SILENCE = {"--quiet", "-q", "--json", "--debug"}
MODELS, CORPORA = ("model", "models", "steps"), ("corpus", "corpora", "other", "training", "trainings")


def words_of(saved: "xr.Dataset", directory: Path) -> list[str]:
    """The words of the command that made a result. Raises `HeadscopeError` without them, or if it was interrupted."""
    words = json.loads(saved.attrs.get("command", "[]"))
    if not words or not all(isinstance(word, str) for word in words):
        raise HeadscopeError(
            f"result '{directory}' does not name its command: it was made in Python; "
            "make it again from the command line"
        )
    if words[0] != catalog.command_name(saved.attrs["study"]):
        raise HeadscopeError(
            f"result '{directory}' is of '{saved.attrs['study']}', its command of '{words[0]}'; run the study again"
        )
    if "interrupted" in saved.attrs:
        raise HeadscopeError(f"result '{directory}' is of an interrupted run; finish it with the same command first")
    return words


def followed(study: str, words: Sequence[str], anew: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The option values of a saved command that a rerun takes over, and the options that it leaves out.

    * `anew`: options as the user gives them, which count in the place of those of the file.

    Raises `HeadscopeError` for a command that cannot be run again, and an option that the study does not have.
    """
    parser, values = parsed(study, words)
    if reads_standard_input(values):
        raise HeadscopeError("the corpus was standard input, which is not kept; save the texts in a file")
    kept = FOLLOWED.union(read(study, "study", "run").options) - {"memory"}
    others = {option.name: option for option in parser.params if option.name in values.keys() - kept}
    reset = {name: option.default for name, option in others.items()}
    ours = {name: value for name, value in anew.items() if value != DEFAULTS[name]}
    if lacking := ours.keys() - values.keys():
        raise HeadscopeError(f"study '{words[0]}' has no {flag(min(lacking))}; leave it out")
    left_out = [others[name].opts[0] for name in reset if values[name] != reset[name] and name not in ours]
    return values | reset | ours, left_out


def say_followed(what: str, words: Sequence[str], values: Mapping[str, Any], left_out: Sequence[str]) -> None:
    """Print the part of a saved command that runs, before anything is read."""
    without = f", without {', '.join(left_out)}" if left_out else ""
    remedy = "; a file does not say where to run or write, or whose code to trust: give that again" if left_out else ""
    notice(f"{what}: headscope {shlex.join(words)}{without}{remedy}")
    if names := of_hub(values):
        notice(f"the Hugging Face hub is asked for {', '.join(names)}")


def of_hub(values: Mapping[str, Any]) -> list[str]:
    """The models and corpora that no local file has, so that the Hugging Face hub is asked for them.

    >>> of_hub({"model": "google-bert/bert", "corpus": "hub:rain", "kind": None})
    ["model 'google-bert/bert'", "corpus 'hub:rain'"]
    """
    from headscope.models.checkpoint import HUB_NAME

    second = ("other",) if "corpus" in values else ()  # a model then, else a corpus
    named = [name.partition("@")[0] for name in _named(values, MODELS + second)]
    models = [name for name in named if HUB_NAME.fullmatch(name) and name != "minilm"]
    corpora = [name for name in _named(values, CORPORA) if name.startswith("hub:") or values.get("kind") == "hub"]
    return [f"model '{name}'" for name in models if not os.path.isdir(name)] + [f"corpus '{name}'" for name in corpora]


def _named(values: Mapping[str, Any], options: Sequence[str]) -> Iterator[str]:
    for option in options:
        value = values.get(option)
        yield from value if isinstance(value, list) else filter(None, [value])


def why_anew(study: str, directory: Path, words: Sequence[str]) -> str | None:
    """Why the command must run again ("" without a complete result); None if its result is up to date."""
    from headscope import results

    if not (directory / "result.nc").is_file():
        return ""
    try:
        attributes = results.read(directory).attrs
        if "interrupted" in attributes:
            return ""
        if _without_silence(json.loads(attributes.get("command", "[]"))) != _without_silence(words):
            return OTHER_COMMAND
        return difference(json.loads(attributes.get(ATTRIBUTE, "{}")), _made_from_now(study, words)) or None
    except HeadscopeError as error:
        return str(error)  # whatever is wrong with the inputs, the study itself says


def _without_silence(words: Sequence[str]) -> list[str]:
    """The words of a command but for those that say how much it prints."""
    return [word for word in words if word not in SILENCE]


def _made_from_now(study: str, words: Sequence[str]) -> Fingerprint:
    values = parsed(study, words)[1]
    types = {name: kind for name, kind in function_of(study)[1].items() if kind not in MODEL_TYPES}
    return made_from(values, from_options(types, values))
