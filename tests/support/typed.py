"""A corpus of texts that a test writes."""

from headscope import Corpus
from headscope.linguistics.sentence import Example, Sentence


def corpus_of(*texts: str) -> Corpus:
    """Each text as an example of one sentence without annotation."""
    examples = [Example(f"t:{number}", (Sentence(text),)) for number, text in enumerate(texts)]
    return Corpus("texts", "0" * 64, len(examples), {}, lambda: iter(examples))
