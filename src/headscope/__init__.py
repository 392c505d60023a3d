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
    from headscope.studies.finetune.study import run as finetune
    from headscope.studies.gradients.study import run as gradients
    from headscope.studies.probe.study import run as probe
    from headscope.studies.profile.study import run as profile
    from headscope.studies.prune.study import run as prune
    from headscope.tasks import Task
    from headscope.tasks import read as read_task


_PUBLIC = {
    "Corpus": ("corpora", "Corpus"),
    "HeadscopeError": ("errors", "HeadscopeError"),
    "Model": ("models", "Model"),
    "Settings": ("engine", "Settings"),
    "Task": ("tasks", "Task"),
    "ablate": ("studies.ablate", "run"),
    "clusters": ("studies.clusters", "run"),
    "compare": ("studies.compare", "run"),
    "finetune": ("studies.finetune", "run"),
    "gradients": ("studies.gradients", "run"),
    "load": ("models", "load"),
    "open_result": ("results", "read"),
    "probe": ("studies.probe", "run"),
    "profile": ("studies.profile", "run"),
    "prune": ("studies.prune", "run"),
    "read": ("corpora", "read"),
    "read_task": ("tasks", "read"),
    "save_result": ("results", "save"),
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
    "finetune",
    "gradients",
    "load",
    "open_result",
    "probe",
    "profile",
    "prune",
    "read",
    "read_task",
    "save_result",
    "wrap",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'headscope' has no attribute '{name}'")
    module, attribute = _PUBLIC[name]
    return getattr(import_module(f"headscope.{module}"), attribute)
