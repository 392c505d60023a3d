"""Settings of a pass over a corpus, its journal, its larger batches on a GPU, and the types of other inputs."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import torch
from transformers import PreTrainedConfig

from headscope.cluster.channel import Engine
from headscope.corpora import Corpus
from headscope.encoding.encoder import Long
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.ranges import SETTINGS
from headscope.statistics.bootstrap import RESAMPLES
from headscope.storage.files import remove

if TYPE_CHECKING:
    import xarray as xr


BATCH_TOKENS = 2048
# Least seconds between checkpoints, and how many times the cost of one they are apart at least.
SECONDS, TIMES = 5.0, 100
# A pass of several studies that took as many times the least seconds is written for each of them.
LONG = 12


def nothing(*said: object) -> None:
    """Say nothing, or check nothing."""


@dataclass
class PassJournal:
    """The checkpoints of a run, whose passes over corpora always come in the same order.

    * `folder`: made at the first checkpoint; a run of a few seconds writes none.
    * `run`: what the numbers of all passes depend on.
    * `kept`: whether the checkpoints outlive the result, and so are written at the end of each pass, too.
    * `silent`: whether nothing is said of a pass that goes on from a checkpoint, as in a survey.
    * `read`: what other passes have read together with those of this run, by number, until it is taken.
    """

    folder: Path
    run: Mapping[str, str | int]
    kept: bool = False
    silent: bool = False
    passes: int = 0
    saved: float = field(default_factory=time.monotonic)
    cost: float = 0.0
    read: dict[int, Any] = field(default_factory=dict, repr=False)

    def has(self, number: int) -> bool:
        """Whether a pass has begun, or was read with others."""
        return number in self.read or (self.folder / f"pass-{number}").exists()

    def next_pass(self) -> Path:
        """The file of the next pass."""
        self.passes += 1
        return self.folder / f"pass-{self.passes}"

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint: all of them take less than 1% of a long run."""
        return time.monotonic() - self.saved >= max(SECONDS, TIMES * self.cost)

    def writes(self, seconds: float) -> bool:
        """Whether a pass of these seconds that was read with others is written; else it is kept in memory."""
        return self.kept or seconds > LONG * SECONDS

    @property
    def next_arrays(self) -> Path:
        """The folder of the arrays of the next pass."""
        return self.folder / f"arrays-{self.passes + 1}"

    def remove(self) -> None:
        """Remove the checkpoints, once the result is written."""
        remove(self.folder)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a pass over a corpus.

    * `long`: what becomes of inputs over the model's limit: "skip", "truncate" or "window".
    * `batch_tokens`: most tokens of a batch, padding included; it changes speed, not numbers. The default becomes
      larger on a GPU where attention is fused, see `fitting`.
    * `seed`, `resamples`: of the bootstrap.
    * `workers`: processes that read the corpus, each with one thread; by default this one, with torch's threads.
    * `engine`: where these processes are; by default they are forked on this machine.
    * `on_progress`: called with the number of inputs that were done since the last call; `on_total`: called with the
      number of inputs in total, once that is known.
    * `on_notice`: called with a line that is no error, such as that a damaged file is made anew.
    * `keep_interrupted`: on Ctrl-C, return the result of what was done, marked as `interrupted`.
    * `journal`: where passes keep checkpoints, from which the same run goes on; by default nowhere.

    Raises `HeadscopeError` for a value that is not among these.
    """

    long: Long = "skip"
    batch_tokens: int = BATCH_TOKENS
    seed: int = 0
    resamples: int = RESAMPLES
    workers: int = 1
    engine: Engine | None = field(default=None, repr=False)
    on_progress: Callable[[int], None] = field(default=nothing, repr=False)
    on_total: Callable[[int], None] = field(default=nothing, repr=False)
    on_notice: Callable[[str], None] = field(default=nothing, repr=False)
    keep_interrupted: bool = False
    journal: PassJournal | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.long not in get_args(Long):
            raise HeadscopeError(f"long '{self.long}' is unknown; use one of {', '.join(get_args(Long))}")
        for name, bounds in SETTINGS.items():
            bounds.check(name, getattr(self, name))

    @property
    def quiet(self) -> "Settings":
        """The settings of a part of a study that its progress does not count."""
        return replace(self, on_progress=nothing, on_total=nothing)

    @property
    def in_worker(self) -> bool:
        """Whether this process reads for another one, which computes the result."""
        return self.engine is not None and self.engine.in_worker

    @property
    def in_parts(self) -> bool:
        """Whether other processes than this one read the corpus."""
        return self.workers > 1 or self.engine is not None

    def as_attributes(self) -> dict[str, str | int]:
        """The settings that are stored with a result."""
        return {name: getattr(self, name) for name in ("long", "batch_tokens", "seed", "resamples")}


DEFAULTS = Settings()

# Types of the inputs of studies whose plain type alone does not say what they are; `front/inputs.py` makes them.
StudyResults = Annotated[
    Callable[..., Iterable[tuple[str, "xr.Dataset"]]],
    "results of other studies, by a function of model, corpus and settings",
]
Measures = Annotated[tuple[Any, ...], "measures of a user's own, in addition to those of the study"]
Directory = Annotated[Path, "folder of the result"]
ModelName = Annotated[str, "name of a model that the study loads itself"]
TokenizerName = Annotated[str, "name of a model whose tokenizer the study loads itself"]
Steps = Annotated[tuple[Any, ...], "the models of a training, by name or loaded, or the folder of a fine-tuning"]
Loading = Annotated[dict[str, Any], "how a study loads a model itself"]
StepLoading = Annotated[dict[str, Any], "how a study loads models that it only reads, in any number format"]
WordsModel = Annotated[Model, "with its head for masked or next words"]
Documents = Annotated[Corpus, "of which whole documents are read"]
Treebank = Annotated[Corpus, "of which whole documents are read, never the texts of a task"]
Training = Annotated[Corpus, "trained on; the other corpus is tested"]
ComparedCorpus = Annotated[Corpus, "read by several models; by default the examples of the task"]
OwnTexts = Annotated[Corpus, "read instead of the task's train split; by default the examples of the task"]


# Where a plain pass of BERT-base's shape on an H100 reads as many tokens a second as with twice as many in a batch.
MOST_TOKENS = 65_536
# Numbers of four bytes of a token: of each head (rows, keys and their copies), and times the widths of one layer.
OF_HEADS, OF_WIDTH, OF_INNER = 24, 16, 4


def fitting(settings: Settings, model: Model) -> Settings:
    """Settings with larger batches, where the default is asked for and fused kernels read a model on a GPU.

    It depends on the model and the kind of GPU alone, not on what else is in its memory: half of it is left free.
    """
    if settings.batch_tokens != BATCH_TOKENS or model.device.type != "cuda" or model.needs_map:
        return settings
    memory = torch.cuda.get_device_properties(model.device).total_memory
    weights = sum(weight.numel() * weight.element_size() for weight in model.network.parameters())
    tokens = most_tokens(memory // 2 - weights, sum(model.capture.heads), model.network.config)
    return replace(settings, batch_tokens=tokens)


def most_tokens(memory: int, heads: int, config: PreTrainedConfig) -> int:
    """The tokens of a batch that fit into this many bytes: a power of 2, from `BATCH_TOKENS` to `MOST_TOKENS`.

    >>> from transformers import BertConfig
    >>> [most_tokens(memory, 144, BertConfig()) for memory in (0, 4 * 2**30, 40 * 2**30)]
    [2048, 32768, 65536]
    """
    width = state_width(config)
    inner = getattr(config.get_text_config(), "intermediate_size", None) or 4 * width
    bytes_each = 4 * (OF_HEADS * heads + OF_WIDTH * width + OF_INNER * inner)
    return min(MOST_TOKENS, max(BATCH_TOKENS, 2 ** (max(1, memory // bytes_each).bit_length() - 1)))


def state_width(config: PreTrainedConfig) -> int:
    """The number of columns of a hidden state; 1,024 where the configuration does not say."""
    return int(getattr(config.get_text_config(), "hidden_size", 1024))
