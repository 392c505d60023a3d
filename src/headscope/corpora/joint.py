"""Several corpora as one, by name and hash."""

import hashlib
from collections.abc import Sequence

from headscope.corpora.corpus import Corpus


def joint_corpus(corpora: Sequence[Corpus]) -> Corpus:
    """One corpus for the provenance of several: their names, and the hash of their hashes."""
    hashes = [corpus.sha256 for corpus in corpora]
    sha256 = hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
    return Corpus(", ".join(corpus.name for corpus in corpora), sha256, sum(map(len, corpora)), {}, lambda: iter(()))
