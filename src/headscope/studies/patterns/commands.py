"""Further commands of `patterns`: train and score the classifier, label maps, compare labels."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from headscope import models
from headscope.corpora import Corpus
from headscope.passes.settings import Directory, Loading, ModelName, ReadingSettings, SeedSettings
from headscope.ranges import Range
from headscope.storage.files import remove_unfinished
from headscope.storage.run_lock import run_lock
from headscope.studies.patterns import labels
from headscope.studies.patterns.classifier import network
from headscope.studies.patterns.labels import labelled_maps
from headscope.studies.patterns.training import evaluate as evaluation
from headscope.studies.patterns.training import model_card
from headscope.studies.patterns.training import train as training
from headscope.studies.patterns.training.curriculum import RECIPE


def train(maps: Path, directory: Directory, settings: SeedSettings) -> dict[str, Any]:
    """Train a classifier on a folder of labelled maps.

    Returns: the paths of the weights and of their card, and the scores on texts that were held out.

    Arguments:

    * `maps`: Folder of labelled maps: maps.npz and labels.jsonl.
    * `directory`: Folder of the weights.
    * `settings`: Seed and progress.

    Raises `HeadscopeError` if the folder has too few labelled maps, or another run is in `directory`.
    """
    with run_lock(directory, "headscope patterns train"):
        classifier = training.train(
            labelled_maps.read(maps), settings.seed, RECIPE, settings.on_progress, settings.on_total
        )
        files = model_card.write(directory, classifier)
    return {name: str(path) for name, path in files.items()} | model_card.summary(classifier.card)


def evaluate(maps: Path, weights: Path | None = None) -> dict[str, Any]:
    """Score the classifier on a folder of labelled maps.

    Returns: `accuracy`, `macro_f1` and `f1` by pattern, with intervals over texts.

    Arguments:

    * `maps`: Folder of labelled maps: maps.npz and labels.jsonl.
    * `weights`: Classifier that `headscope patterns train` wrote; by default the built-in classifier.

    Raises `HeadscopeError` if the folder has no labelled maps.
    """
    return evaluation.evaluate(labelled_maps.read(maps), network.load(weights))


def label(
    checkpoint: ModelName,
    loading: Loading,
    read_corpora: Callable[[], tuple[Corpus, ...]],
    directory: Directory,
    settings: ReadingSettings,
    *,
    number: Annotated[int, Range(1, 10_000)] = 100,
    annotator: str = "",
    port: Annotated[int, Range(0, 65535)] = 0,
) -> dict[str, Any]:
    """Label maps of MODEL and CORPUS in the browser until Ctrl-C, or the maps of a folder that is named as MODEL.

    Maps are sampled once; labels are saved one by one, and the next call goes on from there.

    Returns: the file of the labels, the number of labelled maps, and the number of maps.

    Arguments:

    * `checkpoint`: Name of a model, or a folder of maps.
    * `loading`: Device and revision of the model.
    * `read_corpora`: Reads the corpora.
    * `directory`: Folder of the maps.
    * `settings`: Seed, batch size and progress.
    * `number`: Number of maps to label.
    * `annotator`: Name of the annotator, where several label the same maps.
    * `port`: Port of the local page; 0 for any free port.

    Raises `HeadscopeError` if there is nothing to label, the port is taken, or the same annotator labels these maps in
    another run.
    """
    run = "headscope patterns label"
    folder = next((path for path in (Path(checkpoint), directory) if (path / labelled_maps.ARRAYS).is_file()), None)
    if folder is None:
        folder = directory
        with run_lock(folder, run):
            remove_unfinished(folder / labelled_maps.ARRAYS)
            model = models.load(checkpoint, **loading)
            labelled_maps.write(folder, labels.sampled(model, read_corpora(), number, settings))
    path = labels.label_path(folder, annotator)
    with run_lock(folder, run, file=f".{path.name}.lock"):  # annotators may label the same maps at once
        remove_unfinished(path)
        session = labels.opened(folder, annotator)
        labels.serve(session, port, lambda address: print(address, file=sys.stderr, flush=True))
    return {"labels": str(session.path), "labelled": sum(map(bool, session.labels)), "maps": len(session.maps)}


def agreement(first: Path, second: Path) -> dict[str, Any]:
    """Compare two files of labels of the same maps.

    Returns: `n_maps`, `agreement` (share of maps), `kappa` (Cohen), and `differ`, the differing labels with counts.

    Arguments:

    * `first`: Labels of one annotator.
    * `second`: Labels of another annotator.

    Raises `HeadscopeError` if they have no labelled map in common.
    """
    return labels.agreement(first, second)
