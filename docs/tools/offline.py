"""Check a built site: it asks no other host for anything, each file that it names is there, and the menu has each page.

    python docs/tools/offline.py out/site

Links to other hosts that a reader may click do not count.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote, urlsplit

OUTSIDE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
LOADED = ("src", "srcset", "poster", "data")
MENU = "md-nav__link"
UNLISTED = {"404.html"}


class Addresses(HTMLParser):
    """The addresses of a page: what a browser asks for by itself, what a reader may click, and what the menu lists."""

    def __init__(self, page: str) -> None:
        """Read the page."""
        super().__init__()
        self.loaded: list[str] = IN_STYLE.findall(page)
        self.links: list[str] = []
        self.menu: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        # a <link> loads what it names, unless it only says where the page belongs
        given = dict(attrs)
        names = ("href",) if tag == "link" and given.get("rel") != "canonical" else () if tag == "a" else LOADED
        self.loaded += [value for name in names if (value := given.get(name))]
        if tag == "a" and (value := given.get("href")):
            self.links.append(value)
            self.menu += [value] if MENU in (given.get("class") or "") else []


def addresses(site: Path) -> dict[Path, Addresses]:
    """The addresses of each page."""
    return {path: Addresses(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def outside(site: Path) -> list[str]:
    """Each request to another host, as "FILE: ADDRESS"."""
    asked = [(path, page.loaded) for path, page in addresses(site).items()]
    asked += [(path, IN_STYLE.findall(path.read_text(encoding="utf-8"))) for path in site.rglob("*.css")]
    return [f"{path.relative_to(site)}: {name}" for path, names in asked for name in names if OUTSIDE.match(name)]


def missing(site: Path) -> list[str]:
    """Each file of the site that a page names and that is not there, as "FILE: ADDRESS"."""
    named = [(path, name) for path, page in addresses(site).items() for name in (*page.loaded, *page.links)]
    return [f"{path.relative_to(site)}: {name}" for path, name in named if not _there(site, path, name)]


def _there(site: Path, page: Path, name: str) -> bool:
    """Whether an address is that of another host, of the page itself, or of a file that is there."""
    address = urlsplit(name.strip())
    if address.scheme or address.netloc or not address.path:
        return True
    folder = site if address.path.startswith("/") else page.parent
    return (folder / unquote(address.path).lstrip("/")).is_file()


def unlisted(site: Path, made: str) -> list[str]:
    """The pages that the menu of the first page lacks; those in the folder `made` belong to no menu."""
    menu = {normpath(urlsplit(name).path) for name in Addresses((site / "index.html").read_text(encoding="utf-8")).menu}
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    return sorted(page for page in pages - menu - UNLISTED if not page.startswith(made))


def faults(site: Path) -> list[str]:
    """One line for each fault of a site."""
    if not (site / "index.html").is_file():
        return [f"folder '{site}' has no index.html; run 'make docs'"]
    return [
        *(f"{line}: on another host" for line in outside(site)),
        *(f"{line}: not there" for line in missing(site)),
        *(f"{page}: not in the menu; name it in mkdocs.yml" for page in unlisted(site, "example/")),
    ]


if __name__ == "__main__":
    SITE = Path(sys.argv[1])
    if found := faults(SITE):
        sys.exit("\n".join(found))
    print(f"{len(addresses(SITE))} pages in {SITE}: none asks another host for anything, no file is missing")
