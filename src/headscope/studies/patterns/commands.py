"""What the command `patterns` does instead of the study: train or score the classifier, label maps, compare labels."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from headscope import models
from headscope.corpora import Corpus
from headscope.engine import Settings
from headscope.studies.patterns import labels
from headscope.studies.patterns.classifier import network
from headscope.studies.patterns.labels import labelled_maps
from headscope.studies.patterns.training import save
from headscope.studies.patterns.training.evaluate import evaluate as scored
from headscope.studies.patterns.training.recipe import RECIPE
from headscope.studies.patterns.training.train import train as trained

PANEL = "Instead of the study"


def train(
    train: Annotated[
        Path,
        Option(metavar="MAPS", help="Train a classifier on a folder of labelled maps.", rich_help_panel=PANEL),
    ],
    directory: Path,
    settings: Settings,
) -> dict[str, Any]:
    """Where the weights and their card are, and the scores on texts that they were not trained on.

    Raises `HeadscopeError` if the folder has too few labelled maps.
    """
    classifier = trained(labelled_maps.read(train), settings.seed, RECIPE, settings.on_progress, settings.on_total)
    files = save.write(directory, classifier)
    return {name: str(path) for name, path in files.items()} | save.summary(classifier.card)


def evaluate(
    evaluate: Annotated[
        Path, Option(metavar="MAPS", help="Score the classifier on a folder of labelled maps.", rich_help_panel=PANEL)
    ],
    weights: Annotated[
        Path | None, Option(metavar="FILE", help="A classifier that --train wrote; by default the one built in.")
    ] = None,
) -> dict[str, Any]:
    """`accuracy`, `macro_f1` and `f1` by pattern, with intervals over texts.

    Raises `HeadscopeError` if the folder has no labelled maps.
    """
    return scored(labelled_maps.read(evaluate), network.load(weights))


def label(  # noqa: PLR0913 (each is an option of the command)
    label: Annotated[
        bool,
        Option(
            "--label",
            help="Label maps of MODEL and CORPUS in the browser; or those of a folder, named as MODEL.",
            rich_help_panel=PANEL,
        ),
    ],
    checkpoint: str,
    loading: dict[str, Any],
    read_corpora: Callable[[], tuple[Corpus, ...]],
    directory: Path,
    settings: Settings,
    *,
    number: Annotated[int, Option(min=1, help="How many maps to label.", rich_help_panel=PANEL)] = 100,
    annotator: Annotated[str, Option(help="Your name, if others label the same maps.", rich_help_panel=PANEL)] = "",
    port: Annotated[int, Option(min=0, max=65535, help="Port of the local page; 0: any.", rich_help_panel=PANEL)] = 0,
) -> dict[str, Any]:
    """Serve the page until Ctrl-C. Maps are drawn once; labels are saved one by one, and taken up again next time.

    Raises `HeadscopeError` if there is nothing to label, or the port is taken.
    """
    folder = next((each for each in (Path(checkpoint), directory) if (each / labelled_maps.ARRAYS).is_file()), None)
    if folder is None:
        folder, model = directory, models.load(checkpoint, **loading)
        labelled_maps.write(folder, labels.sampled(model, read_corpora(), number, settings))
    session = labels.opened(folder, annotator)
    labels.serve(session, port, lambda address: print(address, file=sys.stderr, flush=True))
    return {"labels": str(session.path), "labelled": sum(map(bool, session.labels)), "maps": len(session.maps)}


def agreement(
    agreement: Annotated[
        tuple[Path, Path],
        Option(
            "--agreement",
            metavar="FILE FILE",
            help="Compare two files of labels: share of maps and Cohen's kappa.",
            rich_help_panel=PANEL,
        ),
    ],
) -> dict[str, Any]:
    """`n_maps`, `agreement`, `kappa`, and which labels `differ` how often.

    Raises `HeadscopeError` if they have no labelled map in common.
    """
    return labels.agreement(*agreement)
