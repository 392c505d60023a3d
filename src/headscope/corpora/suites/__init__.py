"""Suites of cloze items: pairs of sentences and gaps with their answers, read from files or generated."""

from headscope.corpora.suites.item import Candidate, ClozeItem
from headscope.corpora.suites.suite import Suite, read_suites

__all__ = ["Candidate", "ClozeItem", "Suite", "read_suites"]
