"""Several corpora as one, by name and hash."""

import hashlib
from collections.abc import Sequence

from headscope.corpora.corpus import Corpus


def joint_corpus(corpora: Sequence[Corpus]) -> Corpus:
    """One corpus for the provenance of several: their names, and the hash of their hashes."""
    sha256 = joint_sha256([corpus.sha256 for corpus in corpora])
    return Corpus(", ".join(corpus.name for corpus in corpora), sha256, sum(map(len, corpora)), {}, lambda: iter(()))


def joint_sha256(hashes: Sequence[str]) -> str:
    """The hash of several hashes; of one, itself."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
