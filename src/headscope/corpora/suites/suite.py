"""Read suites: by name from a folder of data, or from a file."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path

from headscope import catalog
from headscope.corpora.drawing import SEED
from headscope.corpora.problems import Bad, Skipped, first_unstorable
from headscope.corpora.suites.item import ClozeItem, drawn, spread
from headscope.errors import HeadscopeError, suggest
from headscope.storage.files import opening, refuse_text

READERS = "corpora/suites/readers"
Item = ClozeItem | Bad | Skipped
# Suites that are named by a file of one's own.
OF_FILES = ("own", "treebank", "sequences")
TREEBANKS = (".conllu", ".conllup", ".cupt")
# Kinds of corpora of which each word is a gap, named before a colon.
SEQUENCES = ("fasta", "classes")
# The deepest folder below --data in which the files of a suite are looked for.
DEPTH = 3


@dataclass(frozen=True, repr=False)
class Suite:
    """Items of one suite, and the numbers of lines that were left out, by reason.

    * `sha256`: hash of its files' bytes, or of its texts where it has no files; `drawn`: what a limit took, in words.
    """

    name: str
    sha256: str
    items: tuple[ClozeItem, ...]
    skipped: dict[str, int]
    drawn: str = ""

    def __repr__(self) -> str:
        return f"Suite('{self.name}', {len(self.items)} items)"


@opening()
def read_suites(
    names: Iterable[str | Path],
    data: str | Path | None = None,
    *,
    limit: int | None = None,
    per_condition: int | None = None,
    skip_bad: bool = False,
) -> tuple[Suite, ...]:
    """Read suites through, so that a wrong line is refused before a model runs.

    * `names`: each the name of a suite or a file.
    * `data`: the folder in which the files of named suites lie, at most three folders deep.
    * `limit`: most items of a suite, drawn evenly over its conditions; all wordings of a fact or none.
    * `per_condition`: most items of each condition of each phenomenon, spread evenly over the file; all wordings of a
      fact count as one.
    * `skip_bad`: leave out and count lines that cannot be read.

    Raises `HeadscopeError` naming file and line of the first line that cannot be read, or for a suite without items.

    >>> read_suites(["numeracy"], per_condition=2)
    (Suite('numeracy', 14 items),)
    """
    for name, number in (("limit", limit), ("per_condition", per_condition)):
        if number is not None and number < 1:
            raise HeadscopeError(f"{name} {number} leaves no item; use at least 1")
    return tuple(_read(name, data, limit, per_condition, skip_bad) for name in dict.fromkeys(map(str, names)))


def _read(source: str, data: str | Path | None, limit: int | None, per_condition: int | None, skip_bad: bool) -> Suite:
    name, reader, files = _located(source, data)
    items, skipped, ids = [], Counter[str](), set[str]()
    for item in chain.from_iterable(map(reader, files)) if files else reader():
        if isinstance(item, Skipped):
            skipped[item.reason] += item.count
            continue
        problem = item if isinstance(item, Bad) else _problem(item, ids)
        if isinstance(item, Bad) or problem:
            _refuse(source, files, problem, skip_bad)
            skipped["bad"] += 1
            continue
        ids.add(item.id)
        items.append(item)
    if not items:
        counts = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
        left_out = f" ({counts})" if counts else ""
        raise HeadscopeError(f"suite '{source}' has no items{left_out}; write its lines as docs/cloze.md says")
    if per_condition is not None:
        items = spread(items, per_condition)
    chosen = items if limit is None else drawn(items, limit)
    words = f"{len(chosen):,} of {len(items):,}, drawn evenly over conditions, seed {SEED}"
    words = words if len(chosen) < len(items) else ""
    return Suite(name, _hash(files, chosen), tuple(chosen), dict(skipped), words)


def _problem(item: ClozeItem, ids: Container[str]) -> str:
    """The problem of an item, in words; "" for a good one."""
    if item.id in ids:
        return f"two items have the id '{item.id[:40]}'; correct one"
    names = (("id", item.id), ("phenomenon", item.phenomenon), ("condition", item.condition))
    wrong = first_unstorable(names, (item.lemma, *(candidate.text for candidate in item.candidates)))
    return f"item '{item.id[:40]}': {wrong}" if wrong else ""


def _refuse(suite: str, files: Sequence[str], problem: Bad | str, skip_bad: bool) -> None:
    if skip_bad:
        return
    if isinstance(problem, str):
        raise HeadscopeError(f"suite '{suite}': {problem}")
    file = getattr(problem, "file", "") or (files[0] if files else suite)
    remedy = "correct it, or leave such lines out with --skip-bad"
    raise HeadscopeError(f"suite '{file}', line {problem.line}: {problem.message}; {remedy}") from problem


def _located(source: str, data: str | Path | None) -> tuple[str, Callable[..., Iterable[Item]], list[str]]:
    """The name of a suite, the reader of its files, and these."""
    refuse_text("suite", source)
    modules, name = catalog.listed(READERS, "SUITES"), source.replace("-", "_").lower()
    names = [suite for suite in modules if suite not in OF_FILES]
    kind, _, file = source.partition(":")
    if kind not in SEQUENCES or not file:
        suffixes = catalog.constant("corpora/readers", "fasta", "SUFFIXES")
        kind, file = "fasta" if source.removesuffix(".gz").endswith(suffixes) else "", source
    if kind and Path(file).is_file():
        return Path(file.removesuffix(".gz")).stem, partial(_reader("sequences", "sequences"), kind=kind), [file]
    if Path(source).is_file():
        plain = Path(source).name.removesuffix(".gz")
        # of two suites of one file, such as marvin_linzen and marvin_linzen_verbs, the first one
        kind = "treebank" if plain.endswith(TREEBANKS) else "own"
        suite = next((suite for suite in names if plain in _files(modules[suite], suite)), kind)
        return Path(plain).stem if suite in OF_FILES else suite, _reader(modules[suite], suite), [source]
    if name not in names:
        near = suggest(name, names, remedy=f"name a file, or one of {', '.join(names)}")
        raise HeadscopeError(f"suite '{source}' is no file and no name of a suite; {near}")
    files = _files(modules[name], name)
    if files and data is None:
        raise HeadscopeError(f"suite '{name}': its files are missing; name their folder with --data")
    return name, _reader(modules[name], name), [_file(name, file, Path(str(data))) for file in files]


def _reader(module: str, suite: str) -> Callable[..., Iterable[Item]]:
    return getattr(catalog.load(READERS, module), suite)


def _files(module: str, suite: str) -> tuple[str, ...]:
    return catalog.constant(READERS, module, "SUITES")[suite]


def _file(suite: str, name: str, folder: Path) -> str:
    """A file of a suite, packed or not, in the folder or below it."""
    if not folder.is_dir():
        raise HeadscopeError(f"suite '{suite}': folder '{folder}' does not exist; name it with --data")
    folders = [folder]
    for _ in range(DEPTH):
        for packed in (name, f"{name}.gz"):
            if near := sorted(path for folder in folders if (path := folder / packed).is_file()):
                return str(near[0])
        folders = [path for folder in folders for path in folder.iterdir() if path.is_dir()]
    raise HeadscopeError(f"suite '{suite}': no file '{name}' or '{name}.gz' in '{folder}'; name its folder with --data")


def _hash(files: Sequence[str], items: Sequence[ClozeItem]) -> str:
    digest = sha256()
    for content in _contents(files, items):
        digest.update(content)
    return digest.hexdigest()


def _contents(files: Sequence[str], items: Sequence[ClozeItem]) -> Iterator[bytes]:
    for file in files:
        yield Path(file).read_bytes()
    if not files:
        yield "\0".join(candidate.text for item in items for candidate in item.candidates).encode()
