"""The words of a result: its dimensions, their labels, and its attributes."""

from collections.abc import Iterator
from functools import cache

from headscope import catalog
from headscope.storage.limits import LAST_LAYER
from headscope.study import Dimension, Study

BOUNDS = ("lower", "upper")
TOKEN_CLASSES = ("cls", "sep", "punct", "other")
OFFSETS = (-1, 0, 1)
FEATURES = ("noun", "verb", "pron", "subj", "obj", "neg", "cls", "sep", "punct")
PATTERNS = ("vertical", "diagonal", "vertical_diagonal", "block", "heterogeneous")
DIRECTIONS = ("dependent_to_head", "head_to_dependent")
UPOS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ"),
    *("SYM", "VERB", "X"),
)
SEGMENTS = ("same", "different")
FREQUENCIES = ("rarest", "rare", "middle", "frequent", "most_frequent")
PAIR_BASELINES = ("as_far_apart", "from_others")
WORD_PAIRS = ("copies", *PAIR_BASELINES)
# Numbers of pieces of an answer or a number.
PIECES = ("1", "2", "3", "4 or more")
RELATIONS = ("verb_to_subject", "subject_to_verb", "pronoun_to_noun", "noun_to_pronoun")

# Those that several studies have.
DIMENSIONS = {
    "layer": Dimension("layer of the model, from 1 at the input", "whole", 1, LAST_LAYER),
    "head": Dimension("attention head within its layer, from 1", "whole", 1, LAST_LAYER),
    "example": Dimension("example of the corpus", "whole", 1),
    "token_class": Dimension("class of a token: cls, sep, punct ('.' and ','), other"),
    "offset": Dimension("distance from the query to the key, in tokens", "whole", -1000000, 1_000_000),
    "feature": Dimension("linguistic feature of a token"),
    "relation": Dimension("kind of link between two words"),
    "direction": Dimension("which of the two words looks at the other"),
    "task": Dimension("task of a benchmark, or of a probing classifier"),
    "init": Dimension("how the model was initialised and fine-tuned"),
    "metric": Dimension("score of a task"),
    "seed": Dimension("seed of a training", "whole"),
    "other_seed": Dimension("the other seed of a pair", "whole"),
    "head_number": Dimension("number of a head that is compared between trainings"),
    "subnetwork": Dimension(
        "heads of a pruned model: all, those that stay (good), as many at random, or the worst (bad)"
    ),
    "epoch": Dimension("pass over the training examples, from 1; 0 is before the training", "whole"),
    "step": Dimension(
        "step of a training or of a search for a smaller model, or number of a model of several; 0 is the start",
        "whole",
    ),
    "progress": Dimension("share of a training that is done", "share"),
    "baseline": Dimension("simple way to choose that heads are compared with"),
    "query": Dimension("token that looks", "whole", 1),
    "query_group": Dimension("class of the tokens that look: sep, cls"),
    "key": Dimension("token that is looked at", "whole", 1),
    "typical_input": Dimension("input of median length whose attention maps are kept"),
    "typical_query": Dimension("token of a typical input that looks", "whole", 1),
    "typical_key": Dimension("token of a typical input that is looked at", "whole", 1),
    "other_layer": Dimension("layer of the second head of a pair", "whole", 1, LAST_LAYER),
    "other_head": Dimension("second head of a pair", "whole", 1, LAST_LAYER),
    "estimator": Dimension("how the importance of a head is estimated"),
    "focus": Dimension("class of a token, or relation, that a head attends to"),
    "rank": Dimension("place among the examples of a head, from 1 for the highest value", "whole", 1),
    "kept_text": Dimension("text that an index of examples keeps", "whole", 1),
    "gap": Dimension("difference of the positions of two tokens, in tokens"),
    "part_of_speech": Dimension("universal part of speech of the word that looks"),
    "word_pair": Dimension(
        "words of two segments: copies of each other, as far apart as these, or another word and a copy"
    ),
    "segments": Dimension("whether two tokens stand in the same segment of a text pair"),
    "dimension_rank": Dimension(
        "place of a dimension of hidden states by its share, from 1 for the largest", "whole", 1
    ),
    "phenomenon": Dimension("class of the items of a suite"),
    "condition": Dimension("finer class of the items of a phenomenon"),
    "context": Dimension("length of a text, in tokens", "whole", 1),
    "corpus": Dimension("corpus, such as the treebank of a language"),
    "kind_name": Dimension("main kind of a head"),
    "word_class": Dimension("class that the corpus gives a word, such as a region of a protein"),
    "pieces": Dimension("number of pieces of an answer, or of the numbers of a text"),
    "bound": Dimension("bound of a 95% interval"),
}

# Coordinates along other dimensions: the kind of their values (text, whole numbers, floating-point numbers), and these.
TYPICAL = ("typical_input", "typical_query")
MOST_TYPICAL = 64  # tokens of a typical input: a longer one cannot be read in a small map, and is cut
BESIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    "kind": ("U", ("corpus", "layer", "head")),
    **dict.fromkeys(("typical_raw_token", "typical_token"), ("U", TYPICAL)),
    "token": ("U", ("pattern", "example", "query")),
}

# Maps of typical inputs: the kind of their values, and their dimensions.
OF_HEADS = ("typical_input", "layer", "head")
MAPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "typical_map": ("u", (*OF_HEADS, "typical_query", "typical_key")),
    "typical_map_maximum": ("f", OF_HEADS),
}

ATTRIBUTES = (
    "study",
    "headscope_version",
    "model",
    "model_sha256",
    "corpus",
    "corpus_sha256",
    "n_examples",
    "n_tokens",
)

# Attributes of several studies that are no text; objects, lists and counts (objects of numbers) are JSON.
KINDS: dict[str, str] = {
    **dict.fromkeys("n_examples n_tokens seed duration_s n_words test_sentences".split(), "number"),
    **dict.fromkeys("left_out options recipe settings training versions".split(), "object"),
    **dict.fromkeys("counted skipped".split(), "counts"),
    **dict.fromkeys("command inputs query_groups windows".split(), "list"),
}


@cache
def attribute_kinds() -> dict[str, str]:
    """The kinds of attributes that are no text: those of several studies, and those that a study declares.

    >>> attribute_kinds()["skipped"]
    'counts'
    """
    return KINDS | {name: kind for study in _studies() for name, kind in study.attributes.items()}


@cache
def coordinates() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Coordinates along other dimensions, with the kind of their values and these dimensions."""
    return BESIDE | {name: coord for study in _studies() for name, coord in study.coords.items()}


@cache
def dimensions() -> dict[str, Dimension]:
    """All dimensions that a result may have: those of several studies, and those that a study declares.

    >>> dimensions()["space"].labels
    'whole'
    """
    return DIMENSIONS | {name: dimension for study in _studies() for name, dimension in study.dims.items()}


def _studies() -> Iterator[Study]:
    return map(catalog.study, catalog.names("studies"))
