"""The options that studies and tools share: one table, in the order of the help."""

from collections.abc import Callable
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, BadParameter, Option

from headscope import catalog
from headscope.ranges import SETTINGS, Range

MOST_EXAMPLES = 10**12
KINDS = ", ".join(catalog.names("corpora/readers"))
SUITES = ", ".join(name for name in catalog.listed("corpora/suites/readers", "SUITES") if name != "own")

_corpus: Callable[..., Any] = partial(Option, rich_help_panel="Corpus")
_run: Callable[..., Any] = partial(Option, rich_help_panel="Run")


def limits(bounds: Range | None) -> dict[str, Any]:
    """The range of a number, as Typer takes it."""
    return {"min": bounds.least, "max": bounds.most} if bounds else {}


def most(text: str) -> int | None:
    """A number of examples; None for all of them.

    >>> most("1000"), most("all")
    (1000, None)
    """
    if text == "all":
        return None
    try:
        if (number := int(text)) <= MOST_EXAMPLES:
            return number
        raise BadParameter(f"'{text[:20]}' is out of range; write a number up to {MOST_EXAMPLES} or 'all'")
    except ValueError:
        raise BadParameter(f"'{text}' is no number of examples; write a number or 'all'") from None


REQUIRED = Parameter.empty
# Of each option: its type, its default, and what Typer is told of it.
SHARED: dict[str, tuple[Any, Any, Any]] = {
    "model": (
        str,
        "minilm",
        Argument(metavar="MODEL", help="A Hugging Face id, a local folder, or 'minilm', the built-in model."),
    ),
    "models": (
        list[str],
        REQUIRED,
        Argument(metavar="MODEL OTHER...", help="Two or more models; the others are compared with the first."),
    ),
    "steps": (
        list[str],
        REQUIRED,
        Argument(metavar="DIR|MODEL...", help="The folder of a fine-tuning, or models in order, the start first."),
    ),
    "corpus": (str, "sample", Argument(metavar="CORPUS", help="A file, KIND:SOURCE, or 'sample', the bundled corpus.")),
    "corpora": (
        list[str] | None,
        None,
        Argument(metavar="CORPUS...", help="Each a file, KIND:SOURCE, or 'sample', the bundled corpus (the default)."),
    ),
    "suites": (
        list[str],
        REQUIRED,
        Argument(metavar="SUITE...", help=f"JSON-lines files, or suites by name: {SUITES} (see --data)."),
    ),
    "other": (
        str | None,
        None,
        Option("--corpus", metavar="CORPUS", help="Corpus to read; by default the task's dev split, or 'sample'."),
    ),
    "out": (
        Path | None,
        None,
        Option("-o", "--out", metavar="DIR", help="Folder of the result; by default out/STUDY-MODEL."),
    ),
    "overwrite": (
        bool,
        False,
        Option("--overwrite", help="Replace the result of another study in DIR; in a survey, run all studies again."),
    ),
    "kind": (str | None, None, _corpus(help=f"Kind of the corpus, if its suffix does not tell: {KINDS}.")),
    "columns": (str | None, None, _corpus(help="Columns of a table: FIRST,SECOND,LABEL, by name or by number from 1.")),
    "document": (
        str | None,
        None,
        _corpus(metavar="COLUMN", help="Column that names a row's document: intervals are over documents."),
    ),
    "task": (str | None, None, _corpus(help="Task of a GLUE folder: mrpc, rte, ...; several: rte,mrpc")),
    "data": (
        Path | None,
        None,
        _corpus(
            metavar="FOLDER",
            help="Folder of the task: of GLUE, or of tables named train and dev with labels; or one such table.",
        ),
    ),
    "regression": (bool | None, None, _corpus(help="Labels are numbers, or classes; by default the labels decide.")),
    "split": (str | None, None, _corpus(help="Split of a GLUE folder or a hub data set.")),
    "segment": (
        int,
        128,
        _corpus(min=1, max=100_000, help="Largest number of tokens in a pair of paragraphs (kind 'paragraphs')."),
    ),
    "limit": (int | None, None, _corpus(parser=most, metavar="N|all", help="Read N examples, drawn evenly.")),
    "training": (
        str | None,
        None,
        _corpus("--train", metavar="CORPUS", help="Train on this corpus, and test on the other."),
    ),
    "trainings": (
        list[str] | None,
        None,
        _corpus("--train", metavar="CORPUS", help="Train on this corpus, test on the others; repeatable."),
    ),
    "training_limit": (
        int | None,
        None,
        _corpus("--train-limit", parser=most, metavar="N|all", help="As --limit, for --train."),
    ),
    "skip_bad": (bool, False, _corpus("--skip-bad", help="Leave out and count what cannot be read.")),
    "annotate": (
        str | None,
        None,
        _corpus(metavar="PIPELINE", help="Installed spaCy pipeline that annotates plain text."),
    ),
    "long": (
        Literal["skip", "truncate", "window"],
        "skip",
        _corpus(help="What to do with inputs longer than the model reads."),
    ),
    "measures": (
        str | None,
        None,
        _run(metavar="NAME,NAME", help="Measures of installed packages, in addition to those of the study."),
    ),
    "studies": (
        str | None,
        None,
        _run(
            metavar="STUDY,...",
            help="Also show the main numbers of these studies at each step: profile, patterns, syntax, relations, "
            "coreference, geometry, trees.",
        ),
    ),
    "seed": (int, 0, _run(**limits(SETTINGS["seed"]), help="Seed of everything that is random.")),
    "device": (
        str | None,
        None,
        _run(
            help="cpu, cuda, cuda:1 or mps; by default a GPU if there is one. "
            "auto: a model larger than a GPU, over all GPUs, memory and disk."
        ),
    ),
    "dtype": (Literal["float32", "bfloat16", "float16", "float64"], "float32", _run(help="Type of the weights.")),
    "batch_tokens": (
        int,
        2048,
        _run(
            **limits(SETTINGS["batch_tokens"]),
            help="Largest number of tokens in a batch; changes speed, not numbers. The default is larger on a GPU.",
        ),
    ),
    "workers": (
        int,
        1,
        _run(**limits(SETTINGS["workers"]), help="Processes that read the corpus, each with one thread."),
    ),
    "engine": (Literal["local", "ray"], "local", _run(help="Where the workers are: this machine, or a Ray cluster.")),
    "address": (str, "local", _run(help="Ray cluster: HOST:PORT, 'auto', or 'local' for a new one on this machine.")),
    "gpus_per_worker": (float, 0, _run(min=0, max=64, help="GPUs of each Ray worker, such as 1 or 0.5.")),
    "resamples": (int, 1000, _run(**limits(SETTINGS["resamples"]), help="Resamples of the bootstrap.")),
    "examples": (int, 3, _run(min=0, max=20, help="Inputs whose attention maps are kept for the page; 0 for none.")),
    "revision": (str | None, None, _run(help="Branch, tag or commit of a hub model.")),
    "tokenizer": (
        str | None,
        None,
        _run(metavar="FOLDER", help="Folder of another tokenizer: that of the model that a GGUF file was made from."),
    ),
    "tokenizer_of": (
        str,
        "minilm",
        _run("--tokenizer", metavar="MODEL", help="Model whose tokenizer cuts the text into pieces."),
    ),
    "remote_code": (bool, False, _run("--trust-remote-code", help="Allow Python code of the model to run.")),
    "figures": (
        str,
        "svg,pdf",
        Option(metavar="FORMATS", help="Formats of the figure files: svg, pdf, png, or several."),
    ),
    "no_figures": (bool, False, Option("--no-figures", help="Write no figure files; the page has its figures.")),
    "quiet": (bool, False, Option("--quiet", "-q", help="Print nothing but errors.")),
    "json": (bool, False, Option("--json", help="Print the result as JSON instead of a table.")),
    "debug": (bool, False, Option("--debug", help="Show the traceback of an error.")),
}
DEFAULTS = {name: default for name, (_, default, _) in SHARED.items()}


def shared(name: str) -> Parameter:
    """A shared option as a parameter of a command."""
    kind, default, described = SHARED[name]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described])
