"""The options that all studies share."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, BadParameter, Option

from headscope import catalog

MOST_EXAMPLES = 10**12
KINDS = ", ".join(catalog.names("corpora/readers"))
SUITES = ", ".join(name for name in catalog.names("corpora/suites/readers") if name != "own")


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


Model = Annotated[
    str, Argument(metavar="MODEL", help="A Hugging Face id, a local folder, or 'minilm', the built-in model.")
]
Source = Annotated[str, Argument(metavar="CORPUS", help="A file, KIND:SOURCE, or 'sample', the bundled corpus.")]
Sources = Annotated[
    list[str] | None,
    Argument(metavar="CORPUS...", help="Each a file, KIND:SOURCE, or 'sample', the bundled corpus (the default)."),
]
Suites = Annotated[
    list[str], Argument(metavar="SUITE...", help=f"JSON-lines files, or suites by name: {SUITES} (see --data).")
]
Models = Annotated[
    list[str], Argument(metavar="MODEL OTHER...", help="Two or more models; the first is compared with.")
]
Other = Annotated[
    str | None, Option("--corpus", metavar="CORPUS", help="As CORPUS; by default the task's dev split, or 'sample'.")
]
Out = Annotated[Path | None, Option("-o", "--out", metavar="DIR", help="Folder of the result; by default out/STUDY.")]

Overwrite = Annotated[bool, Option("--overwrite", help="Replace the result of another study in DIR.")]

_CORPUS = "Corpus"
Kind = Annotated[
    str | None,
    Option(help=f"Kind of the corpus, if its suffix does not tell: {KINDS}.", rich_help_panel=_CORPUS),
]
Columns = Annotated[
    str | None,
    Option(help="Columns of a table: FIRST,SECOND,LABEL, by name or by number from 1.", rich_help_panel=_CORPUS),
]
Task = Annotated[
    str | None, Option(help="Task of a GLUE folder: mrpc, rte, ...; several: rte,mrpc", rich_help_panel=_CORPUS)
]
Data = Annotated[
    Path | None,
    Option(
        metavar="FOLDER",
        help="Folder of the task: of GLUE, or of tables named train and dev with a label column.",
        rich_help_panel=_CORPUS,
    ),
]
Regression = Annotated[
    bool | None, Option(help="Labels are numbers, or classes; by default the labels decide.", rich_help_panel=_CORPUS)
]
Split = Annotated[str | None, Option(help="Split of a GLUE folder or a hub data set.", rich_help_panel=_CORPUS)]
Segment = Annotated[
    int, Option(help="Most tokens of a pair of paragraphs (kind 'paragraphs').", rich_help_panel=_CORPUS)
]
Limit = Annotated[
    int | None,
    Option(parser=most, metavar="N|all", help="Read the first N examples.", rich_help_panel=_CORPUS),
]
Training = Annotated[
    str | None,
    Option("--train", metavar="CORPUS", help="Train on this corpus, and test on the other.", rich_help_panel=_CORPUS),
]
Trainings = Annotated[
    list[str] | None,
    Option(
        "--train",
        metavar="CORPUS",
        help="Train on this corpus, test on the others; repeatable.",
        rich_help_panel=_CORPUS,
    ),
]
TrainingLimit = Annotated[
    int | None,
    Option("--train-limit", parser=most, metavar="N|all", help="As --limit, of --train.", rich_help_panel=_CORPUS),
]
SkipBad = Annotated[
    bool, Option("--skip-bad", help="Leave out and count what cannot be read.", rich_help_panel=_CORPUS)
]
Annotate = Annotated[
    str | None,
    Option(metavar="PIPELINE", help="Installed spaCy pipeline that annotates plain text.", rich_help_panel=_CORPUS),
]
Long = Annotated[
    Literal["skip", "truncate", "window"],
    Option(help="What becomes of inputs over the model's limit.", rich_help_panel=_CORPUS),
]

_RUN = "Run"
Seed = Annotated[int, Option(min=0, max=2**32 - 1, help="Seed of everything that is random.", rich_help_panel=_RUN)]
Device = Annotated[
    str | None,
    Option(
        help="cpu, cuda, cuda:1 or mps; by default a GPU if there is one. "
        "auto: a model larger than a GPU, over all GPUs, memory and disk.",
        rich_help_panel=_RUN,
    ),
]
Dtype = Annotated[
    Literal["float32", "bfloat16", "float16", "float64"], Option(help="Type of the weights.", rich_help_panel=_RUN)
]
BatchTokens = Annotated[
    int, Option(min=1, help="Most tokens of a batch; changes speed, not numbers.", rich_help_panel=_RUN)
]
Workers = Annotated[
    int, Option(min=1, max=256, help="Processes that read the corpus, each with one thread.", rich_help_panel=_RUN)
]
Engine = Annotated[
    Literal["local", "ray"], Option(help="Where the workers are: this machine, or a Ray cluster.", rich_help_panel=_RUN)
]
Address = Annotated[
    str, Option(help="Ray cluster: HOST:PORT, 'auto', or 'local' for a new one on this machine.", rich_help_panel=_RUN)
]
GpusPerWorker = Annotated[float, Option(min=0, help="GPUs of each Ray worker, such as 1 or 0.5.", rich_help_panel=_RUN)]
Resamples = Annotated[int, Option(min=1, max=100_000, help="Resamples of the bootstrap.", rich_help_panel=_RUN)]
Examples = Annotated[
    int,
    Option(min=0, max=20, help="Inputs whose attention maps are kept for the page; 0 for none.", rich_help_panel=_RUN),
]
Revision = Annotated[str | None, Option(help="Branch, tag or commit of a hub model.", rich_help_panel=_RUN)]
RemoteCode = Annotated[
    bool, Option("--trust-remote-code", help="Allow Python code of the model to run.", rich_help_panel=_RUN)
]

Json = Annotated[bool, Option("--json", help="Print the result as JSON instead of a table.")]
Figures = Annotated[str, Option(metavar="FORMATS", help="Formats of the figure files: svg, pdf, png, or several.")]
NoFigures = Annotated[bool, Option("--no-figures", help="Write no figure files; the page has its figures.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, Option("--debug", help="Show the traceback of an error.")]


def shared(  # noqa: PLR0913 (each is an option of the command line)
    *,
    model: Model = "minilm",
    models: Models,
    corpus: Source = "sample",
    corpora: Sources = None,
    suites: Suites,
    other: Other = None,
    out: Out = None,
    overwrite: Overwrite = False,
    kind: Kind = None,
    columns: Columns = None,
    task: Task = None,
    data: Data = None,
    regression: Regression = None,
    split: Split = None,
    segment: Segment = 128,
    limit: Limit = None,
    training: Training = None,
    trainings: Trainings = None,
    training_limit: TrainingLimit = None,
    skip_bad: SkipBad = False,
    annotate: Annotate = None,
    long: Long = "skip",
    seed: Seed = 0,
    device: Device = None,
    dtype: Dtype = "float32",
    batch_tokens: BatchTokens = 2048,
    workers: Workers = 1,
    engine: Engine = "local",
    address: Address = "local",
    gpus_per_worker: GpusPerWorker = 0,
    resamples: Resamples = 1000,
    examples: Examples = 3,
    revision: Revision = None,
    remote_code: RemoteCode = False,
    figures: Figures = "svg",
    no_figures: NoFigures = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """The options that studies share, in the order of the help."""
