"""Labelling: maps of attention shown one at a time on a local page, labelled by keyboard."""

from headscope.studies.patterns.labels.agreement import agreement
from headscope.studies.patterns.labels.sample import sampled
from headscope.studies.patterns.labels.server import application, serve
from headscope.studies.patterns.labels.session import Session, opened

__all__ = ["Session", "agreement", "application", "opened", "sampled", "serve"]
