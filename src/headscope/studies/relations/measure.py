"""One pass of a model over the links of a corpus."""

from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.engine.passes import Pass
from headscope.engine.settings import DEFAULTS, Settings
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.studies.relations.link_attention import Found, joined
from headscope.studies.relations.observer import Reader


def read(
    model: Model, corpus: Corpus, words: Words, settings: Settings = DEFAULTS, *, as_coded: bool = False
) -> tuple[Found, dict[str, str | int | float]]:
    """What the heads of a model give to the links of a corpus, and the attributes that say what was read.

    * `words`: aligned; it counts what is left out or cut.

    Raises `HeadscopeError` if no example fits into the model, or no link is left in those that do.
    """
    reader = Reader(settings.seed, as_coded=as_coded, counts=words.counts)
    result = Pass(model, corpus, settings, words).gather(reader)
    found = joined(result.value)
    if not len(found):
        raise HeadscopeError(
            f"corpus '{corpus.name}': none of its links has tokens at both ends; check its words, or use --long window"
        )
    return found, result.attributes
