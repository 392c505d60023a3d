"""Labelling: maps of attention shown one at a time on a local page, labelled by keyboard."""

from headscope.labelling.agreement import agreement
from headscope.labelling.sample import sampled
from headscope.labelling.server import application, serve
from headscope.labelling.session import Session, opened

__all__ = ["Session", "agreement", "application", "opened", "sampled", "serve"]
