"""Corpora: what a model reads, one reader per file."""

from headscope.corpora._corpus import Corpus, read
from headscope.corpora._options import Options

__all__ = ["Corpus", "Options", "read"]
