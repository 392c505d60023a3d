"""A corpus: read and checked once as a whole, then iterated again and again.

A reader is a module of this folder. The first line of its docstring says what it reads, `SUFFIXES` are
the file names that tell its kind, and `examples(source, options)` yields each `Example`, and `Bad` or
`Skipped` for what is none. A reader whose source is not one file also has `locate(source, options)`,
the sources to read.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from headscope import catalog
from headscope.corpora import annotate, in_memory, kinds
from headscope.corpora.options import DEFAULTS, Offsets, Options
from headscope.corpora.parsing.storable import unstorable
from headscope.corpora.problems import Bad, Skipped
from headscope.errors import HeadscopeError, suggest
from headscope.files import refuse_text
from headscope.source_files import SourceFiles, source_files
from headscope.types import Example, segment_text

IN_MEMORY = 4_000


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Examples that can be iterated again and again; a large corpus is read anew each time.

    * `name`: as a result names it.
    * `sha256`: of its files' bytes, or of its texts where it has no files.
    * `n_examples`: how many there are.
    * `skipped`: what was left out, and how often ("bad", "empty", "words cut", ...).
    * `files`: those that `sha256` is of; None for texts in memory, or of a data set of the hub.
    * `text_bytes`: the size of all texts and labels; 0 where it is not known.

    >>> corpus = read("sample")
    >>> len(list(corpus)) == corpus.n_examples
    True
    """

    name: str
    sha256: str
    n_examples: int
    skipped: dict[str, int]
    again: Callable[[], Iterator[Example]]
    files: SourceFiles | None = None
    text_bytes: int = 0

    def refuse_changed(self) -> None:
        """Raise `HeadscopeError` if a file is no longer the one that was hashed."""
        if self.files:
            self.files.refuse_changed(f"corpus '{self.name}'")

    def __iter__(self) -> Iterator[Example]:
        return self.again()

    def __len__(self) -> int:
        return self.n_examples

    def __repr__(self) -> str:
        return f"Corpus('{self.name}', {self.n_examples} examples)"


def read(
    source: Any = "sample", options: Options = DEFAULTS, *, offsets: Offsets | None = None, **keywords: Any
) -> Corpus:
    """Read a corpus through once, so that whatever is wrong with it is said now.

    * `source`: a file, `KIND:SOURCE`, or "sample", the bundled corpus; or texts in memory: a list of strings or of
      pairs of strings, a pandas DataFrame, a `datasets.Dataset`. A corpus is returned as it is.
    * `options`: how to read it; `keywords` are fields of these options by name, as `limit` and `kind`.
    * `offsets`: characters [start, end) of each piece of a text; the kind "paragraphs" needs it.

    Raises `HeadscopeError` naming file and line of the first thing that cannot be read.

    >>> read("sample", limit=3)
    Corpus('sample', 3 examples)
    >>> read([("It rained.", "We stayed in.")])
    Corpus('list', 1 examples)
    """
    if isinstance(source, Corpus):
        return source
    options = _with_keywords(options, keywords)
    if options.limit is not None and options.limit < 1:
        raise HeadscopeError(f"corpus '{source}': limit {options.limit} leaves no example; use at least 1")
    options = replace(options, offsets=offsets or options.offsets)
    if isinstance(source, str | Path):
        refuse_text("corpus", str(source))
        kind, place = kinds.tell(str(source), options)
        if kind == "sample" and place != "sample":
            raise HeadscopeError(f"corpus '{place}' is not the bundled sample; leave out the kind 'sample'")
        reader = catalog.load("corpora/readers", kind)
        sources = getattr(reader, "locate", kinds.existing)(place, options)
        name, files = _name(place, sources), source_files(sources) if all(map(os.path.isfile, sources)) else None
    else:
        kind, reader, sources, name = "text", in_memory, [source], type(source).__name__
        files = None
    again = partial(_examples, reader.examples, sources, options)
    skipped, kept, texts, n, text_bytes = Counter(), [], sha256(), 0, 0
    for n, example in enumerate(again(skipped), 1):
        content = _content(example)
        texts.update(content)
        text_bytes += len(content)
        if n <= IN_MEMORY:
            kept.append(example)
    if not n:
        raise HeadscopeError(f"corpus '{name}' has no examples{_why(skipped)}; check it and its --kind ({kind})")
    return Corpus(
        name=name,
        sha256=files.sha256 if files else texts.hexdigest(),
        n_examples=n,
        skipped=dict(skipped),
        again=partial(iter, kept) if n <= IN_MEMORY else partial(again, Counter()),
        files=files,
        text_bytes=text_bytes,
    )


def _with_keywords(options: Options, keywords: Mapping[str, Any]) -> Options:
    names = [each.name for each in fields(Options)]
    if unknown := next((name for name in keywords if name not in names), ""):
        raise HeadscopeError(f"option '{unknown}' of a corpus is unknown; {suggest(unknown, names)}")
    return replace(options, **keywords)


def _examples(
    read: Callable[[Any, Options], Iterable[Example | Bad | Skipped]],
    sources: list[Any],
    options: Options,
    skipped: Counter[str],
) -> Iterator[Example]:
    items = ((_place(source), read(source, options)) for source in sources)
    ids: set[str] = set()
    examples = (example for place, each in items for example in _good(each, place, options, skipped, ids))
    annotated = annotate.annotate(examples, options.annotate) if options.annotate else examples
    return islice(annotated, options.limit)


def _place(source: Any) -> str:
    return source if isinstance(source, str) else type(source).__name__


def _good(
    items: Iterable[Example | Bad | Skipped], source: str, options: Options, skipped: Counter[str], ids: set[str]
) -> Iterator[Example]:
    numbered = f"{Path(source).name}:"
    for item in items:
        if isinstance(item, Skipped):
            skipped[item.reason] += item.count
        elif (problem := _problem(item, numbered, ids)) or isinstance(item, Bad):
            if not options.skip_bad:
                remedy = "mend it, or leave such examples out with --skip-bad"
                raise HeadscopeError(f"corpus '{source}', {problem}; {remedy}")
            skipped["bad"] += 1
        elif all(segment_text(segment).strip() for segment in item.segments):
            yield item
        else:
            skipped["empty"] += 1


def _problem(item: Example | Bad, numbered: str, ids: set[str]) -> str:
    """The place and the problem of an item; "" for a good example, whose id joins `ids`.

    * `numbered`: how an id begins that has the number of a line; it is unique, and need not be kept.
    """
    if isinstance(item, Bad):
        return f"line {item.line}: {item.message}"
    wrong = "another example has this id" if item.id in ids else unstorable(item)
    if not item.id.startswith(numbered):
        ids.add(item.id)
    return f"example '{item.id[:40]}': {wrong}" if wrong else ""


def _why(skipped: Counter[str]) -> str:
    return f" ({', '.join(f'{count} {reason}' for reason, count in skipped.items())})" if skipped else ""


def _content(example: Example) -> bytes:
    """The bytes that the hash of a corpus without files is made of."""
    return "\0".join([*(segment_text(segment) for segment in example.segments), str(example.label)]).encode()


def _name(place: str, sources: list[str]) -> str:
    return "/".join(Path(sources[0]).parts[-2:]) if len(sources) == 1 and Path(sources[0]).is_file() else place
