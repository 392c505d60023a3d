"""Check that a built site asks no other host for anything: scripts, styles, fonts, pictures and frames are its own.

    python docs/tools/offline.py out/site

Links that a reader may click do not count.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

OUTSIDE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
LOADED = ("src", "srcset", "poster", "data")


class Requests(HTMLParser):
    """The addresses on other hosts that a browser asks by itself when it opens the page."""

    def __init__(self, page: str) -> None:
        """Read the page."""
        super().__init__()
        self.found: list[str] = IN_STYLE.findall(page)
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag loads."""
        # a <link> loads what it names, unless it only says where the page belongs
        given = dict(attrs)
        names = ("href",) if tag == "link" and given.get("rel") != "canonical" else () if tag == "a" else LOADED
        self.found += [value for name in names if (value := given.get(name)) and OUTSIDE.match(value)]


def outside(site: Path) -> list[str]:
    """Each request to another host, as "FILE: ADDRESS"."""
    pages = [(path, Requests(path.read_text(encoding="utf-8")).found) for path in site.rglob("*.html")]
    styles = [(path, IN_STYLE.findall(path.read_text(encoding="utf-8"))) for path in site.rglob("*.css")]
    return [f"{path.relative_to(site)}: {address}" for path, found in pages + styles for address in found]


if __name__ == "__main__":
    SITE = Path(sys.argv[1])
    requests = outside(SITE)
    if requests or not (SITE / "index.html").is_file():
        sys.exit("\n".join(requests) or f"folder '{SITE}' has no index.html; run 'make docs'")
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE}, none of which asks another host for anything")
