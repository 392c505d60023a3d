"""XML as a tree whose elements know the line they begin on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO
from xml.parsers import expat

from headscope.corpora.parsing.lines import opened
from headscope.corpora.problems import Bad
from headscope.storage.limits import DEEPEST, LARGEST_FILE, LONGEST_TAG, MOST_ELEMENTS

# Bytes at a time, and how many of them may go by without an element or a text: expat reads an unfinished tag anew
# with each part.
PART = 1 << 16


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
    """The root of a file, plain or gzip; see `elements` for what is raised."""
    (root,) = elements(source)
    return root


def elements(source: str, name: str = "") -> Iterator[Node]:
    """The elements of a name, one by one as a file is read, plain or gzip; without a name the root.

    Raises `Bad` naming the line that is no XML, and `HeadscopeError` if the file cannot be read.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    path, done = [Node(0, "", {})], list[Node]()
    kept = 0

    def start(full_name: str, attributes: dict[str, str]) -> None:
        nonlocal kept
        kept += 1 + len(attributes)
        if kept > MOST_ELEMENTS:
            raise Bad(parser.CurrentLineNumber, f"more than {MOST_ELEMENTS} elements and attributes")
        if len(path) > DEEPEST:
            raise Bad(parser.CurrentLineNumber, f"elements are nested more than {DEEPEST} levels deep")
        node = Node(parser.CurrentLineNumber, full_name.rpartition(" ")[2], attributes)
        path[-1].children.append(node)
        path.append(node)

    def end(_: str) -> None:
        nonlocal kept
        node = path.pop()
        if node.name == name if name else len(path) == 1:
            done.append(path[-1].children.pop())
            kept = 0

    def refuse(*_: object) -> None:
        raise Bad(parser.CurrentLineNumber, "a document type is declared, which none of these files has; take it out")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: path[-1].parts.append(text)
    # Entities that a file defines itself could grow without end.
    parser.StartDoctypeDeclHandler = refuse
    with opened(source) as file:
        for _ in _fed(parser, file):
            yield from done
            done.clear()


def _fed(parser: expat.XMLParserType, file: BinaryIO) -> Iterator[None]:
    """Feed a file part by part, and pause after each."""
    size = 0
    try:
        while part := file.read(PART):
            parser.Parse(part)
            size += len(part)
            if size > LARGEST_FILE or size - parser.CurrentByteIndex > LONGEST_TAG:
                raise Bad(parser.CurrentLineNumber, "a tag or the file is too long")
            yield
        parser.Parse(b"", True)
        yield
    except expat.ExpatError as error:
        raise Bad(error.lineno, f"not XML ({expat.ErrorString(error.code)} at column {error.offset + 1})") from error
    except (LookupError, ValueError) as error:  # an encoding that Python or expat does not know
        raise Bad(parser.CurrentLineNumber, f"not XML in a known encoding ({error}); save the file as UTF-8") from error
