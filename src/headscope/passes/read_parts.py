"""Parts that follow each other, added up: a checkpoint keeps those that are done, and so does Ctrl-C."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch

from headscope.cluster.channel import Engine, Tasks
from headscope.cluster.forked import ForkedEngine
from headscope.errors import ClusterLostError
from headscope.passes.checkpoints import Checkpoints
from headscope.passes.settings import Settings
from headscope.passes.shards import Fold, ReadShards, State
from headscope.statistics.bootstrap import Tally
from headscope.statistics.columns import Columns
from headscope.storage.codec import decode, encode
from headscope.storage.hashes import Fingerprint


class PartReader(Protocol[State]):
    """Reads parts that follow each other."""

    def fingerprint(self) -> Fingerprint:
        """What the numbers depend on, besides the run."""
        ...

    def parts(self, done: ReadShards[State], /) -> Generator[ReadShards[State]]:
        """The parts after those that are done, one after the other."""
        ...

    def unfinished(self) -> ReadShards[State] | None:
        """What was read of the open part, after Ctrl-C."""


def read_parts(reader: PartReader[State], fold: Fold[State], settings: Settings) -> tuple[ReadShards[State], bool]:
    """All parts from the last checkpoint of the settings' journal on, merged; workers get the total, too.

    Returns: the total, and whether it ends at Ctrl-C.

    Raises `KeyboardInterrupt` if nothing is read then, or partial results are not wanted.
    """
    checkpoints = Checkpoints(settings.journal, reader.fingerprint, fold, settings.on_notice)
    total, interrupted = checkpoints.restored, False
    try:
        with closing(_totals(reader, checkpoints, fold)) as totals:
            for total in totals:
                checkpoints.save(total)
        checkpoints.finish(total)
    except ClusterLostError:
        checkpoints.save(total, at_once=True)
        raise
    except KeyboardInterrupt:
        checkpoints.save(total, at_once=True)
        unfinished, interrupted = reader.unfinished(), True
        total = total.plus(unfinished, fold.merge) if unfinished else total
        if not (settings.keep_interrupted and total.coverage.inputs):
            raise
    if settings.engine is not None:
        # workers do not compute from a state with files
        kept = replace(total, state=checkpoints.nothing.state) if fold.files else total
        settings.engine.finish(lambda: encode(kept))
    return total, interrupted


def _totals(
    reader: PartReader[State], checkpoints: Checkpoints[State], fold: Fold[State]
) -> Generator[ReadShards[State]]:
    """The total so far, again after each part; from nothing where the first does not fit the checkpoint."""
    total, reason = checkpoints.restored, ""
    yield total
    with closing(reader.parts(total)) as parts:
        for part in parts:
            if total.state is checkpoints.restored.state and total.coverage.inputs and part.coverage.inputs:
                reason = misfit(total.state, part.state)
            if reason:
                break
            total = total.plus(part, fold.merge)
            yield total
    if reason:
        checkpoints.begin_anew(reason)
        yield from _totals(reader, checkpoints, fold)


def parts_by_workers(
    tasks: Tasks, settings: Settings, device: torch.device, fold: Fold[State]
) -> Generator[ReadShards[State]]:
    """The parts that are the values of tasks, with the same bits for any number of processes."""
    with closing(engine_for(settings, device).values(tasks)) as values:
        for json in values:
            yield decode(json, ReadShards[fold.kind])


def engine_for(settings: Settings, device: torch.device) -> Engine:
    """The engine of the settings; without one, processes on this machine.

    Raises `HeadscopeError` where processes cannot be forked with a model.
    """
    return settings.engine or ForkedEngine(settings.workers, device)


def misfit(kept: Any, new: Any) -> str:
    """The first difference in names or sizes between two states of one pass; "" if they can be merged.

    The rows of tables, the items of lists and the keys that are no names differ from shard to shard; a table without
    rows may have no columns either.

    >>> misfit(np.ones((2, 3)), np.ones((2, 4)))
    'has float64 [2, 3] instead of float64 [2, 4]'
    """
    if isinstance(kept, np.ndarray) and isinstance(new, np.ndarray):
        return _of_arrays(kept, new, kept.shape == new.shape)
    if isinstance(kept, Columns) and isinstance(new, Columns):
        pairs = ((getattr(kept, field.name), getattr(new, field.name)) for field in fields(new))
        return _first(_of_arrays(one, other, one.shape[1:] == other.shape[1:]) for one, other in pairs)
    if isinstance(kept, list) and isinstance(new, list):
        filled = next((table for table in new if isinstance(table, Columns) and len(table)), None)
        return _first(misfit(table, filled) for table in kept if filled is not None and len(table))
    if isinstance(kept, Mapping):
        return _of_mappings(kept, new)
    if is_dataclass(new) and kept is not None:
        return _first(misfit(getattr(kept, field.name), getattr(new, field.name)) for field in fields(new))
    return ""


def _of_mappings(kept: Mapping[Any, Any], new: Mapping[Any, Any]) -> str:
    names = [name for name in kept.keys() | new.keys() if isinstance(name, str)]
    for name in sorted(names):
        if name in kept and name in new:
            if reason := misfit(kept[name], new[name]):
                return reason
        elif isinstance(kept.get(name, new.get(name)), Tally):
            return f"{'has' if name in kept else 'lacks'} '{name[:40]}'"
    return ""


def _of_arrays(kept: np.ndarray, new: np.ndarray, fits: bool) -> str:
    if fits and kept.ndim == new.ndim and kept.dtype.kind == new.dtype.kind:
        return ""
    return f"has {kept.dtype} {list(kept.shape)} instead of {new.dtype} {list(new.shape)}"


def _first(reasons: Iterable[str]) -> str:
    return next(filter(None, reasons), "")
