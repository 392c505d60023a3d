"""The words of a result: its dimensions, their labels, and its attributes."""

from headscope.storage.limits import LAST_LAYER

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

DIMENSIONS = {
    "layer": "layer of the model, from 1 at the input",
    "head": "attention head within its layer, from 1",
    "example": "example of the corpus",
    "token_class": "class of a token: cls, sep, punct ('.' and ','), other",
    "offset": "distance from the query to the key, in tokens",
    "feature": "linguistic feature of a token",
    "relation": "kind of link between two words",
    "direction": "which of the two words looks at the other",
    "pattern": "class of an attention map",
    "task": "task of a benchmark, or of a probing classifier",
    "init": "how the model was initialised and fine-tuned",
    "metric": "score of a task",
    "model": "model that is compared with the first",
    "restored": "number of lower layers with the weights of the first model",
    "seed": "seed of a training",
    "order_seed": "seed of the order of the examples of a training",
    "seed_source": "what the spread of a score comes from: seed of new weights, of the order, both, other dev examples",
    "position": "place on the line from the weights before a training, 0, to those after it, 1",
    "first_step": "step along a random direction, in lengths of the filters",
    "second_step": "step along another random direction, in lengths of the filters",
    "direction_number": "random direction in the space of weights",
    "trials": "number of trainings of which the best is kept",
    "stopped_share": "share of the trainings that are stopped early",
    "head_number": "number of a head that is compared between trainings",
    "main_number": "main number of heads in another study, by that study and its name there",
    "layer_number": "number of layers in another study, by that study and its name there",
    "epoch": "pass over the training examples, from 1; 0 is before the training",
    "step": "step of a training or of a search for a smaller model, or number of a model of several; 0 is the start",
    "progress": "share of a training that is done",
    "share_removed": "share of the model's heads that is removed",
    "mention_type": "kind of mention",
    "baseline": "simple way to choose that heads are compared with",
    "gender": "gender of a pronoun",
    "stereotype": "whether a pronoun has the gender that is expected of an occupation",
    "query": "token that looks",
    "query_group": "class of the tokens that look: sep, cls",
    "key": "token that is looked at",
    "typical_input": "input of median length whose attention maps are kept",
    "typical_query": "token of a typical input that looks",
    "typical_key": "token of a typical input that is looked at",
    "other_layer": "layer of the second head of a pair",
    "other_head": "second head of a pair",
    "probe": "parser that is scored",
    "probe_rank": "rank of the maps of structural probes",
    "axis": "axis of an embedding",
    "head_set": "heads that are disabled together",
    "head_source": "result whose special heads are disabled together",
    "head_kind": "kind of heads, by other results: positional, syntactic, semantic, for rare words",
    "other_task": "task of another result, whose heads are compared",
    "head_pair": "two heads that are disabled together",
    "skipped": "part of a layer that is skipped: its attention, or the layer with its feed-forward part",
    "half": "half of the examples on which a head was chosen",
    "estimator": "how the importance of a head is estimated",
    "focus": "class of a token, or relation, that a head attends to",
    "rank": "place among the examples of a head, from 1 for the highest value",
    "kept_text": "text that an index of examples keeps",
    "special_tokens": "whether trees have special tokens as nodes (kept), or words alone (left_out)",
    "root": "root of a tree: the gold root, the best root, or none (undirected)",
    "distance": "distance between the attention of two neighbouring words",
    "gap": "difference of the positions of two tokens, in tokens",
    "part_of_speech": "universal part of speech of the word that looks",
    "frequency": "how often a piece stands in the corpus, or is predicted, in classes of about as many tokens",
    "word_pair": "words of two segments: copies of each other, as far apart as these, or another word and a copy",
    "segments": "whether two tokens stand in the same segment of a text pair",
    "dimension_rank": "place of a dimension of hidden states by its share, from 1 for the largest",
    "attribution": "method that says how important the tokens of an input are",
    "token_share": "share of an input's tokens that is blanked, or kept alone",
    "alteration": "how attention is altered",
    "erased_share": "share of the keys of each query whose attention is erased",
    "space": "hidden states by layer, 0 for the embeddings that enter the first",
    "lens": "how the states of a layer are read: plain, as they are; mapped to those of the last layer",
    "role_scheme": "places of words in a sentence by which they are bound: from the left, from the right, in the tree",
    "phenomenon": "class of the items of a suite",
    "perturbation": "how examples of a task are changed",
    "case": "kind of pair within a heuristic of inference",
    "choice": "how the parts that a smaller model keeps are chosen",
    "kept": "what of a layer stays in a smaller model: parts, or what they add to the states",
    "input_group": "group of inputs of a smaller model: by length, by pieces that are gone, by class",
    "within": "whether inputs are those of a group, or all others",
    "condition": "finer class of the items of a phenomenon",
    "suite": "set of cloze items",
    "corpus": "corpus, such as the treebank of a language",
    "kind_name": "main kind of a head",
    "pieces": "number of pieces of an answer, or of the numbers of a text",
    "control": "change of the texts of items",
    "context": "length of a text, in tokens",
    "depth": "where in a text something is planted, as a share of its length",
    "name_filter": "facts that are left out because the name of their subject gives the answer away",
    "bound": "bound of a 95% interval",
}

# Dimensions whose labels are whole numbers, with the smallest and the largest; those whose labels are shares from 0
# to 1; those whose labels are steps of any size; those without labels. All other labels are text.
WHOLE_NUMBERS = {
    **dict.fromkeys(("layer", "head", "other_layer", "other_head"), (1, LAST_LAYER)),
    **dict.fromkeys(
        ("example", "query", "key", "kept_text", "axis", "rank", "dimension_rank", "probe_rank"), (1, 2**32 - 1)
    ),
    "context": (1, 2**32 - 1),
    **dict.fromkeys(("trials", "direction_number"), (1, 1_000_000)),
    **dict.fromkeys(("epoch", "order_seed", "restored", "seed", "space", "step"), (0, 2**32 - 1)),
    "offset": (-1_000_000, 1_000_000),
}
SHARES = ("progress", "share_removed", "stopped_share", "token_share", "erased_share", "depth")
STEPS = ("position", "first_step", "second_step")
WITHOUT_LABELS = ("typical_key", "typical_query")

# Coordinates along other dimensions: the kind of their values (text, whole numbers, floating-point numbers), and these.
HEAD_MAP, MAP, TYPICAL = ("layer", "head", "pattern"), ("pattern", "example"), ("typical_input", "typical_query")
BESIDE: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("behaviour", "best_relation"), ("U", ("layer", "head"))),
    "dominant": ("U", ("task", "layer", "head")),
    "kind": ("U", ("corpus", "layer", "head")),
    **dict.fromkeys(("typical_raw_token", "typical_token"), ("U", TYPICAL)),
    **dict.fromkeys(("map_head", "map_layer"), ("i", MAP)),
    "chosen_head": ("U", ("half", "metric")),
    "number_unit": ("U", ("main_number",)),
    "cluster": ("i", ("layer", "head")),
    "head_map_confidence": ("f", HEAD_MAP),
    "head_map_task": ("U", HEAD_MAP),
    "head_map_token": ("U", (*HEAD_MAP, "query")),
    "map_confidence": ("f", MAP),
    "part": ("U", ("step",)),
    "map_task": ("U", MAP),
    "token": ("U", (*MAP, "query")),
    "typical_step": ("i", ("typical_input",)),
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

# Attributes that are numbers.
NUMBERS = (
    *("n_examples", "n_tokens", "seed", "duration_s", "n_words", "n_links", "n_mentions", "n_sentences"),
    *("chosen_layer", "spared", "test_sentences", "words_with_vectors"),
)

# Attributes that are objects or lists, as JSON.
OBJECTS = (
    *("compared", "compared_capture", "compared_sha256", "counted", "filter", "forward_s", "left_out", "options"),
    *("pruning", "recipe", "sentences", "settings", "shrinking", "skipped", "suites", "tasks", "training", "versions"),
)
COUNTS = ("counted", "skipped")  # objects of numbers
LISTS = ("command", "inputs", "trees")
