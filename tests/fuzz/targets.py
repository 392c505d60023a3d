"""Inputs of headscope that others write, each with a good example to mutate and the function that reads it."""

import asyncio
import atexit
import gzip
import io
import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from fuzz.bounds import BOUNDS
from fuzz.mutations import mutate
from fuzz.runs_and_plugins import INPUTS
from fuzz.saved_results import every_result, mutate_one, take_result
from headscope import models, results
from headscope.ablation.sweep import sweep
from headscope.capture.transformers_logging import quiet
from headscope.corpora import Corpus, Options, read
from headscope.corpora.readers import sample
from headscope.corpora.suites import read_suites
from headscope.errors import HeadscopeError
from headscope.front.cli.compute import Computed
from headscope.front.cli.options import DEFAULTS
from headscope.front.cli.rerun import rerun
from headscope.models.checkpoint import locate
from headscope.models.config import load_config
from headscope.models.gguf_model import weights_of
from headscope.outputs.task_inputs import TaskInputs, task_inputs
from headscope.passes import Pass, Settings, shards
from headscope.passes.coverage import Coverage
from headscope.passes.settings import PassJournal
from headscope.passes.shards import ReadShards
from headscope.report.cards import gather
from headscope.report.study_page import study_page
from headscope.storage.codec import decode, encode
from headscope.storage.lines import line_of
from headscope.studies.heads.patterns import labelled_maps
from headscope.studies.heads.probe.word_vectors import read_vectors
from headscope.studies.words.cloze.item_scores import ItemScores
from headscope.training.run_record import RunRecord, TrainedOutputs
from headscope.viewer import server as viewer
from headscope.viewer.example_index import example_index
from headscope.viewer.kept_texts import identifier
from headscope.viewer.session import ViewSession
from support.closed import without_override
from support.killed import Killed
from support.planted_task import planted_classifier, planted_task
from support.profile_result import profile_result
from support.tiny import byte_tokenizer, save_tiny, tiny_bert, tiny_tokenizer
from support.unlabelled import folder as map_folder
from support.written import parquet
from support.written_gguf import tiny_decoder, write_gguf

OCCUPATIONS = {"male_occupations.txt": b"cook\nguard\n", "female_occupations.txt": b"nurse\nbaker\n"}


@dataclass(frozen=True)
class Target:
    """A kind of input.

    * `make`: a good input, made once.
    * `take`: reads an input that was mutated, in a folder of its own; raises `HeadscopeError` to refuse it.
    * `mutate`: makes such an input of the good one.
    """

    make: Callable[[Path], bytes]
    take: Callable[[bytes, Path], object]
    mutate: Callable[[bytes, Random], bytes] = mutate


def corpus_file(
    name: str, content: bytes, kind: str | None = None, beside: Mapping[str, bytes] = {}, **options: Any
) -> Target:
    """A corpus of one file, with files beside it that stay as they are."""

    def take(mutated: bytes, folder: Path) -> object:
        for other, unchanged in beside.items():
            (folder / other).write_bytes(unchanged)
        packed = gzip.compress(mutated, 1) if name.endswith(".gz") else mutated
        (folder / name).write_bytes(packed)
        corpus = read(folder / name, Options(kind=kind, skip_bad=bool(len(mutated) % 2), **options))
        return sum(example.n_words for example in corpus)

    return Target(lambda folder: content, take)


def suite_file(name: str, content: bytes, beside: Mapping[str, bytes] = {}) -> Target:
    """A suite of one file, with files beside it that stay as they are."""

    def take(mutated: bytes, folder: Path) -> object:
        for other, unchanged in beside.items():
            (folder / other).write_bytes(unchanged)
        (folder / name).write_bytes(mutated)
        (suite,) = read_suites([folder / name], skip_bad=bool(len(mutated) % 2))
        return [item.good.scored for item in suite.items]

    return Target(lambda folder: content, take)


def small_table() -> bytes:
    """A small table."""
    return parquet(text=["It rained.", "We slept."] * 5, label=list(range(10)))


def result_file(folder: Path) -> bytes:
    """A saved result of `profile`."""
    return results.save(profile_result(), folder).read_bytes()


def read_result(content: bytes, folder: Path) -> object:
    """Read a mutated result."""
    (folder / "result.nc").write_bytes(content)
    return results.read(folder)


def result_labels(folder: Path) -> bytes:
    """The labels of a result, as JSON."""
    return json.dumps({str(name): labels.values.tolist() for name, labels in profile_result().coords.items()}).encode()


def read_result_labels(content: bytes, folder: Path) -> object:
    """Read a result whose labels are mutated, and make the findings of its page and its cards."""
    result = profile_result()
    try:
        labels = {name: (result[name].dims, np.asarray(value)) for name, value in json.loads(content).items()}
        result.assign_coords(labels).to_netcdf(folder / "result.nc", engine="h5netcdf")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError, UserWarning) as error:
        raise HeadscopeError("no labels that a file can hold") from error
    return study_page(results.read(folder)).findings(), gather([folder])


def read_command(content: bytes, folder: Path) -> object:
    """Run the mutated command of a result again, without its study: what of it is followed is harmless."""
    try:
        _small_result().assign_attrs(command=content.decode()).to_netcdf(folder / "result.nc", engine="h5netcdf")
    except (ValueError, UserWarning) as error:
        raise HeadscopeError("no text that a file can hold") from error
    given: dict[str, Any] = {}

    def compute(study: str, values: dict[str, Any], clock: object) -> Any:
        given.update(values)
        return Computed(_small_result(), {}, SimpleNamespace(remove=lambda: None))

    with (
        patch("headscope.front.cli.rerun.compute", compute),
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        rerun(folder, **{name: DEFAULTS[name] for name in ANEW}, debug=True)
    assert HARMLESS.items() <= given.items() and given["out"] != Path("x"), given
    return given


@cache
def _small_result() -> Any:
    return profile_result()[["entropy", "token_attention"]]


def read_maps(content: bytes, folder: Path) -> object:
    """Read labelled maps whose labels or, if the content is an archive, arrays are mutated."""
    map_folder(folder)
    (folder / ("maps.npz" if b".npy" in content else "labels.jsonl")).write_bytes(content)
    return labelled_maps.read(folder)


def checkpoint(folder: Path) -> bytes:
    """The part of a pass in a checkpoint."""
    try:
        _measure(folder, killed_after=3)
    except Killed:
        pass
    _, line = (folder / "pass-1").read_bytes().splitlines()
    return line.partition(b" ")[2]


def read_checkpoint(content: bytes, folder: Path) -> object:
    """Go on from a checkpoint whose part is mutated and whose checksum fits; a pass that starts anew has refused it."""
    checkpoint(folder)
    return _gone_on(content, folder, _measure)


def _gone_on(content: bytes, folder: Path, run: Callable[[Path], list[str]]) -> list[str]:
    first, _ = (folder / "pass-1").read_bytes().splitlines(keepends=True)
    content = content.replace(b"\n", b" ")
    (folder / "pass-1").write_bytes(first + sha256(content).hexdigest().encode() + b" " + content + b"\n")
    notices = run(folder)
    if notices[-1].endswith("anew"):
        raise HeadscopeError(notices[-1])
    return notices


def _measure(folder: Path, killed_after: int = 10**9) -> list[str]:
    """Run a pass with a checkpoint after each shard; returns its notices."""
    notices, batches = list[str](), 0

    def count(inputs: int) -> None:
        nonlocal batches
        batches += 1
        if batches > killed_after:
            raise Killed

    journal = PassJournal(folder, {"study": "made"})
    settings = Settings(resamples=3, batch_tokens=30, journal=journal, on_progress=count, on_notice=notices.append)
    with patch.object(shards, "EXAMPLES", 1), patch.object(PassJournal, "due", True):
        Pass(_model(), _texts(), settings).measure(["entropy"]).read()
    return notices


@cache
def _model() -> models.Model:
    network = tiny_bert(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2)
    return models.wrap(network, tiny_tokenizer())


@cache
def _texts() -> Corpus:
    return read(["It rained.", "We slept.", "It was.", "She saw it.", "He ran."])


def sweep_checkpoint(folder: Path) -> bytes:
    """The outputs of a sweep in a checkpoint."""
    _sweep(folder)
    return (folder / "pass-1").read_bytes().splitlines()[1].partition(b" ")[2]


def read_sweep_checkpoint(content: bytes, folder: Path) -> object:
    """The same with a checkpoint of a sweep."""
    sweep_checkpoint(folder)
    return _gone_on(content, folder, _sweep)


def _sweep(folder: Path) -> list[str]:
    """Run a sweep that keeps its outputs; returns its notices."""
    notices = list[str]()
    settings = Settings(batch_tokens=20, journal=PassJournal(folder, {}, kept=True), on_notice=notices.append)
    sweep(_swept_inputs(), settings)
    return notices


@cache
def _swept_inputs() -> TaskInputs:
    task = planted_task()
    inputs = task_inputs(models.wrap(planted_classifier(), tiny_tokenizer()), task, task.dev)
    return replace(inputs, inputs=inputs.inputs[:4])


def read_run(content: bytes, folder: Path) -> object:
    """Read mutated outputs of a training run."""
    (folder / "run.safetensors").write_bytes(content)
    return RunRecord(folder).completed()


def run_file(folder: Path) -> bytes:
    """The outputs of a training run."""
    RunRecord(folder).complete(TrainedOutputs(np.eye(2), np.ones((1, 2, 2)), np.ones(3, np.float32)))
    return (folder / "run.safetensors").read_bytes()


def digests_file(folder: Path) -> bytes:
    """The digests of the files of a training run."""
    RunRecord(folder).open({"seed": 0})
    RunRecord(folder).save_outputs(1, np.eye(2))
    return (folder / "digests").read_bytes()


def read_digests(content: bytes, folder: Path) -> object:
    """Open a training run with mutated digests; a run that starts anew has refused them."""
    digests_file(folder)
    (folder / "digests").write_bytes(content)
    notices = list[str]()
    RunRecord(folder).open({"seed": 0}, notices.append)
    if notices:
        raise HeadscopeError(notices[0])
    return RunRecord(folder).epoch_outputs(1)


def read_scores(content: bytes, folder: Path) -> object:
    """Decode mutated scores of items, as in a checkpoint of `cloze`."""
    try:
        return decode(json.loads(content)["part"], ReadShards[list[ItemScores]]).is_sound()
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise HeadscopeError("no scores of items") from error


def scores_of_items(folder: Path) -> bytes:
    """The scores of two items, as in a checkpoint of `cloze`."""
    floats, counts = np.zeros(2), np.ones(2, int)
    scores = ItemScores(floats, floats, counts, counts, 8, {"too long": 1}, {}, floats, floats, counts)
    return line_of({"part": encode(ReadShards([scores], 1, Coverage(2, 8)))}).partition(b" ")[2]


def read_config(content: bytes, folder: Path) -> object:
    """Read a mutated configuration of a model."""
    (folder / "config.json").write_bytes(content)
    (folder / "model.safetensors").write_bytes(_saved_model()["model.safetensors"])
    (folder / "tokenizer.json").write_bytes(b"")
    return load_config(locate(str(folder)))


def model_file(name: str) -> Target:
    """A file of a model's folder, whose other files stay as they are."""

    def take(content: bytes, folder: Path) -> object:
        for file, unchanged in _saved_model().items():
            (folder / file).write_bytes(content if file == name else unchanged)
        return models.load(str(folder))

    return Target(lambda folder: _saved_model()[name], take)


def gguf_file(folder: Path) -> bytes:
    """The bytes of a GGUF file, its own tokenizer among them."""
    folder.mkdir(exist_ok=True)
    return write_gguf(folder / "model.gguf", "qwen3", tiny_decoder("qwen3"), byte_tokenizer()).read_bytes()


def read_gguf(content: bytes, folder: Path) -> object:
    """The configuration, and the weights."""
    (folder / "model.gguf").write_bytes(content)
    checkpoint = locate(str(folder / "model.gguf"))
    config = load_config(checkpoint)
    assert checkpoint.gguf
    return weights_of(checkpoint.gguf, config, "model", torch.float32)


@cache
def _saved_model() -> dict[str, bytes]:
    """The files of the folder of a tiny model."""
    with TemporaryDirectory() as folder, quiet():
        save_tiny(Path(folder), tiny_bert(hidden_size=8, intermediate_size=8, num_hidden_layers=2))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def closed_files(folder: Path) -> bytes:
    """The permissions of all files and folders of `_shelf`: a byte each, in the order of their names."""
    return bytes(7 for _ in _all(_shelf()))


def read_closed(content: bytes, folder: Path) -> object:
    """Read a model, a corpus, a result and maps whose permissions are mutated; root has no right beyond them."""
    shutil.copytree(_shelf(), folder / "shelf")
    paths = _all(folder / "shelf")
    modes = [(path, content[number] & 7) if number < len(content) else (path, 7) for number, path in enumerate(paths)]
    for path, mode in reversed(modes):  # a folder after what it holds
        path.chmod(mode << 6)
    try:
        with without_override():
            return [read_one(folder / "shelf" / name) for name, read_one in CLOSED.items()]
    finally:
        for path in paths:
            path.chmod(0o700)


def _all(folder: Path) -> list[Path]:
    return sorted([folder, *folder.rglob("*")])


CLOSED: Mapping[str, Callable[[Path], object]] = {
    "model": lambda path: models.load(str(path)),
    "penn": lambda path: read(path, kind="penn"),
    "results": lambda path: gather([path]),
    "maps": labelled_maps.read,
}


@cache
def _shelf() -> Path:
    """A folder of each, made once."""
    made = TemporaryDirectory(prefix="headscope-")
    atexit.register(made.cleanup)
    folder = Path(made.name)
    save_tiny(folder / "model", tiny_bert(0, num_hidden_layers=1))
    (folder / "penn").mkdir()
    (folder / "penn" / "a.dp").write_bytes(b"It\tPRP\t2\nrained\tVBD\t0\n")
    results.save(profile_result(), folder / "results" / "below")
    map_folder(folder / "maps")
    return folder


def view_request(content: bytes, folder: Path) -> object:
    """Send a mutated request to the viewer of a tiny model."""
    return request(_viewer(), content)


@cache
def _viewer() -> Any:
    """The viewer; one text is kept, whose identifier is `TEXT`."""
    model, corpus = models.wrap(tiny_bert(), tiny_tokenizer()), read(["It rained."])
    session = ViewSession((model,), (corpus,), index=example_index(model, corpus))
    session.text("It rained.")
    return viewer.application(session)


def request(app: Any, content: bytes) -> object:
    """Send a mutated request to a server; status 400 is a refusal, 500 a failure."""
    head, _, body = content.partition(b"\n\n")
    first, *headers = head.split(b"\n")
    method, _, target = first.partition(b" ")
    path, _, query = target.partition(b"?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": method.decode("latin-1"), "path": path.decode("utf-8", "surrogateescape"), "raw_path": path,
        "query_string": query, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
        "headers": [(name.lower(), value.strip()) for name, _, value in (header.partition(b":") for header in headers)],
    }  # fmt: skip
    status = asyncio.run(_answer(app, scope, body))
    assert status < 500, status
    if status >= 400:
        raise HeadscopeError(f"status {status}")
    return status


async def _answer(app: Any, scope: dict[str, Any], body: bytes) -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        statuses.extend([message["status"]] if message["type"] == "http.response.start" else [])

    await app(scope, receive, send)
    return statuses[0]


def _vectors(name: str, content: bytes) -> Target:
    def take(mutated: bytes, folder: Path) -> object:
        (folder / name).write_bytes(mutated)
        return read_vectors(str(folder / name), ["rain", "the", "a"])

    return Target(lambda folder: content, take)


def _sample(name: str) -> bytes:
    return b"\n\n".join((sample.FOLDER / name).read_bytes().split(b"\n\n")[:4]) + b"\n\n"


def _arrays(folder: Path) -> bytes:
    return (map_folder(folder) / "maps.npz").read_bytes()


def _labels(folder: Path) -> bytes:
    return (map_folder(folder, label="block") / "labels.jsonl").read_bytes()


HOST = b"\nhost: 127.0.0.1:8000\ncontent-type: application/json\n\n"
TEXT = identifier("It rained.", None).encode()
GAP = b"ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
LU = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<lexUnit name="rain.v" frame="Weather" ID="1">\n'
    b'<header><frame><FE name="Place" type="Core"/></frame></header>\n'
    b"<subCorpus><sentence><text>It rained here.</text>\n"
    b'<annotationSet ID="2"><layer name="Target"><label name="Target" start="3" end="8"/></layer>\n'
    b'<layer name="FE"><label name="Place" start="10" end="13"/></layer></annotationSet>\n'
    b"</sentence></subCorpus></lexUnit>\n"
)
CONLL = b"#begin document (a); part 000\n" + b"\n".join(
    b"a 0 %d %s %s - - - - * %s" % (at, word, bits, entity)
    for at, (word, bits, entity) in enumerate(
        [(b"Ann", b"NNP (TOP(S(NP*)", b"(1)"), (b"saw", b"VBD (VP*", b"-"), (b"her", b"PRP (NP*))))", b"(1)")]
    )
) + b"\n\n#end document\n"  # fmt: skip
FRAMENET = {
    "sentence": "It rained here.", "frame": "Weather", "target": [3, 9], "lexical_unit": "rain.v", "anno_id": 1,
    "elements": [{"name": "Place", "core": True, "start": 10, "end": 14}],
}  # fmt: skip
SHARES = b"occupation\tbergsma_pct_female\tbls_pct_female\ncook\t40\t38.5\n"
WINOGENDER = b"sentid\tsentence\ncook.guest.1.male.txt\tThe cook told the guest that he was late.\n"
CONFIG = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8, "num_hidden_layers": 2, "vocab_size": 30,
    "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 32,
    "id2label": {"0": "no", "1": "yes"},
}  # fmt: skip

COMMAND = (
    "profile minilm sample --limit 3 --engine ray --address=10.9.9.9:1 -ox --trust-remote-code --workers 9 "
    "--annotate x --overwrite --figures pdf --seed 1"
).split()
ANEW = ("workers", "engine", "address", "gpus_per_worker", "annotate", "remote_code")
HARMLESS = {"engine": "local", "address": "local", "workers": 1, "annotate": None, "remote_code": False, "quiet": True}

TSV = b"sentence1\tsentence2\tlabel\nIt rained.\tWe slept.\tno\nIt did.\tWe did.\tyes\n"
JSONL = b'{"text": "It rained.", "label": 1}\n{"text": "We slept.", "label": 0.5}\n'
LINKS = b'{"text": "She slept.", "words": ["She", "slept", "."], "links": [{"source": [0], "target": 1}]}\n'
SPANS = (
    b'{"text": "She slept.", "span": [0, 3], "other_span": [4, 9], "label": "agent", "group": "verbs"}\n'
    b'{"text": "She slept.", "span": [4, 9], "other_span": [0, 3], "label": ["verb", 2], "document": "a"}\n'
)
PASSAGE = GAP + b"a\tAnn saw Eve when she left.\tshe\t17\tAnn\t0\tTRUE\tEve\t8\tFALSE\tu\n"
BIAS = b"1 [The guard] saw the nurse because [he] was late.\n"
STSB = b"index\tsentence1\tsentence2\tscore\n0\tIt rained.\tWe slept.\t3.5\n"


def _offsets(text: str) -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(len(text)) if not text[at].isspace()]


SUITE = b"""{"good": "It rains.", "bad": ["It rain."], "phenomenon": "number", "id": 3}
{"sentence": "It [MASK].", "answer": "rains", "alternatives": ["rain"], "lemma": "rain", "condition": "c"}
"""
BLIMP = b'{"UID": "a", "pair_id": "0", "linguistics_term": "b", "sentence_good": "It is.", "sentence_bad": "It are."}\n'
MARVIN = b"construction\tcondition\tsource_index\tgood\tbad\tbad2\nnpi\tpast\t0\tno a ever\tthe a ever\ta no ever\n"

LINZEN = b"orig_sentence\tverb\tverb_pos\tverb_index\tn_diff_intervening\n" + b"".join(
    b'the " cat " %s\t%s\t%s\t5\t1\n' % (verb, verb, tag) for verb, tag in ((b"is", b"VBZ"), (b"are", b"VBP"))
)
COPA = b'{"premise": "Rain.", "choice1": "Wet.", "choice2": "Dry.", "question": "effect", "label": 0}\n'
WSC = b"""{"text": "Ann ran; she fell.", "target": {"span1_text": "Ann", "span2_text": "she", "span2_index": 2}, \
"label": true}
"""
MULTIRC = b"""{"passage": {"text": "Ann ran.", "questions": \
[{"question": "Who?", "answers": [{"text": "Ann", "label": 1}]}]}}
"""
RECORD = b"""{"passage": {"text": "Ann saw Tom.", "entities": [{"start": 0, "end": 2}, {"start": 8, "end": 10}]}, \
"qas": [{"query": "@placeholder saw.", "answers": [{"text": "Ann"}]}]}
"""
ASKED = b"""{"data": [{"paragraphs": [{"context": "Ann ran.", "qas": [{"question": "Who?", \
"answers": [{"text": "Ann", "answer_start": 0}]}]}]}]}"""

FACT = b'{"predicate_id": "P19", "sub_label": "Ann Lee", "obj_label": "Rome"}\n'
GOOGLE_RE = FACT.replace(b"predicate_id", b"relation").replace(b"P19", b"place_of_birth")
PATTERN = b'{"predicate_id": "P19", "pattern": "[X] is from [Y]."}\n'
SQUAD = b'{"id": "a", "obj_label": "rain", "masked_sentences": ["It was [MASK]."]}\n'
CPRAG = (
    b"item\tcontext_s1\tcontext_s2\texpected\twithin_category\tbetween_category\tconstraint\n"
    b"1\tIt rained.\tWe took the\tcoat\that\tcow\tH\n"
)
ROLE = b"item\tcontext\ttarget\ttgt_cloze\n1-a\twho the cat had\tseen\t0.5\n1-b\twhom the cat had\tseen\t.1\n"
NEGATION = b"item\tcontext_aff\tcontext_neg\ttarget_aff\ttarget_neg\n1\tRain is (a|an)\tRain is not a\tend\tcow\n"
GULORDAVA = b"pattern\tconstr_id\tsent_id\tform\tclass\ttype\tn_attr\tlen_prefix\tsent\n" + b"".join(
    b'p\t1\t7\t%s\tgenerated\t1\t2\t"the ""cats"" go there <eos>"\n' % fields
    for fields in (b"sleep\tcorrect", b"sleeps\twrong")
)


# Its good input takes a minute; tests/studies/test_mutated_results.py has its short run.
PAGES = "result, pages of all studies"

TARGETS: dict[str, Target] = {
    "text": corpus_file("x.txt", b"It rained.\nWe stayed in.\n"),
    "text, packed": corpus_file("x.txt.gz", b"It rained.\nWe stayed in.\n"),
    "paragraphs": corpus_file(
        "x.txt", b" = Rain = \nIt rained a lot.\n\nWe stayed in.\n", "paragraphs", offsets=_offsets
    ),
    "table, tsv": corpus_file("x.tsv", TSV),
    "table, csv": corpus_file("x.csv", b'text,label\n"It rained, a lot",no\nWe slept,yes\n'),
    "table, jsonl": corpus_file("x.jsonl", JSONL),
    "table, parquet": corpus_file("x.parquet", small_table()),
    "conllu": corpus_file("x.conllu", _sample("stories.conllu")),
    "conllu, pairs": corpus_file("x.conllu", _sample("pairs.conllu")),
    "conll2012": corpus_file("x.v4_gold_conll", CONLL),
    "conll2000": corpus_file("x.conll2000", b"Ann NNP B-NP\nslept VBD B-VP\n. . O\n\nIt PRP B-NP\nrained VBD B-VP\n"),
    "brackets": corpus_file("x.mrg", b"( (S (NP (NNP Ann)) (VP (VBD slept)) (. .)) )\n(S (PRP It) (VBD rained))\n"),
    "penn": corpus_file("x.dp", b"Ann\tNNP\t2\nslept\tVBD\t0\n.\t.\t2\n\nIt\tPRP\t2\nrained\tVBD\t0\n"),
    "links": corpus_file("x.jsonl", LINKS, "links"),
    "spans": corpus_file("x.jsonl", SPANS, "spans"),
    "linear_rule": corpus_file(
        "aux.gen.tsv", b"the cat who can sleep could eat\t5\nour cat can see a dog\t2\n", "linear_rule"
    ),
    "lin2019": corpus_file("agr.tsv", b"6\tour lion by your worms can smile\t5\t0 1\t3 4 \n", "lin2019"),
    "framenet, xml": corpus_file("lu1.xml", LU),
    "framenet, jsonl": corpus_file("x.jsonl", json.dumps(FRAMENET).encode() + b"\n", "framenet"),
    "gap": corpus_file("x.tsv", PASSAGE, "gap"),
    "winobias": corpus_file("pro_stereotyped_type1.txt.dev", BIAS, "winobias", OCCUPATIONS),
    "winogender": corpus_file("all_sentences.tsv", WINOGENDER, "winogender", {"occupations-stats.tsv": SHARES}),
    "winogender, shares": corpus_file("occupations-stats.tsv", SHARES, "winogender", {"all_sentences.tsv": WINOGENDER}),
    "glue": corpus_file("dev.tsv", STSB, "glue", task="stsb"),
    "superglue, choices": corpus_file("val.jsonl", COPA, "superglue", task="copa"),
    "superglue, names": corpus_file("val.jsonl", RECORD, "superglue", task="record"),
    "superglue, answers": corpus_file("val.jsonl", MULTIRC, "superglue", task="multirc"),
    "superglue, pronouns": corpus_file("val.jsonl", WSC, "superglue", task="wsc"),
    "squad": corpus_file("dev-v1.1.json", ASKED, "squad"),
    "suite": suite_file("x.jsonl", SUITE),
    "suite, blimp": suite_file("blimp.jsonl", BLIMP),
    "suite, marvin_linzen": suite_file("marvin_linzen.tsv", MARVIN),
    "suite, agreement": suite_file("gulordava_generated.tab", GULORDAVA),
    "suite, linzen": suite_file("agr_50_mostcommon_10K.tsv", LINZEN),
    "suite, lama": suite_file(
        "trex_pairs.jsonl", FACT, {"relations.jsonl": b'{"relation": "P19", "template": "[X] is from [Y]."}'}
    ),
    "suite, pararel": suite_file("pararel_patterns.jsonl", PATTERN * 2, {"trex_pairs.jsonl": FACT}),
    "suite, google_re": suite_file("google_re.jsonl", GOOGLE_RE),
    "suite, squad": suite_file("squad.jsonl", SQUAD),
    "suite, prediction": suite_file("CPRAG-102.tsv", CPRAG),
    "suite, roles": suite_file("ROLE-88.tsv", ROLE),
    "suite, negation": suite_file("NEG-136-SIMP.tsv", NEGATION),
    "word vectors, text": _vectors("x.txt", b"the 0.1 0.2\nrain 0.3 -4e-1\na 1 2\n"),
    "word vectors, binary": _vectors("x.bin", b"2 3\nrain " + np.ones(3, "<f4").tobytes() + b"\nthe " + bytes(12)),
    "maps, labels": Target(_labels, read_maps),
    "maps, arrays": Target(_arrays, read_maps),
    "result": Target(result_file, read_result),
    PAGES: Target(every_result, take_result, mutate_one),
    "result, labels": Target(result_labels, read_result_labels),
    "result, command": Target(lambda folder: json.dumps(COMMAND).encode(), read_command),
    "checkpoint of a pass": Target(checkpoint, read_checkpoint),
    "checkpoint of a sweep": Target(sweep_checkpoint, read_sweep_checkpoint),
    "checkpoint of items": Target(scores_of_items, read_scores),
    "training run": Target(run_file, read_run),
    "training run, digests": Target(digests_file, read_digests),
    "configuration": Target(lambda folder: json.dumps(CONFIG).encode(), read_config),
    "model, configuration": model_file("config.json"),
    "model, tokenizer": model_file("tokenizer.json"),
    "model, weights": model_file("model.safetensors"),
    "model, GGUF": Target(gguf_file, read_gguf),
    "permissions": Target(closed_files, read_closed),
    "viewer, text": Target(
        lambda folder: b"POST /api/text" + HOST + b'{"first": "It rained.", "second": "We slept."}', view_request
    ),
    "viewer, try": Target(
        lambda folder: b"POST /api/try" + HOST + b'{"id": "%s", "heads": "1-2,3-*", "mode": "uniform"}' % TEXT,
        view_request,
    ),
    "viewer, export": Target(
        lambda folder: b"POST /api/export" + HOST + b'{"id": "%s", "state": "v=lines&h=1-2", "format": "html"}' % TEXT,
        view_request,
    ),
    "viewer, paths": Target(lambda folder: b"GET /api/tile/%s/1/2/0/0/0?model=0" % TEXT + HOST, view_request),
    "viewer, examples": Target(lambda folder: b"GET /api/examples/1/2?by=sep" + HOST, view_request),
    **{name: Target(make, take) for name, (make, take) in INPUTS.items()},
    **{f"bound, {name}": Target(bound.good, bound.take, bound.near) for name, bound in BOUNDS.items()},
}


@cache
def good(name: str, folder: Path) -> bytes:
    """The good input of a target."""
    folder.mkdir(parents=True, exist_ok=True)
    return TARGETS[name].make(folder)


def mutated(name: str, number: int, seed: int, made: bytes) -> bytes:
    """The mutated input with this number; the same for the same seed and the same good input."""
    return TARGETS[name].mutate(made, Random(f"{seed} {name} {number}"))
