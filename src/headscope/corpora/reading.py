"""Reading of a corpus: it is checked once as a whole, so that it can be iterated again and again.

A reader is a module of this folder. The first line of its docstring says what it reads, `SUFFIXES` are
the file names that tell its kind, and `examples(source, options)` yields each `Example`, and `Bad` or
`Skipped` for what is not an example. A reader whose source is not one file also has `locate(source, options)`,
the sources to read. A reader that hands `options.cursor` to `lines` can be begun at any example.
"""

import atexit
import os
import shutil
import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from headscope import catalog
from headscope.corpora import kept_check
from headscope.corpora.corpus import Corpus
from headscope.corpora.drawing import drawn
from headscope.corpora.options import DEFAULTS, Offsets, Options, existing, tell, with_keywords
from headscope.corpora.parsing.columns import in_memory
from headscope.corpora.stream import Marks, Sources, Stream
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, number_of, segment_text
from headscope.storage.files import opening, refuse_text
from headscope.storage.hashes import SourceFiles, Stamps, source_files, stamps_of
from headscope.storage.limits import BYTES_IN_MEMORY, IN_MEMORY

# A check that takes longer is kept.
SECONDS = 5.0


@opening()
def read(
    source: Any = "sample",
    options: Options = DEFAULTS,
    *,
    offsets: Offsets | None = None,
    kept: Path | None = None,
    keep_from: float | None = None,
    **keywords: Any,
) -> Corpus:
    """Read a corpus once, so that all its errors show now.

    * `source`: a file, `KIND:SOURCE`, or "sample", the bundled corpus; or texts in memory: strings or pairs of
      strings in a list, an array, a pandas Series or a generator, a pandas DataFrame, a `datasets.Dataset`. Strings
      that are written as in a file, such as the sentences of a treebank, are given with their kind. A corpus is
      returned as it is.
    * `options`: how to read it; `keywords` are fields of these options by name, as `limit` and `kind`.
      A limit draws evenly, see `Corpus.drawn`.
    * `offsets`: characters [start, end) of each piece of a text; the kind "paragraphs" needs it.
    * `kept`: a folder in which a check that took `keep_from` seconds (by default 5) is kept, and found when the same
      files are read the same way.

    Raises `HeadscopeError` naming the file that cannot be opened, or file and line of the first thing that cannot be
    read.

    >>> read("sample", limit=40), read("sample", limit=40).drawn
    (Corpus('sample', 40 examples), '40 of 282, drawn evenly over documents, seed 0')
    >>> read([("It rained.", "We stayed in.")])
    Corpus('list', 1 examples)
    """
    if isinstance(source, Corpus):
        return source
    source = _kept(source)
    options = with_keywords(options, keywords)
    if options.limit is not None and options.limit < 1:
        raise HeadscopeError(f"corpus '{source}': limit {options.limit} leaves no example; use at least 1")
    options = replace(options, offsets=offsets or options.offsets)
    if _are_written(source, options):
        return _written(source, options)
    if isinstance(source, str | Path):
        refuse_text("corpus", str(source))
        kind, address = tell(str(source), options)
        if kind == "sample" and address != "sample":
            raise HeadscopeError(f"corpus '{address}' is not the bundled sample; leave out the kind 'sample'")
        reader = catalog.load("corpora/readers", kind)
        read_examples, more_documents = reader.examples, getattr(reader, "more_documents", None)
        sources = getattr(reader, "locate", existing)(address, options)
        name, before = _name(address, sources), stamps_of(sources) if all(map(os.path.isfile, sources)) else None
    else:
        kind, sources, name = "text", [source], type(source).__name__
        read_examples, more_documents, before = in_memory, None, None
    streamed = drawn(Sources(read_examples, sources, options))
    if kept and before is not None and kept_check.any_in(kept):
        files = _hashed(sources, before, name)
        if check := kept_check.find(kept, kind, options, files):
            return _streamed(name, files.sha256, check, files, streamed)
    started, (corpus, check) = time.monotonic(), _checked(name, kind, before, streamed)
    if (
        kept
        and corpus.files
        and isinstance(corpus.again(), Stream)
        and time.monotonic() - started >= (SECONDS if keep_from is None else keep_from)
    ):
        kept_check.keep(kept, kind, options, corpus.files, check)
    if corpus.has_few_documents and more_documents:
        return replace(corpus, more_documents=more_documents(sources, options, corpus))
    return corpus


def _kept(source: Any) -> Any:
    """A source that can be read more than once."""
    return list(source) if isinstance(source, Generator | map | filter) else source


def _are_written(source: Any, options: Options) -> bool:
    """Whether a source is texts in memory that are written as in a file of a kind."""
    texts = source if isinstance(source, list | tuple) else ()
    return options.kind not in (None, "text") and bool(texts) and all(isinstance(text, str) for text in texts)


def _written(texts: Sequence[str], options: Options) -> Corpus:
    """The corpus of texts that are written as in a file: lines, or paragraphs such as those of CoNLL-U."""
    between = "\n\n" if any("\n" in text.strip() for text in texts) else "\n"
    content = "".join(f"{text.rstrip()}{between}" for text in texts)
    return read_copy(BytesIO(content.encode()), "list", options)


def read_copy(content: BinaryIO, name: str, options: Options) -> Corpus:
    """The corpus of a copy of a stream, under a name; the copy is a file that is removed when Python ends.

    Raises `HeadscopeError` as `read` does, with the name in the place of the file.
    """
    with NamedTemporaryFile(prefix="headscope-", delete=False) as copy:
        atexit.register(os.unlink, copy.name)
        shutil.copyfileobj(content, copy)
    try:
        return replace(read(copy.name, options), name=name)
    except HeadscopeError as error:
        short = "/".join(Path(copy.name).parts[-2:])
        raise HeadscopeError(str(error).replace(copy.name, name).replace(short, name)) from error


def _checked(name: str, kind: str, before: Stamps | None, sources: Sources) -> tuple[Corpus, kept_check.Check]:
    """A corpus that is read through once, and what was found; `before`: the state of its files, if it has some."""
    stream, marks, few, texts, text_bytes = Stream(sources), sources.marks, list[Example](), sha256(), 0
    documents = set[int]()
    reading = stream.reading
    for example in stream:
        marks.note(stream.index, reading.source, reading.cursor)
        content = _content(example)
        documents.add(number_of(example.document))
        if before is None:
            texts.update(content)
        text_bytes += len(content)
        if stream.number <= IN_MEMORY and text_bytes <= BYTES_IN_MEMORY:
            few.append(example)
    n, skipped = stream.number, dict(+(reading.skipped | sources.left_out))
    if not n:
        why = f" ({', '.join(f'{count} {reason}' for reason, count in skipped.items())})" if skipped else ""
        raise HeadscopeError(f"corpus '{name}' has no examples{why}; check it and its --kind ({kind})")
    files = _hashed(sources.sources, before, name) if before is not None else None
    # an id is repeated only within the whole corpus, which then has to be read from its start
    n_documents = len(documents - {number_of("")})
    if kind == "text" and n_documents == 1:
        n_documents = 0  # whether lines without a title or a blank one between them are one document is not known
    check = kept_check.check_of(n, n_documents, skipped, text_bytes, Marks() if reading.repeated else marks)
    corpus = _streamed(name, files.sha256 if files else texts.hexdigest(), check, files, sources)
    return (corpus if len(few) < n else replace(corpus, again=partial(iter, few))), check


def _streamed(name: str, digest: str, check: kept_check.Check, files: SourceFiles | None, sources: Sources) -> Corpus:
    """A corpus that is read anew for each pass."""
    again, n = partial(Stream, sources, check.marks()), check.n_examples
    words = sources.drawn or (f"the first {n:,}" if sources.options.limit == n else "")
    corpus = Corpus(name, digest, n, check.skipped, again, files, check.text_bytes, check.n_documents)
    return replace(corpus, drawn=words)


def _hashed(sources: list[str], before: Stamps, name: str) -> SourceFiles:
    """The files that were read, with their hash: a huge file that cannot be read is refused before it is hashed.

    * `before`: their state when reading began. Raises `HeadscopeError` if it is no longer that.
    """
    files = source_files(sources)
    if files.stamps != before:
        raise HeadscopeError(f"corpus '{name}' has changed while it was read; start the same command again")
    return files


def _content(example: Example) -> bytes:
    """The bytes that the hash of a corpus without files is made of."""
    return "\0".join([*map(segment_text, example.segments), str(example.label)]).encode()


def _name(address: str, sources: list[str]) -> str:
    return "/".join(Path(sources[0]).parts[-2:]) if len(sources) == 1 and Path(sources[0]).is_file() else address
