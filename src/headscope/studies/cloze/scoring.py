"""The scores of a run, shard by shard: a checkpoint keeps those that are done, and so does Ctrl-C."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from headscope.corpora.suites import ClozeItem
from headscope.engine import Settings
from headscope.engine.accumulators import ListAccumulator
from headscope.engine.coverage import Coverage
from headscope.engine.fingerprint import of_machine
from headscope.engine.pass_journal import NoCheckpoints
from headscope.engine.shards import Fold, ReadShards
from headscope.engine.words.answer_ranks import answer_pieces
from headscope.engine.words.logits import WordPredictor
from headscope.studies.cloze.item_scores import ItemScores, item_scores, joined

# Items of a shard.
ITEMS = 256
FOLD = Fold(partial(ListAccumulator, lambda group: None), operator.add, list[ItemScores], listed=True)


@dataclass
class Scoring:
    """Scores of items by a model, by other models and of changed texts, in an order that is always the same.

    * `plain`: see `text_scores`.
    * `interrupted`: how far the scoring was when Ctrl-C came; empty without one.
    """

    settings: Settings
    plain: bool
    interrupted: str = ""

    def scores(self, name: str, predictor: WordPredictor, items: Sequence[ClozeItem]) -> ItemScores:
        """The scores of the items; after Ctrl-C those of the first ones.

        * `name`: of what is scored, for the notice.

        Raises `KeyboardInterrupt` if none is scored, or partial results are not wanted.
        """
        answers = answer_pieces(predictor.model, [item for item in items if not item.bad])
        checkpoints = self._checkpoints(name, predictor, items)
        total = checkpoints.restored
        self.settings.on_progress(sum(len(item.candidates) for item in items[: total.coverage.inputs]))
        try:
            for first in range(total.coverage.inputs, len(items), ITEMS):
                shard = items[first : first + ITEMS]
                scores = item_scores(predictor, shard, self.settings, plain=self.plain, answers=answers)
                part = ReadShards([scores], 1, Coverage(len(shard), scores.tokens))
                total = total.plus(part, FOLD.merge)
                checkpoints.save(total)
        except KeyboardInterrupt:
            checkpoints.save(total, at_once=True)
            if not (self.settings.keep_interrupted and total.shards):
                raise
            self.interrupted = f"after {total.coverage.inputs} of {len(items)} items ({name})"
        return joined(total.state)

    def complete(self, name: str, predictor: WordPredictor, items: Sequence[ClozeItem]) -> dict[str, ItemScores]:
        """The scores of all items by their name; empty after Ctrl-C, which may have come before."""
        if self.interrupted:
            return {}
        try:
            scores = self.scores(name, predictor, items)
        except KeyboardInterrupt:
            if not self.settings.keep_interrupted:
                raise
            self.interrupted = f"before {name} were scored"
            return {}
        return {} if self.interrupted else {name: scores}

    def _checkpoints(
        self, name: str, predictor: WordPredictor, items: Sequence[ClozeItem]
    ) -> NoCheckpoints[list[ItemScores]]:
        if self.settings.journal is None:
            return NoCheckpoints(FOLD)
        texts = "\0".join(candidate.text for item in items for candidate in item.candidates)
        fingerprint = {"scores": name, "items": sha256(texts.encode()).hexdigest()}
        return self.settings.journal.begin(fingerprint | of_machine(predictor.model, self.settings), FOLD)
