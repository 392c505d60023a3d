"""Words for dimensions, their values and heads in figures and reports."""

WORDS = {
    "cls": "[CLS]",
    "sep": "[SEP]",
    "punct": "punctuation",
    "other": "other tokens",
    "pron": "pronoun",
    "subj": "subject",
    "obj": "object",
    "neg": "negation",
}
OFFSETS = {-1: "previous token", 0: "same token", 1: "next token"}


def label(dim: str, value: object) -> str:
    """One value of a dimension, in words.

    >>> label("token_class", "sep"), label("offset", -1), label("relation", "verb_to_subject"), label("task", "mnli")
    ('[SEP]', 'previous token', 'verb → subject', 'mnli')
    >>> label("pattern", "vertical_diagonal")
    'vertical + diagonal'
    """
    if dim == "offset":
        offset = int(str(value))
        return OFFSETS.get(offset, f"offset {offset:+d}")
    if dim in ("token_class", "feature"):
        return WORDS.get(str(value), str(value))
    if dim == "pattern":
        return str(value).replace("_", " + ")
    return str(value).replace("_to_", " → ").replace("_", " ")


def title(dim: str) -> str:
    """A dimension as the title of an axis.

    >>> title("token_class")
    'Token class'
    """
    return dim.replace("_", " ").capitalize()


def head_name(layer: int, head: int) -> str:
    """A head as the papers write it.

    >>> head_name(8, 10)
    '8-10'
    """
    return f"{layer}-{head}"
