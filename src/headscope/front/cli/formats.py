"""Formats of figure files, from the options of a command."""

from headscope.errors import HeadscopeError, suggest

FORMATS = ("svg", "pdf", "png")


def formats(figures: str, no_figures: bool) -> tuple[str, ...]:
    """The formats of the figure files, from `--figures` and `--no-figures`.

    Raises `HeadscopeError` for an unknown format.

    >>> formats("svg, pdf", False), formats("svg", True)
    (('svg', 'pdf'), ())
    """
    wanted = () if no_figures else tuple(each.strip() for each in figures.split(","))
    for each in wanted:
        if each not in FORMATS:
            raise HeadscopeError(f"figures '{each}': {suggest(each, FORMATS)}")
    return wanted
