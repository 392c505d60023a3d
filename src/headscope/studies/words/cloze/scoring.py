"""The scores of a run, shard by shard, by this process or by several; checkpoints keep those that are done."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from headscope.cluster.channel import Json, TaskChannel, Tasks
from headscope.corpora.suites import ClozeItem
from headscope.outputs.words.answer_ranks import Answers, answer_pieces
from headscope.outputs.words.predictor import WordPredictor
from headscope.passes import Settings
from headscope.passes.accumulators import listed
from headscope.passes.coverage import Coverage
from headscope.passes.provenance import of_machine
from headscope.passes.read_parts import parts_by_workers, read_parts
from headscope.passes.shards import ReadShards
from headscope.storage.codec import encode
from headscope.storage.hashes import Fingerprint
from headscope.studies.words.cloze.item_scores import ItemScores, item_scores, joined

# Items of a shard.
ITEMS = 256
FOLD = listed(ItemScores)
Part = ReadShards[list[ItemScores]]


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
        reader = ItemShards(name, predictor, items, self.settings, self.plain)
        total, interrupted = read_parts(reader, FOLD, self.settings)
        if interrupted:
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


@dataclass
class ItemShards:
    """Reads items, which are scored by shards of equal size."""

    name: str
    predictor: WordPredictor
    items: Sequence[ClozeItem]
    settings: Settings
    plain: bool
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = answer_pieces(self.predictor.model, [item for item in self.items if not item.bad])

    def parts(self, done: Part) -> Generator[Part]:
        """The shards after those that are done, one after the other."""
        self.settings.on_progress(sum(len(item.candidates) for item in self.items[: done.coverage.inputs]))
        numbers = range(done.shards, -(-len(self.items) // ITEMS))
        if not self.settings.in_parts:
            yield from (self._read(number, self.settings) for number in numbers)
            return

        def do(number: int, channel: TaskChannel) -> Json:
            return encode(self._read(number, replace(self.settings, on_progress=channel.progress)))

        tasks = Tasks(do, numbers, "shard", self.fingerprint, self.settings.on_progress)
        yield from parts_by_workers(tasks, self.settings, self.predictor.model.device, FOLD)

    def unfinished(self) -> None:
        """Nothing: a shard is scored whole or not at all."""

    def fingerprint(self) -> Fingerprint:
        """All that the scores depend on beside the run."""
        texts = "\0".join(candidate.text for item in self.items for candidate in item.candidates)
        read = {"scores": self.name, "items": sha256(texts.encode()).hexdigest()}
        return read | of_machine(self.predictor.model, self.settings)

    def _read(self, number: int, settings: Settings) -> Part:
        shard = self.items[number * ITEMS : (number + 1) * ITEMS]
        scores = item_scores(self.predictor, shard, settings, plain=self.plain, answers=self.answers)
        return ReadShards([scores], 1, Coverage(len(shard), scores.tokens))
