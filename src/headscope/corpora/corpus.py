"""A corpus: read and checked once as a whole, then iterated again and again.

A reader is a module of this folder. The first line of its docstring says what it reads, `SUFFIXES` are
the file names that tell its kind, and `examples(source, options)` yields each `Example`, and `Bad` or
`Skipped` for what is none. A reader whose source is not one file also has `locate(source, options)`,
the sources to read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from types import ModuleType

from headscope import catalog
from headscope.corpora import annotate, kinds
from headscope.corpora.options import DEFAULTS, Offsets, Options
from headscope.corpora.problems import Bad, Skipped
from headscope.errors import HeadscopeError
from headscope.types import Example, segment_text

IN_MEMORY = 4_000


@dataclass(frozen=True, eq=False)
class Corpus:
    """Examples that can be iterated again and again; a large corpus is read anew each time.

    * `name`: as a result names it.
    * `sha256`: of its files' bytes, or of its texts where it has no files.
    * `n_examples`: how many there are.
    * `skipped`: what was left out, and how often ("bad", "empty", "words cut", ...).

    >>> corpus = read("sample")
    >>> len(list(corpus)) == corpus.n_examples
    True
    """

    name: str
    sha256: str
    n_examples: int
    skipped: dict[str, int]
    again: Callable[[], Iterator[Example]] = field(repr=False)

    def __iter__(self) -> Iterator[Example]:
        return self.again()

    def __len__(self) -> int:
        return self.n_examples


def read(source: str | Path = "sample", options: Options = DEFAULTS, *, offsets: Offsets | None = None) -> Corpus:
    """Read a corpus through once, so that whatever is wrong with it is said now.

    * `source`: a file, `KIND:SOURCE`, or "sample", the bundled corpus.
    * `options`: how to read it.
    * `offsets`: characters [start, end) of each piece of a text; the kind "paragraphs" needs it.

    Raises `HeadscopeError` naming file and line of the first thing that cannot be read.

    >>> read("sample", Options(limit=3)).n_examples
    3
    """
    if options.limit is not None and options.limit < 1:
        raise HeadscopeError(f"corpus '{source}': limit {options.limit} leaves no example; use at least 1")
    options = replace(options, offsets=offsets or options.offsets)
    kind, place = kinds.tell(str(source), options)
    sources = getattr(catalog.load("corpora/readers", kind), "locate", kinds.existing)(place, options)
    again = partial(_examples, kind, sources, options)
    skipped, kept, texts, n = Counter(), [], sha256(), 0
    for n, example in enumerate(again(skipped), 1):
        texts.update(_content(example))
        if n <= IN_MEMORY:
            kept.append(example)
    if not n:
        raise HeadscopeError(f"corpus '{source}' has no examples{_why(skipped)}; check it and its --kind ({kind})")
    return Corpus(
        name=_name(place, sources),
        sha256=_hash_of_files(sources) or texts.hexdigest(),
        n_examples=n,
        skipped=dict(skipped),
        again=partial(iter, kept) if n <= IN_MEMORY else partial(again, Counter()),
    )


def _examples(kind: str, sources: list[str], options: Options, skipped: Counter[str]) -> Iterator[Example]:
    reader = catalog.load("corpora/readers", kind)
    found = (example for source in sources for example in _good(reader, source, options, skipped))
    annotated = annotate.annotate(found, options.annotate) if options.annotate else found
    return islice(annotated, options.limit)


def _good(reader: ModuleType, source: str, options: Options, skipped: Counter[str]) -> Iterator[Example]:
    for item in reader.examples(source, options):
        if isinstance(item, Skipped):
            skipped[item.reason] += item.count
        elif isinstance(item, Bad):
            if not options.skip_bad:
                remedy = "mend it, or leave such examples out with --skip-bad"
                raise HeadscopeError(f"corpus '{source}', line {item.line}: {item.message}; {remedy}")
            skipped["bad"] += 1
        elif all(segment_text(segment).strip() for segment in item.segments):
            yield item
        else:
            skipped["empty"] += 1


def _why(skipped: Counter[str]) -> str:
    return f" ({', '.join(f'{count} {reason}' for reason, count in skipped.items())})" if skipped else ""


def _content(example: Example) -> bytes:
    """What the hash is of; raises `HeadscopeError` where JSON has half of a surrogate pair, which is no text."""
    texts = [segment_text(segment) for segment in example.segments]
    try:
        return "\0".join([*texts, str(example.label)]).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise HeadscopeError(f"corpus example '{example.id}': {half!a} is half of a character; mend it") from error


def _name(place: str, sources: list[str]) -> str:
    return "/".join(Path(sources[0]).parts[-2:]) if len(sources) == 1 and Path(sources[0]).is_file() else place


def _hash_of_files(sources: Iterable[str]) -> str | None:
    digest = sha256()
    for source in sources:
        if not Path(source).is_file():
            return None
        with open(source, "rb") as file:
            while block := file.read(1 << 16):
                digest.update(block)
    return digest.hexdigest()
