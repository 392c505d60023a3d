"""XML as a tree whose elements know the line they begin on."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from headscope.corpora.parsing.lines import binary
from headscope.corpora.problems import Bad
from headscope.errors import HeadscopeError


@dataclass
class Node:
    """An element: the line it begins on, its name without its namespace, its attributes, its children and its text."""

    line: int
    name: str
    attributes: dict[str, str]
    children: list["Node"] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the element itself, without that of its children."""
        return "".join(self.parts)

    def named(self, name: str) -> Iterator["Node"]:
        """The children of a name."""
        return (child for child in self.children if child.name == name)

    def within(self, name: str) -> Iterator["Node"]:
        """The elements of a name at any depth, in their order."""
        for child in self.children:
            if child.name == name:
                yield child
            yield from child.within(name)

    def required(self, attribute: str) -> str:
        """The value of an attribute; raises `Bad` if there is none."""
        if attribute not in self.attributes:
            raise Bad(self.line, f"<{self.name}> has no {attribute}")
        return self.attributes[attribute]


def tree(source: str) -> Node:
    """The root of a file, plain or gzip.

    Raises `Bad` naming the line that is no XML, and `HeadscopeError` if the file cannot be read.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    top = Node(0, "", {})
    path = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        node = Node(parser.CurrentLineNumber, name.rpartition(" ")[2], attributes)
        path[-1].children.append(node)
        path.append(node)

    def refuse(*_: object) -> None:
        raise Bad(parser.CurrentLineNumber, "a document type is declared, which FrameNet does not; take it out")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.CharacterDataHandler = lambda text: path[-1].parts.append(text)
    # Entities that a file defines itself could grow without end.
    parser.StartDoctypeDeclHandler = refuse
    try:
        with binary(source) as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise Bad(error.lineno, f"not XML ({expat.ErrorString(error.code)} at column {error.offset + 1})") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise HeadscopeError(f"corpus '{source}' cannot be read: {reason}; check the file") from error
    return top.children[0]
