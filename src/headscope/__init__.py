"""headscope: what every attention head of a transformer does, which heads matter, and what fine-tuning changed.

The public names; each is imported when it is first used, so that reading a saved result needs no torch.
"""

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING

from headscope.errors import suggest
from headscope.front.arguments import answering
from headscope.front.notebook import show_results_in_notebooks
from headscope.version import __version__

if TYPE_CHECKING:
    from headscope.capture.attention_statistics import attention_statistics
    from headscope.corpora import Corpus, read
    from headscope.corpora.tasks import Task
    from headscope.corpora.tasks import read as read_task
    from headscope.encoding.batch import Values
    from headscope.errors import HeadscopeError
    from headscope.front.api import Study
    from headscope.front.attentions import attentions
    from headscope.front.claims import claims
    from headscope.front.importances import importances
    from headscope.front.reproduction import reproduce
    from headscope.front.survey.in_python import survey, survey_plan
    from headscope.front.views import export_page, show
    from headscope.models import Model, load, wrap
    from headscope.papers.citations import cite
    from headscope.passes import Settings
    from headscope.report import write as write_report
    from headscope.report.joined_corpora import join_corpora, kinds_by_corpus
    from headscope.report.joined_seeds import join_seeds
    from headscope.report.notebook import plot
    from headscope.results import read as open_result
    from headscope.results import save as save_result
    from headscope.results.tables import variable_table as tidy
    from headscope.results.variables import Variable
    from headscope.studies.training.film.watch import Watch
    from headscope.testing.measure_laws import check_measure

    ablate: Study
    attributions: Study
    cloze: Study
    clusters: Study
    contacts: Study
    compare: Study
    coreference: Study
    film: Study
    finetune: Study
    geometry: Study
    gradients: Study
    induction: Study
    kv: Study
    landscape: Study
    layers: Study
    lens: Study
    patterns: Study
    pretrain: Study
    pretrain_head: Study
    probe: Study
    profile: Study
    prune: Study
    relations: Study
    shrink: Study
    structure: Study
    syntax: Study
    trees: Study

_PUBLIC = {
    "Corpus": ("corpora", "Corpus"),
    "HeadscopeError": ("errors", "HeadscopeError"),
    "Model": ("models", "Model"),
    "Settings": ("passes", "Settings"),
    "Task": ("corpora.tasks", "Task"),
    "Values": ("encoding.batch", "Values"),
    "Variable": ("results.variables", "Variable"),
    "Watch": ("studies.training.film.watch", "Watch"),
    "attention_statistics": ("capture.attention_statistics", "attention_statistics"),
    "claims": ("front.claims", "claims"),
    "cite": ("papers.citations", "cite"),
    "attentions": ("front.attentions", "attentions"),
    "importances": ("front.importances", "importances"),
    "check_measure": ("testing.measure_laws", "check_measure"),
    "export_page": ("front.views", "export_page"),
    "join_corpora": ("report.joined_corpora", "join_corpora"),
    "join_seeds": ("report.joined_seeds", "join_seeds"),
    "kinds_by_corpus": ("report.joined_corpora", "kinds_by_corpus"),
    "load": ("models", "load"),
    "open_result": ("results", "read"),
    "plot": ("report.notebook", "plot"),
    "read": ("corpora", "read"),
    "read_task": ("corpora.tasks", "read"),
    "reproduce": ("front.reproduction", "reproduce"),
    "save_result": ("results", "save"),
    "show": ("front.views", "show"),
    "survey": ("front.survey.in_python", "survey"),
    "survey_plan": ("front.survey.in_python", "survey_plan"),
    "tidy": ("results.tables", "variable_table"),
    "wrap": ("models", "wrap"),
    "write_report": ("report", "write"),
}

__all__ = [
    "Corpus",
    "HeadscopeError",
    "Model",
    "Settings",
    "Task",
    "Values",
    "Variable",
    "Watch",
    "__version__",
    "ablate",
    "attention_statistics",
    "attentions",
    "attributions",
    "check_measure",
    "cite",
    "claims",
    "cloze",
    "clusters",
    "compare",
    "contacts",
    "coreference",
    "export_page",
    "film",
    "finetune",
    "geometry",
    "gradients",
    "importances",
    "induction",
    "join_corpora",
    "join_seeds",
    "kinds_by_corpus",
    "kv",
    "landscape",
    "layers",
    "lens",
    "load",
    "open_result",
    "patterns",
    "plot",
    "pretrain",
    "pretrain_head",
    "probe",
    "profile",
    "prune",
    "read",
    "read_task",
    "relations",
    "reproduce",
    "save_result",
    "show",
    "shrink",
    "structure",
    "survey",
    "survey_plan",
    "syntax",
    "tidy",
    "trees",
    "wrap",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        module, attribute = _PUBLIC[name]
        value = getattr(import_module(f"headscope.{module}"), attribute)
        return answering(name, value) if isfunction(value) else value
    if name in _studies():
        return import_module("headscope.front.api").study(name)
    near = [public for public in __dir__() if not {*public.split("_")}.isdisjoint(name.split("_"))]
    names = suggest("" if near else name, near or __dir__())
    raise AttributeError(f"module 'headscope' has no attribute '{name}'; {names}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_studies()})


def _studies() -> list[str]:
    return import_module("headscope.catalog").names("studies")


show_results_in_notebooks()
