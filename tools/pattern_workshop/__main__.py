"""The commands of the workshop: `label`, `agreement` and `train`; each prints one JSON object."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import headscope
from headscope.errors import HeadscopeError
from headscope.passes import Settings
from headscope.storage.files import remove_unfinished
from headscope.storage.run_lock import run_lock
from headscope.studies.heads.patterns import labelled_maps
from pattern_workshop import annotators, model_card, server, written_maps
from pattern_workshop import train as training
from pattern_workshop.curriculum import RECIPE
from pattern_workshop.sample import sampled


def label(options: argparse.Namespace) -> dict[str, Any]:
    """Serve the maps of a folder until Ctrl-C; a folder without maps gets maps of the model and the texts first."""
    folder = options.out
    if not (folder / labelled_maps.ARRAYS).is_file():
        with run_lock(folder, "pattern_workshop label"):
            remove_unfinished(folder / labelled_maps.ARRAYS)
            if not options.model or not options.texts:
                raise HeadscopeError(f"'{folder}' has no maps to label; name a model and texts, or a folder with -o")
            corpora = [headscope.read(source, limit=options.limit) for source in options.texts]
            maps = sampled(headscope.load(options.model), corpora, options.number, Settings(seed=options.seed))
            written_maps.write(folder, maps)
    path = annotators.label_path(folder, options.annotator)
    with run_lock(folder / f".{path.name}", "pattern_workshop label"):  # annotators may label at once
        remove_unfinished(path)
        session = annotators.opened(folder, options.annotator)
        server.serve(session, options.port, lambda address: print(address, file=sys.stderr, flush=True))
    return {"labels": str(session.path), "labelled": sum(map(bool, session.labels)), "maps": len(session.maps)}


def agreement(options: argparse.Namespace) -> dict[str, Any]:
    """The agreement of two files of labels of the same maps."""
    return annotators.agreement(options.first, options.second)


def train(options: argparse.Namespace) -> dict[str, Any]:
    """Train a classifier on a folder of labelled maps; write its weights and their card."""
    with run_lock(options.out, "pattern_workshop train"):
        classifier = training.train(labelled_maps.read(options.maps), options.seed, RECIPE)
        files = model_card.write(options.out, classifier)
    return {name: str(path) for name, path in files.items()} | model_card.summary(classifier.card)


def parser() -> argparse.ArgumentParser:
    """The arguments of the three commands."""
    commands = argparse.ArgumentParser(prog="pattern_workshop", description=__doc__)
    verbs = commands.add_subparsers(required=True)
    for run in (label, agreement, train):
        verb = verbs.add_parser(run.__name__, help=run.__doc__)
        verb.set_defaults(run=run)
        if run is label:
            verb.add_argument("model", nargs="?")
            verb.add_argument("texts", nargs="*")
            verb.add_argument("--number", type=int, default=100, help="number of maps")
            verb.add_argument("--limit", type=int, help="read at most this number of examples of each corpus")
            verb.add_argument("--annotator", default="", help="name, where several label the same maps")
            verb.add_argument("--port", type=int, default=0, help="of the local page; 0 for any free port")
        if run is agreement:
            verb.add_argument("first", type=Path)
            verb.add_argument("second", type=Path)
        if run is train:
            verb.add_argument("maps", type=Path)
        if run is not agreement:
            verb.add_argument("-o", "--out", type=Path, required=True, help="folder that is written")
            verb.add_argument("--seed", type=int, default=0)
    return commands


def main(words: list[str] | None = None) -> None:
    """Run a command; what a user can mend is one line and status 2."""
    options = parser().parse_args(words)
    try:
        print(json.dumps(options.run(options), ensure_ascii=False))
    except HeadscopeError as error:
        sys.exit(print(f"error: {error}", file=sys.stderr) or 2)


if __name__ == "__main__":
    main()
