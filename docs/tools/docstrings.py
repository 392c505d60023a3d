"""Signatures and docstrings as the API page shows them: plain types, and examples as code blocks."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Plain(griffe.Extension):
    """Change each function and docstring before it is shown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the examples of a docstring: Markdown would read `>>>` as a quotation."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Show `int` for `Annotated[int, Option(...)]`: the option is the command line's."""
        for parameter in func.parameters:
            parameter.annotation = plain(parameter.annotation)


def fenced(text: str) -> str:
    """The text with each example in a fence, up to the next blank line.

    >>> print(fenced("Sum.\\n\\n>>> 1 + 1\\n2"))
    Sum.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    return EXAMPLE.sub(lambda example: f"```pycon\n{example.group()}\n```", text)


def plain(annotation: Any) -> Any:
    """The first argument of `Annotated`; any other annotation as it is."""
    if isinstance(annotation, griffe.ExprSubscript) and str(annotation.left) == "Annotated":
        assert isinstance(annotation.slice, griffe.ExprTuple)
        return annotation.slice.elements[0]
    return annotation
