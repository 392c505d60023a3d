"""Corpora: what a model reads, one reader per file."""

from headscope.corpora.corpus import Corpus
from headscope.corpora.options import Options
from headscope.corpora.reading import read

__all__ = ["Corpus", "Options", "read"]
