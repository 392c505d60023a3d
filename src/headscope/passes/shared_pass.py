"""One pass for several studies: what each would read of a corpus by itself, read together.

A study declares its first pass by a function `first_pass` beside `run`, with arguments of the same names, and by
`random_seeds` the models of random weights that it reads after it, in the same way or by its `random_pass`. Each study
goes on from the end of its part of a shared pass: its numbers are those of the study alone, to the bit.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any

import torch

from headscope import catalog
from headscope.cluster.channel import TaskChannel
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import OF_WORDS, Words
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.random_weights import SEEDS, untrained
from headscope.passes.checkpoints import Checkpoints
from headscope.passes.forward import share
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import PassJournal, Settings
from headscope.passes.shards import Accumulator, Fold, OpenShard, ReadShards
from headscope.storage.lines import Record

ALIGNED = "words"  # of a fingerprint: whether inputs say which tokens their words have
Parts = tuple[ReadShards[Any], ...]
Passes = Sequence[PlannedPass[Any]]
# The settings of a pass for some studies, and of its number: its journal, its engine and its progress.
SettingsOf = Callable[[Mapping[str, PlannedPass[Any]], int], AbstractContextManager[Settings]]


def read_shared(arguments: Mapping[str, Mapping[str, Any]], settings_of: SettingsOf | None = None) -> None:
    """Read a corpus once for all studies that can share a pass, so that each goes on from the end of its own.

    The trained model is read first, then those of random weights, one after the other.

    * `arguments`: those of `run` of each study; the settings have its journal.
    * `settings_of`: by default those of the first study, with a journal beside its own.
    """
    for number in range(1 + SEEDS):
        _read_number(arguments, settings_of or _of_first, number)  # no name holds its model while the next is made


def _read_number(arguments: Mapping[str, Mapping[str, Any]], settings_of: SettingsOf, number: int) -> None:
    for group in alike(passes_of(arguments, number)):
        with settings_of(group, number) as settings:
            read_together(list(group.values()), settings)


def _of_first(group: Mapping[str, PlannedPass[Any]], number: int) -> AbstractContextManager[Settings]:
    settings, name = next(iter(group.values())).settings, "-".join([*group, *([str(number)] if number else [])])
    journal = settings.journal and PassJournal(
        settings.journal.folder.with_name(name), {**settings.journal.run, "study": name}
    )
    return nullcontext(replace(settings, journal=journal))


def passes_of(arguments: Mapping[str, Mapping[str, Any]], number: int) -> dict[str, PlannedPass[Any]]:
    """The first pass of each study, or, with a number from 1, that of its model of random weights with this number."""
    passes = dict[str, PlannedPass[Any]]()
    for study, values in (_with_random_weights(arguments, number) if number else arguments).items():
        with suppress(HeadscopeError):  # it says so when it runs
            if planned := first_pass(study, values, number):
                passes[study] = planned
    return passes


def _with_random_weights(arguments: Mapping[str, Mapping[str, Any]], number: int) -> dict[str, dict[str, Any]]:
    """The arguments of studies that read a model of random weights with this number, and that model as theirs."""
    seeds = {study: _of(study, ["random_seeds"], values) or () for study, values in arguments.items()}
    reading = [study for study, known in seeds.items() if number <= len(known)]
    models, changed = dict[tuple[int, int], Model](), dict[str, dict[str, Any]]()
    for study in reading if len(reading) > 1 else ():
        trained, seed = arguments[study]["model"], seeds[study][number - 1]
        key = (id(trained.network), seed)
        with suppress(HeadscopeError):
            models[key] = models.get(key) or untrained(trained, seed)
            changed[study] = {**arguments[study], "model": models[key]}
    return changed


def first_pass(study: str, arguments: Mapping[str, Any], number: int = 0) -> PlannedPass[Any] | None:
    """The pass that a study declares as its first, or the same of a later number; None if it has begun.

    Raises `HeadscopeError` if the study refuses what it is given.
    """
    settings = arguments["settings"].quiet
    journal = settings.journal and replace(settings.journal, passes=number)
    if journal and journal.has(number + 1):
        return None
    silent = replace(settings, journal=journal, on_notice=lambda line: None)
    names = ("random_pass", "first_pass") if number else ("first_pass",)
    return _of(study, names, {**arguments, "settings": silent})


def _of(study: str, names: Sequence[str], arguments: Mapping[str, Any]) -> Any:
    """What the first of some functions that a study has gives for the arguments of `run`; None if it has none."""
    module = catalog.load("studies", study)
    function = next((getattr(module, name) for name in names if hasattr(module, name)), None)
    return function and function(**arguments_of(function, module.run, arguments))


def arguments_of(function: Callable[..., Any], run: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function that a study has beside its `run`, which has their defaults."""
    arguments = {name: parameter.default for name, parameter in signature(run).parameters.items()} | {**values}
    names = signature(function).parameters
    takes_all = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in names.values())
    return {name: value for name, value in arguments.items() if takes_all or name in names}


def alike(passes: Mapping[str, PlannedPass[Any]]) -> list[dict[str, PlannedPass[Any]]]:
    """Groups of two passes or more that can be shared, by study: of one network, with equal settings."""
    groups = defaultdict[object, dict[str, PlannedPass[Any]]](dict)
    for study, planned in passes.items():
        fingerprint = {name: value for name, value in planned.fingerprint().items() if name != ALIGNED}
        groups[id(planned.model.network), *sorted(fingerprint.items())][study] = planned
    return [group for group in groups.values() if len(group) > 1]


def read_together(passes: Passes, settings: Settings) -> None:
    """Read once for studies whose passes are `alike`, by the settings of the shared pass; each then has its part.

    Raises `KeyboardInterrupt` after Ctrl-C, when the next call goes on from a checkpoint.
    """
    first, words = passes[0], _words(passes)
    share([planned.fold.forward for planned in passes if planned.fold.forward is not None])
    fold = _joint(passes, words)
    run = replace(first.settings, keep_interrupted=False, engine=settings.engine)
    run = replace(run, on_progress=settings.on_progress, on_notice=settings.on_notice)
    joint = PlannedPass(first.model, first.corpus, words, run, fold, first.pad_to)
    # the end of the only part is no checkpoint: each study has it at once
    total, _ = read_parts(joint, fold, replace(run, journal=settings.journal if joint.n_parts > 1 else None))
    first.corpus.refuse_changed()
    first.model.refuse_changed()
    for planned, part in zip(passes, () if settings.in_worker else total.state, strict=False):
        if journal := planned.settings.journal:
            Checkpoints(journal, planned.fingerprint, planned.fold, planned.settings.on_notice).hand_on(part)


def _words(passes: Passes) -> Words:
    """An encoder that aligns words and tokens if any study needs it."""
    encoders = [planned.words for planned in passes]
    return replace(encoders[0], aligned=any(words.aligned for words in encoders), counts=Counter())


def _joint(passes: Passes, words: Words) -> Fold[Parts]:
    """The fold whose state has the part of each study."""
    folds = [planned.fold for planned in passes]

    def merge(first: Parts, second: Parts) -> Parts:
        return tuple(a.plus(b, fold.merge) for a, b, fold in zip(first, second, folds, strict=True))

    def refuse_damaged(parts: Parts) -> None:
        for part, fold in zip(parts, folds, strict=True):
            fold.refuse_damaged(part.state)

    def start() -> "_SharedShard":
        return _SharedShard(passes, words, [fold.start() for fold in folds])

    kind: Any = tuple[tuple(ReadShards[fold.kind] for fold in folds)]  # type: ignore[misc]
    files = _SharedFiles(passes, words) if any(fold.files for fold in folds) else None
    return Fold(start, merge, kind, refuse_damaged=refuse_damaged, files=files)


class _SharedShard:
    """A shard that each study adds up in its own way, with its own counts of what is left out."""

    def __init__(self, passes: Passes, words: Words, accumulators: Sequence[Accumulator[Any]]):
        self.words, self.before = words, Counter(words.counts)
        self.aligned = [planned.words.aligned for planned in passes]
        self.open = [
            OpenShard(accumulator, planned.words.counts, causal=not planned.model.capture.looks_ahead)
            for accumulator, planned in zip(accumulators, passes, strict=True)
        ]

    def add(self, group: list[Encoded]) -> None:
        with torch.inference_mode():
            for part in self.open:
                part.add(group)

    def state(self) -> Parts:
        """The part of each study."""
        encoded = self.words.counts - self.before
        without_words = Counter({reason: count for reason, count in encoded.items() if reason not in OF_WORDS})
        counts = [encoded if aligned else without_words for aligned in self.aligned]
        parts = zip([shard.part(1) for shard in self.open], counts, strict=True)
        return tuple(replace(part, counts=count + part.counts) for part, count in parts)


@dataclass(frozen=True)
class _SharedFiles:
    """The files of all studies; a piece says whose it is. See `StateFiles`."""

    passes: Passes
    words: Words

    def sending(self, channel: TaskChannel) -> _SharedShard:
        folds = [planned.fold for planned in self.passes]
        started = [
            fold.files.sending(_PartChannel(channel, number)) if fold.files else fold.start()
            for number, fold in enumerate(folds)
        ]
        return _SharedShard(self.passes, self.words, started)

    def receive(self, task: int, piece: Record) -> None:
        files = self.passes[piece["part"]].fold.files
        if files:
            files.receive(task, {name: value for name, value in piece.items() if name != "part"})


class _PartChannel(TaskChannel):
    """The channel of a shared task for the files of one study."""

    def __init__(self, channel: TaskChannel, number: int):
        super().__init__(channel.connection)
        self.number = number

    def piece(self, **piece: Any) -> None:
        """Send a piece of the file of this study."""
        super().piece(**piece, part=self.number)
