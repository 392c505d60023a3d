"""A trained classifier on the disk: its weights and its card."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save

from headscope.storage.files import write_atomically
from headscope.studies.patterns.classifier.network import WEIGHTS, Classifier
from headscope.studies.patterns.training.model_card import page
from headscope.studies.patterns.training.scorecard import main_scores

PAGE = "MODEL_CARD.md"


def write(folder: Path, classifier: Classifier) -> dict[str, Path]:
    """Write `weights.safetensors`, as `classifier.load` reads them, and `MODEL_CARD.md`, each whole or not at all.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    state = {name: value.contiguous() for name, value in classifier.state_dict().items()}
    files = {WEIGHTS: save(state, {"card": json.dumps(classifier.card)}), PAGE: page(classifier.card).encode()}
    return {name: write_atomically(folder / name, content) for name, content in files.items()}


def summary(card: dict[str, Any]) -> dict[str, Any]:
    """The main scores of a card: of the classifier, the rule and the annotators, on texts that were not learnt from."""
    return {name: main_scores(card[name]) for name in ("cross_validation", "held_out")}
