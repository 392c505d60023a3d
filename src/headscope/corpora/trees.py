"""Refusal of a corpus without dependency trees."""

from headscope.corpora.corpus import Corpus
from headscope.errors import HeadscopeError


def require_trees(corpus: Corpus, kinds: str = "CoNLL-U") -> None:
    """Raise `HeadscopeError` if no sentence of a corpus has a dependency tree; `kinds` are treebanks that would do."""
    if not any(sentence.heads for example in corpus for sentence in example.sentences):
        raise HeadscopeError(
            f"corpus '{corpus.name}' has no dependency trees; name a treebank ({kinds}), or parse it with --annotate"
        )
