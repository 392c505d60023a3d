"""Corpora: what a model reads, one reader per file."""

from headscope.corpora.corpus import Corpus, read
from headscope.corpora.options import Options

__all__ = ["Corpus", "Options", "read"]
