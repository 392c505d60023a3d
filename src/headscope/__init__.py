"""headscope: what every attention head of a transformer does, which heads matter, and what fine-tuning changed.

The public names; each is imported when it is first used, so that reading a saved result needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from headscope.version import __version__

if TYPE_CHECKING:
    from headscope.corpora import Corpus, read
    from headscope.engine import Settings
    from headscope.errors import HeadscopeError
    from headscope.models import Model, load, wrap
    from headscope.report import write as write_report
    from headscope.results import read as open_result
    from headscope.results import save as save_result
    from headscope.studies.ablate.study import run as ablate
    from headscope.studies.clusters.study import run as clusters
    from headscope.studies.compare.study import run as compare
    from headscope.studies.coreference.study import run as coreference
    from headscope.studies.finetune.study import run as finetune
    from headscope.studies.gradients.study import run as gradients
    from headscope.studies.patterns.study import run as patterns
    from headscope.studies.probe.study import run as probe
    from headscope.studies.profile.study import run as profile
    from headscope.studies.prune.study import run as prune
    from headscope.studies.relations.study import run as relations
    from headscope.studies.syntax.study import run as syntax
    from headscope.tasks import Task
    from headscope.tasks import read as read_task

_PUBLIC = {
    "Corpus": ("corpora", "Corpus"),
    "HeadscopeError": ("errors", "HeadscopeError"),
    "Model": ("models", "Model"),
    "Settings": ("engine", "Settings"),
    "Task": ("tasks", "Task"),
    "ablate": ("studies.ablate.study", "run"),
    "clusters": ("studies.clusters.study", "run"),
    "compare": ("studies.compare.study", "run"),
    "coreference": ("studies.coreference.study", "run"),
    "finetune": ("studies.finetune.study", "run"),
    "gradients": ("studies.gradients.study", "run"),
    "load": ("models", "load"),
    "open_result": ("results", "read"),
    "patterns": ("studies.patterns.study", "run"),
    "probe": ("studies.probe.study", "run"),
    "profile": ("studies.profile.study", "run"),
    "prune": ("studies.prune.study", "run"),
    "read": ("corpora", "read"),
    "read_task": ("tasks", "read"),
    "relations": ("studies.relations.study", "run"),
    "save_result": ("results", "save"),
    "syntax": ("studies.syntax.study", "run"),
    "wrap": ("models", "wrap"),
    "write_report": ("report", "write"),
}

__all__ = [
    "Corpus",
    "HeadscopeError",
    "Model",
    "Settings",
    "Task",
    "__version__",
    "ablate",
    "clusters",
    "compare",
    "coreference",
    "finetune",
    "gradients",
    "load",
    "open_result",
    "patterns",
    "probe",
    "profile",
    "prune",
    "read",
    "read_task",
    "relations",
    "save_result",
    "syntax",
    "wrap",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'headscope' has no attribute '{name}'")
    module, attribute = _PUBLIC[name]
    return getattr(import_module(f"headscope.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
