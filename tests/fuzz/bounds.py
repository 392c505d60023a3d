"""Inputs of a chosen size, one for each bound of docs/reliability.md: at the bound it is read, beyond it refused.

Bounds of many bytes are made small first: what is tested is where they lie, not how large they are.
"""

import asyncio
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
import xarray as xr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from torch import nn
from transformers import BertConfig

from headscope import results
from headscope.capture.transformers_logging import quiet
from headscope.corpora import Options, read
from headscope.corpora.parsing import lines, parquet, xml
from headscope.corpora.readers import table
from headscope.corpora.suites import read_suites
from headscope.errors import HeadscopeError
from headscope.models import config, pruned_checkpoint, tokenizer
from headscope.models.checkpoint import Checkpoint, locate
from headscope.models.config import load_config
from headscope.models.saved_tokenizer import read_stored
from headscope.papers import entry_file, model_card
from headscope.report.cards.model_results import MeasuredModel
from headscope.results import hostile_netcdf as hostile
from headscope.results import saved_check
from headscope.storage import limits
from headscope.studies.heads.probe import word_vectors
from headscope.viewer import serving, text_tokens, view_state
from support.profile_result import profile_result
from support.tiny import save_tiny, tiny_tokenizer

SMALL = 20_000
Read = Callable[[int, Path], object]


@dataclass(frozen=True)
class Bound:
    """A bound of the table in docs/reliability.md.

    * `row`: the start of its row there.
    * `most`: the largest size that is read.
    * `read`: reads an input of a size, in a folder of its own; raises `HeadscopeError` to refuse it.
    * `slack`: sizes beyond `most` that may still be read, where the bound is looked at from time to time.
    """

    row: str
    most: int
    read: Read
    slack: int = 0

    def good(self, _: Path) -> bytes:
        """The largest size that is read, in digits."""
        return b"%d" % self.most

    def take(self, content: bytes, folder: Path) -> None:
        """Read an input of a size; fail if it is read beyond the bound, or refused below it."""
        size = int(content)
        try:
            self.read(size, folder)
        except HeadscopeError as error:
            assert size > self.most, f"{size} is refused, the bound is {self.most}: {error}"
            raise
        assert size <= self.most + self.slack, f"{size} is read, the bound is {self.most}"

    def near(self, _: bytes, random: Random) -> bytes:
        """A size at the bound, near it, or twice as large."""
        most = self.most + random.choice((0, self.slack))
        near = random.randint(1, max(1, min(100, self.most // 10)))
        return b"%d" % random.choice((most - 1, most, most + 1, self.most - near, most + near, 2 * most))


def _corpus(name: str, content: str | bytes, folder: Path, **options: Any) -> int:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return len(list(read(folder / name, Options(**options))))


def _line(size: int, folder: Path) -> object:
    """A line of JSON with blanks at its end."""
    return _corpus("x.jsonl", '{"text": "It rained."}'.ljust(size - 1) + "\n", folder)


def _unpacked(size: int, folder: Path) -> object:
    """A packed file of blank lines and one that is not."""
    with patch.object(lines, "UNPACKED_LEAST", SMALL), patch.object(lines, "UNPACKED_TIMES", 1):
        return _corpus("x.txt.gz", gzip.compress(b"It rained.".rjust(size, b"\n")), folder)


def _row_of_csv(size: int, folder: Path) -> object:
    """A row with line ends within quotes."""
    row = 'It rained.,"{}"\n'
    cell = "a\n" * SMALL
    with patch.object(table, "LONGEST_LINE", SMALL):
        return _corpus("x.csv", f"text,note\n{row.format(cell[: size - len(row) + 2])}It did.,no\n", folder)


def _sentence(size: int, folder: Path) -> object:
    """The rows of a sentence; the last word fills it up."""
    row = "Ann\tNNP\t0\n"
    last = size - len(row) - len("\tNNP\t1\n")
    return _corpus("x.dp", row + "a" * last + "\tNNP\t1\n", folder)


def _unit(inner: str, attribute: str = "") -> str:
    """A lexical unit with one sentence of FrameNet, and more within it."""
    layers = (
        '<layer name="Target"><label name="Target" start="0" end="1"/></layer>'
        '<layer name="FE"><label name="Place" start="3" end="8"/></layer>'
    )
    header = '<header><frame><FE name="Place" type="Core"/></frame></header>'
    sentence = f'<sentence><text>It rained here.</text><annotationSet ID="2">{layers}</annotationSet></sentence>'
    return (
        f'<lexUnit name="rain.v" frame="Weather" ID="1"{attribute}>{header}<subCorpus>{sentence}</subCorpus>'
        f"{inner}</lexUnit>"
    )


def _xml(size: int, folder: Path) -> object:
    with patch.object(xml, "LARGEST_FILE", SMALL):
        return _corpus("lu1.xml", _unit("").ljust(size), folder)


def _elements(size: int, folder: Path) -> object:
    own = _unit("").count("<") - _unit("").count("</") + _unit("").count('="')
    with patch.object(xml, "MOST_ELEMENTS", SMALL):
        return _corpus("lu1.xml", _unit("<a/>" * (size - own)), folder)


def _tag(size: int, folder: Path) -> object:
    empty = _unit("", ' pad=""').index(">") + 1
    return _corpus("lu1.xml", _unit("", f' pad="{"a" * (size - empty)}"'), folder)


def _levels_of_xml(size: int, folder: Path) -> object:
    return _corpus("lu1.xml", _unit("<a>" * (size - 1) + "</a>" * (size - 1)), folder)


def _levels_of_brackets(size: int, folder: Path) -> object:
    return _corpus("x.mrg", "(S " * (size - 1) + "(NN rain)" + ")" * (size - 1), folder)


def _levels_of_conll(size: int, folder: Path) -> object:
    rows = (f"a 0 0 It PRP {'(S' * size}* - - - - * -", f"a 0 1 rained VBD *{')' * size} - - - - * -")
    content = "\n".join(("#begin document (a); part 000", *rows, "", "#end document", ""))
    return _corpus("x.v4_gold_conll", content, folder)


def _parquet(text: str) -> bytes:
    file = io.BytesIO()
    kinds = pa.schema([pa.field("text", pa.string(), nullable=False)])
    pq.write_table(pa.table({"text": [text]}, kinds), file, use_dictionary=False, compression="none")
    return file.getvalue()


def _packed_parquet(size: int, folder: Path) -> object:
    """A packed file that has a size once it is unpacked; what stands before its end is not read."""
    content = _parquet("It rained.")
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    with patch.object(table, "LARGEST_FILE", SMALL):
        padded = content[:end] + bytes(size - len(content)) + content[end:]
        return _corpus("x.parquet.gz", gzip.compress(padded, 1), folder)


def _footer(size: int, folder: Path) -> object:
    """A footer with a remark that makes it this long."""

    def content(letters: int) -> bytes:
        file, rows = io.BytesIO(), pa.table({"text": ["It rained."]})
        with pq.ParquetWriter(file, rows.schema) as writer:
            writer.write_table(rows)
            writer.add_key_value_metadata({"remark": "a" * letters})
        return file.getvalue()

    some = SMALL - 2000  # its number of letters is written in three bytes, as that of all sizes near the bound
    with patch.object(parquet, "LARGEST_FOOTER", SMALL):
        return _corpus("x.parquet", content(some + size - int.from_bytes(content(some)[-8:-4], "little")), folder)


def _page(size: int, folder: Path) -> object:
    """A page of one text, whose length stands before it in four bytes."""
    with patch.object(parquet, "LARGEST_PAGE", SMALL):
        return _corpus("x.parquet", _parquet("a" * (size - 4)), folder)


def _digits(size: int, folder: Path) -> object:
    record = {"sentence": "It rained.", "frame": "Weather", "target": [3, 9], "lexical_unit": "rain.v", "elements": []}
    return _corpus("x.jsonl", json.dumps(record | {"anno_id": int("9" * size)}), folder, kind="framenet")


def _label(size: int, folder: Path) -> object:
    return _corpus("x.tsv", f"text\tlabel\nIt rained.\t{'a' * size}\n", folder)


def _relation(size: int, folder: Path) -> object:
    return _corpus("x.conllu", f"1\tRain\t_\tNOUN\t_\t_\t0\t{'a' * size}\t_\t_\n", folder)


def _condition(size: int, folder: Path) -> object:
    item = {"good": "It rains.", "bad": "It rain.", "condition": "a" * size}
    (folder / "x.jsonl").write_text(json.dumps(item))
    return read_suites([folder / "x.jsonl"])


def _mentions(size: int, folder: Path) -> object:
    (folder / "male_occupations.txt").write_text("guard\n")
    (folder / "female_occupations.txt").write_text("nurse\n")
    more = " [a]" * (size - 2)
    line = f"1 [The guard] saw the nurse because [he] was late{more}.\n"
    return _corpus("pro_stereotyped_type1.txt.dev", line, folder, kind="winobias")


def _texts_of_a_field(size: int, folder: Path) -> object:
    item = {"good": "It rains.", "bad": [f"It rain{number}." for number in range(size)]}
    (folder / "x.jsonl").write_text(json.dumps(item))
    return read_suites([folder / "x.jsonl"])


def _claims(size: int, folder: Path) -> object:
    """A file with no claim, and a remark that fills it up."""
    (folder / "x.yaml").write_text("schema: 1\nclaims: []\n#".ljust(size, "a"))
    return entry_file.read_mapping(folder / "x.yaml", ("schema", "claims"), "claims", 1, HeadscopeError)


def _card(size: int, folder: Path) -> object:
    (folder / "README.md").write_text("a" * size)
    return model_card.write_card(folder / "README.md", MeasuredModel((), "model", ()), [])


def _neurons(size: int, _: Path) -> object:
    pruned: dict[str, Any] = {pruned_checkpoint.KEY: {"heads": [2], "removed": {}, "neurons": [size]}}
    return pruned_checkpoint.pruning_of(BertConfig(**pruned))


def _numbers_of_a_word(size: int, folder: Path) -> object:
    (folder / "x.txt").write_text("rain" + " 1" * size + "\n")
    return word_vectors.read_vectors(str(folder / "x.txt"), ["rain"])


def _posted(size: int, _: Path) -> object:
    """The body of a request, blanks at its end."""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"{}".ljust(size), "more_body": False}

    scope = {"type": "http", "headers": [(b"content-type", b"application/json")]}
    try:
        return asyncio.run(serving.json_body(Request(scope, receive)))
    except HTTPException as error:
        raise HeadscopeError(error.detail) from error


def _written(size: int, _: Path) -> object:
    return text_tokens.text_tokens(tiny_tokenizer(), 32, "a" * size)


def _fields(size: int, _: Path) -> object:
    return view_state.parse_state("&".join(["t=1"] * size))


def _checkpoint(folder: Path, **changes: object) -> Checkpoint:
    """A tiny model whose configuration is changed; its weights are 55 arrays."""
    with quiet():
        save_tiny(folder / "model")
    path = folder / "model" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return locate(str(folder / "model"))


def _layers(size: int, folder: Path) -> object:
    return load_config(_checkpoint(folder, num_hidden_layers=size))


def _classes(size: int, folder: Path) -> object:
    return load_config(_checkpoint(folder, num_labels=size))


def _made_numbers(size: int, folder: Path) -> object:
    """Numbers that a network makes."""
    with _stored(0), config.bounded(_checkpoint(folder)):
        return nn.Module().register_buffer("made", torch.empty(size, device="meta"))


def _made_arrays(size: int, folder: Path) -> object:
    module = nn.Module()
    with _stored(0), config.bounded(_checkpoint(folder)):
        for number in range(size):
            module.register_buffer(f"made{number}", torch.empty(1, device="meta"))


@contextmanager
def _stored(times: int) -> Iterator[None]:
    """Count the stored weights so many times, so that the bound does not depend on them."""
    with patch.object(config, "TIMES", times):
        yield


def _pruned_heads(size: int, _: Path) -> object:
    full = limits.MOST_HEADS
    heads = [full] * (size // full) + [size % full] * (size % full > 0)
    pruned: dict[str, Any] = {pruned_checkpoint.KEY: {"heads": heads, "removed": {}}}
    return pruned_checkpoint.pruning_of(BertConfig(**pruned))


def _growth(size: int, folder: Path) -> object:
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * size}
    (folder / "tokenizer.json").write_text(json.dumps({"normalizer": step}))
    return tokenizer.refuse_growth(read_stored(folder), "model")


def _guarded(**variables: tuple[int, ...]) -> None:
    """Hold variables of these shapes, of a byte a number and never written, against the guard of results."""
    with h5py.File(io.BytesIO(), "w") as file:
        for name, shape in variables.items():
            file.create_dataset(name, shape, "i1", chunks=shape and (1,))
        try:
            hostile.safe_datasets(file)
        except ValueError as error:
            raise HeadscopeError(str(error)) from error


def _variable(size: int, _: Path) -> object:
    with patch.object(limits, "LARGEST_VARIABLE", SMALL):
        return _guarded(many=(size,))


def _all_variables(size: int, _: Path) -> object:
    with patch.object(limits, "LARGEST_RESULT", SMALL):
        return _guarded(half=(size // 2,), rest=(size - size // 2,))


def _packed(size: int, _: Path) -> object:
    return _guarded(many=(size,))


def _variables(size: int, _: Path) -> object:
    return _guarded(**{f"v{number}": () for number in range(size)})


def _result() -> xr.Dataset:
    """Two variables of a result: one by head, one by class of tokens."""
    return profile_result()[["entropy", "attention_to"]]


def _value(size: int, folder: Path) -> object:
    """A value that is `size` steps of a number above one that is SMALL of them below the largest."""
    result = _result()
    result["entropy"][0, 0] = saved_check.LARGEST + (size - SMALL) * np.spacing(saved_check.LARGEST)
    return results.read(results.save(result, folder).parent)


def _words(size: int, folder: Path) -> object:
    result = _result()
    result["entropy"].attrs["long_name"] = "a" * size
    return results.read(results.save(result, folder).parent)


def _text_of_a_label(size: int, folder: Path) -> object:
    result = _result()
    names = ["a" * size, *result["token_class"].values[1:]]
    return _read_result(result.assign_coords(token_class=names), folder)


def _number_of_a_layer(size: int, folder: Path) -> object:
    return _read_result(_result().assign_coords(layer=[size - 3, size - 2, size - 1, size]), folder)


def _read_result(result: xr.Dataset, folder: Path) -> object:
    result.to_netcdf(folder / "result.nc", engine="h5netcdf")
    return results.read(folder)


UNIT, LABEL = (
    "an XML file, a packed Parquet file, a file of SQuAD",
    "id, label, relation, part of speech, phenomenon, condition",
)
LEVELS, MADE, LABELS = "levels of XML elements or of a parse", "what config.json makes", "a label of a result"
RESULT = "a variable of a result; all of them"
BOUNDS: Mapping[str, Bound] = {
    "line": Bound("a line of text, a row of CSV", limits.LONGEST_LINE, _line),
    "packed": Bound("a .gz file", SMALL, _unpacked),
    "row of csv": Bound("a line of text, a row of CSV", SMALL, _row_of_csv),
    "sentence": Bound("a text; a sentence of a treebank", limits.LONGEST_TEXT, _sentence),
    "xml": Bound(UNIT, SMALL, _xml),
    "parquet, packed": Bound(UNIT, SMALL, _packed_parquet),
    "elements of xml": Bound("elements and attributes of an XML file", SMALL, _elements),
    "tag of xml": Bound("a tag of XML", limits.LONGEST_TAG, _tag, slack=xml.PART),
    "footer of parquet": Bound("footer of a Parquet file", SMALL, _footer),
    "page of parquet": Bound("a page of a Parquet file", SMALL, _page),
    "levels of xml": Bound(LEVELS, limits.DEEPEST, _levels_of_xml),
    "levels of brackets": Bound(LEVELS, limits.DEEPEST, _levels_of_brackets),
    "levels of conll2012": Bound(LEVELS, limits.DEEPEST, _levels_of_conll),
    "digits": Bound("digits of a whole number", limits.MOST_DIGITS, _digits),
    "label": Bound(LABEL, limits.LONGEST_NAME, _label),
    "relation": Bound(LABEL, limits.LONGEST_NAME, _relation),
    "condition": Bound(LABEL, limits.LONGEST_NAME, _condition),
    "mentions": Bound("mentions in a line of WinoBias", limits.MOST_MENTIONS, _mentions),
    "numbers of a word": Bound("numbers of a word vector", limits.MOST_NUMBERS, _numbers_of_a_word),
    "texts of a field": Bound("texts of a field of a suite", limits.MOST_TEXTS, _texts_of_a_field),
    "claims": Bound("a file of claims", limits.LARGEST_CLAIMS, _claims),
    "card": Bound("a card of a model", limits.LARGEST_CARD, _card),
    "request": Bound("body of a request to a local page", limits.LARGEST_BODY, _posted),
    "text of the viewer": Bound("a text in the viewer", limits.MOST_LETTERS, _written),
    "fields of a view": Bound("fields of a view's state", limits.MOST_FIELDS, _fields),
    "layers": Bound("layers in config.json", limits.FEW_LAYERS, _layers),
    "labels of a model": Bound("labels in config.json", limits.FEW_LABELS, _classes),
    "numbers of a model": Bound(MADE, limits.MORE_NUMBERS, _made_numbers),
    "arrays of a model": Bound(MADE, limits.MORE_WEIGHTS, _made_arrays),
    "heads before pruning": Bound("heads of a pruned model", limits.MOST_IN_ALL, _pruned_heads),
    "neurons": Bound("neurons of a pruned layer", limits.MOST_NEURONS, _neurons),
    "text of a tokenizer": Bound("text that a tokenizer makes", limits.MOST_GROWTH, _growth),
    "variable": Bound(RESULT, SMALL, _variable),
    "all variables": Bound(RESULT, SMALL, _all_variables),
    "packed numbers": Bound("numbers of a result that another program", limits.PACKED_LEAST, _packed),
    "variables": Bound("variables of a result", limits.MOST_VARIABLES, _variables),
    "value": Bound("a value of a result", SMALL, _value),
    "words of a variable": Bound("words of a variable of a result", limits.LONGEST_WORDS, _words),
    "text of a label": Bound(LABELS, limits.LONGEST_WORDS, _text_of_a_label),
    "number of a layer": Bound(LABELS, limits.LAST_LAYER, _number_of_a_layer),
}
