"""An offline page: parts are made one after the other, then rendered once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from headscope.catalog import missing
from headscope.errors import HeadscopeError
from headscope.report.parts import Figure
from headscope.report.render import rendered
from headscope.storage.files import opening, write_atomically

Spec = dict[str, Any]
Subject = TypeVar("Subject")
Made = TypeVar("Made")
# By the name of a value of the template: the part in words, and the function that makes it of what is measured.
Parts = Mapping[str, tuple[str, Callable[[Subject], Any]]]
MARK = b'<meta name="generator" content="headscope">'


@dataclass
class Page:
    """A page that is made part by part and replaces one of headscope; any other file there is refused.

    * `specs`: the specifications of its charts, by name; `failed`: the parts that could not be made, with the reason.
    """

    path: Path
    template: str
    contents: dict[str, Any] = field(default_factory=dict)
    specs: dict[str, Spec] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        with opening():
            if self.path.is_file() and MARK not in self.path.read_bytes()[:1000]:
                raise HeadscopeError(f"'{self.path}' is no page of headscope and stays; move it, and start again")

    def make(self, parts: Parts[Subject], measured: Subject) -> None:
        """Make some parts in their order; one that fails is noted, and empty."""
        for name, (words, part) in parts.items():
            content = self.attempt(words, part, measured)
            self.contents[name] = () if content is None else content

    def attempt(self, words: str, make: Callable[..., Made], *arguments: Any) -> Made | None:
        """Call `make`; where that fails, note the part and return None."""
        try:
            return make(*arguments)
        except HeadscopeError:
            raise
        except Exception as error:  # whatever a part's code raises, the rest of the page is of use
            self.failed.append(f"{words} ({type(error).__name__}: {' '.join(str(error).split())})")
            return None

    def draw(self, figures: Iterable[Figure], save: Callable[[Spec, Path], object] | None = None) -> None:
        """Add the charts of figures, if they can be drawn; `save` writes their files beside the page."""
        for figure in () if missing("vl_convert") else figures:
            self.specs[figure.name] = figure.chart.to_dict(validate=False)
            if save:
                save(self.specs[figure.name], self.path.parent / "figures" / figure.name)

    def write(self) -> Path:
        """Write the page with the parts that were made; return its path.

        Raises `HeadscopeError` if the folder cannot be written to.
        """
        html = rendered(self.template, self.specs, failed=self.failed, **self.contents)
        return write_atomically(self.path, html)
