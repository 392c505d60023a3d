"""The card of a trained classifier as a page of Markdown: scores, confusions, and how it was trained."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import save

from headscope.results.vocabulary import PATTERNS
from headscope.storage.files import write_atomically
from headscope.studies.heads.patterns.classifier import WEIGHTS, Classifier
from pattern_workshop.examples import FOLDS
from pattern_workshop.scorecard import main_scores

PARTS = {
    "cross_validation": "Cross-validation over texts: each map is told by learners that saw no map of its text",
    "held_out": "Held out: texts that nothing was learnt from and nothing was chosen by",
}
SCORES = ("accuracy", "macro_f1")
WHO = {
    "classifier": "classifier",
    "rule": "rule",
    "annotator_a": "annotator A",
    "annotator_b": "annotator B",
    "between_annotators": "annotator B against A",
}


def page(card: Mapping[str, Any]) -> str:
    """The card of a classifier as Markdown."""
    return "\n".join([*_scores(card), *_calibration(card), *_recipe(card)])


def _scores(card: Mapping[str, Any]) -> Iterator[str]:
    yield "# How well the classifier tells patterns\n"
    yield "Scores on labelled maps, with 95% bootstrap intervals over texts. Beside it a rule that has a threshold for"
    yield "each of three numbers (column, diagonal, even squares), each annotator against the final label, to which"
    yield "both contributed, and one annotator against the other: the agreement of two readers.\n"
    for name, title in PARTS.items():
        part = card[name]
        counted = part["classifier"]["n_by_class"]
        yield f"## {title.split(':')[0]}\n"
        yield f"{title.split(': ')[1].capitalize()}. {part['classifier']['n']} maps."
        yield f"macro-F1 is over {_words(part['classifier']['macro_f1_over'])}, which have 10 maps or more in all.\n"
        yield from _table(
            ["", "accuracy", "macro-F1", *(f"F1 {_word(pattern)} ({counted[pattern]})" for pattern in PATTERNS)],
            ([words, *_row(part[who])] for who, words in WHO.items() if who in part),
        )
        yield "Labels in rows, what the classifier says in columns:\n"
        confusion = part["classifier"]["confusion"]
        rows = ([_word(label), *(str(confusion[label][predicted]) for predicted in PATTERNS)] for label in PATTERNS)
        yield from _table(["", *map(_word, PATTERNS)], rows)
    if "parts" in card:
        yield from _parts(card["parts"])


def _parts(parts: Mapping[str, Any]) -> Iterator[str]:
    yield "## Random maps and boundary maps apart\n"
    yield "Random maps have the natural mixture of patterns; boundary maps were chosen where an earlier classifier"
    yield "hesitated.\n"
    rows = [
        [
            f"{name} maps, {side.replace('_', ' ').replace('cross ', 'cross-')} ({part['classifier']['n']})",
            words,
            *_row(part[who]),
        ]
        for name, sides in parts.items()
        for side, part in sides.items()
        for who, words in WHO.items()
        if who in part
    ]
    yield from _table(
        ["maps", "", "accuracy", "macro-F1", *(f"F1 {_word(pattern)}" for pattern in PATTERNS)], iter(rows)
    )


def _calibration(card: Mapping[str, Any]) -> Iterator[str]:
    yield "## Calibration\n"
    labels = "the labels of random maps" if "parts" in card else "the labels"
    yield f"Logits are divided by {card['temperature']:.2f}, at which {labels} are most likely in cross-validation."
    if "shares" in card:
        yield from _shares(card["shares"])
    errors = " and ".join(
        f"{card[name]['classifier']['calibration_error']:.3f} ({name.replace('_', ' ').replace('cross ', 'cross-')})"
        for name in PARTS
    )
    yield f"Expected calibration error, ten bins of confidence: {errors}.\n"


def _shares(shares: Mapping[str, Any]) -> Iterator[str]:
    """How near the shares of patterns come to those of the labels."""
    words = {"labels": "labels", "counted": "most probable pattern", "unweighted": "mean probability", "share": "share"}
    yield "Shares are mean probabilities with the odds of patterns multiplied by rates that suit random maps. Of"
    yield f"{shares['n']} random maps, each told by learners that saw no map of its text, at rates from other folds"
    yield "(distance: the sum of absolute differences from the labels):\n"
    rows = [
        [words[name], *(f"{share:.3f}" for share in shares[name]), f"{shares['distance'].get(name, 0):.3f}"]
        for name in words
    ]
    yield from _table(["", *map(_word, PATTERNS), "distance"], iter(rows))


def _recipe(card: Mapping[str, Any]) -> Iterator[str]:
    recipe = card["recipe"]
    yield "## Training\n"
    yield f"Maps are split by text into {FOLDS} folds, by a hash of the text. One is held out; the others take turns"
    yield f"in cross-validation, which chose to stop after {recipe['stopped_at']} batches, and the temperature. The"
    yield f"weights are learnt from the {len(card['texts'])} texts that are not held out. Seed {card['seed']};"
    yield f"{', '.join(f'{name} {value}' for name, value in recipe.items() if name != 'stopped_at')}.\n"


def _row(scores: Mapping[str, Any]) -> list[str]:
    with_bounds = [
        f"{scores[name]:.3f} [{', '.join(f'{bound:.2f}' for bound in scores[f'{name}_ci'])}]" for name in SCORES
    ]
    return [*with_bounds, *(f"{scores['f1'][pattern]:.2f}" for pattern in PATTERNS)]


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"
    yield ""


def _words(patterns: Sequence[str]) -> str:
    return ", ".join(map(_word, patterns))


def _word(pattern: str) -> str:
    return pattern.replace("_", " + ")


PAGE = "MODEL_CARD.md"


def write(folder: Path, classifier: Classifier) -> dict[str, Path]:
    """Write `weights.safetensors`, as `classifier.load` reads them, and `MODEL_CARD.md`, each whole or not at all.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    state = {name: value.contiguous() for name, value in classifier.state_dict().items()}
    files = {WEIGHTS.name: save(state, {"card": json.dumps(classifier.card)}), PAGE: page(classifier.card).encode()}
    return {name: write_atomically(folder / name, content) for name, content in files.items()}


def summary(card: dict[str, Any]) -> dict[str, Any]:
    """The main scores of a card: of the classifier, the rule and the annotators, on texts that were not learnt from."""
    return {name: main_scores(card[name]) for name in ("cross_validation", "held_out")}
