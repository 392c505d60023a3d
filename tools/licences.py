"""Print docs/licences.md: the licence of every installed dependency, as its own metadata says; `make licences`."""

import re
from typing import Any

from dependencies import by_group, installed

COPYLEFT = re.compile(r"\b(A?GPL|LGPL|MPL|EUPL|GNU|Mozilla)", re.IGNORECASE)
CLASSIFIER = "License :: "
NOTES = {
    "headscope": "What `pip install headscope` brings.",
    "optional parts": "What the extras add (`headscope[all]`).",
    "development": "What tests and documentation need; users do not get it.",
}


def licence(metadata: Any) -> str:
    """The licence that a package names: its expression, else its classifiers, else the first line of its text."""
    classifiers = [each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier", []) if CLASSIFIER in each]
    named = [each for each in classifiers if each != "OSI Approved"]
    text = next(iter((metadata["License"] or "").strip().splitlines()), "")
    return metadata["License-Expression"] or ", ".join(named) or text[:80] or "not named"


def main() -> None:
    """Print the page."""
    there, groups = installed(), by_group()
    named = {group: {name: licence(there[name].metadata) for name in names} for group, names in groups.items()}
    copyleft = [
        f"{name} ({words}; {group})"
        for group, licences in named.items()
        for name, words in licences.items()
        if COPYLEFT.search(words)
    ]
    print("# Licences of dependencies\n")
    print("headscope is under the Apache License 2.0. This page is written by `make licences` from the metadata of the")
    print("installed packages, with the versions of `constraints.txt`. Binary packages may contain libraries under")
    print("further licences.\n")
    print(f"Under a copyleft licence, weak ones included: {'; '.join(copyleft) or 'none'}.")
    for group, licences in named.items():
        print(f"\n## {group[0].upper()}{group[1:]}\n\n{NOTES[group]}\n")
        for words in sorted(set(licences.values())):
            print(f"* {words}: {', '.join(name for name in licences if licences[name] == words)}")


if __name__ == "__main__":
    main()
