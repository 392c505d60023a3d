"""Small parts of real data under the names that the pages of documentation use, with tiny models beside them."""

import gzip
import json
import shutil
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import torch
from tokenizers import Tokenizer
from transformers import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForSequenceClassification,
    BertTokenizer,
    GPT2LMHeadModel,
    PreTrainedTokenizerBase,
)

import headscope
from support.tiny import tiny_bert, tiny_gpt2

ENGLISH = ("en_ewt-ud-dev", "en_gum-ud-dev", "en_ewt-ud-train", "en_gum-ud-train")
TREEBANKS = (*ENGLISH, "de_gsd-ud-dev", "tr_imst-ud-dev", "ja_gsd-ud-dev")
GLUE = {
    "RTE": ("train", "dev"),
    "MRPC": ("train", "dev"),
    "STS-B": ("train", "dev"),
    "SST-2": ("train", "dev"),
    "QNLI": ("dev",),
    "MNLI": ("dev_matched",),
}
TUNED = ("out/table/models/MRPC-finetuned", "MRPC-finetuned", "out/mrpc/model", "out/tuned/model", "out/model")
TUNED += ("out/cola/model",)
BALANCED = "out/sst2/model"
LEXICAL_UNIT = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<lexUnit name="give.v" frame="Giving" xmlns="http://framenet.icsi.berkeley.edu">
  <header><frame><FE name="Donor" type="Core"/><FE name="Theme" type="Core"/></frame></header>
  <subCorpus name="manual"><sentence ID="1"><text>He had then given to all of us the old book . </text>
    <annotationSet status="MANUAL" ID="11">
      <layer rank="1" name="FE"><label start="0" end="1" name="Donor"/><label start="31" end="42" name="Theme"/></layer>
      <layer rank="1" name="Target"><label start="12" end="16" name="Target"/></layer>
    </annotationSet></sentence></subCorpus>
</lexUnit>
"""
SENTENCES, ROWS, LINES, TOKENS = 10, 12, 60, 512
TOKENIZER = "tokenizer"


REFLEXIVE = "5\tmy queen who can kick her girl would remember your lady by herself\t12\t0 1\t5 6 9 10 \n"


def stock(folder: Path, data: Path) -> Path:
    """Fill a folder with parts of the data sets in `data`; return it."""
    _treebanks(folder, data)
    _tables(folder, data)
    _texts(folder, data)
    _suites(folder, data)
    (folder / "fndata-1.7" / "lu").mkdir(parents=True)
    (folder / "fndata-1.7" / "lu" / "lu10.xml").write_text(LEXICAL_UNIT, encoding="utf-8")
    _tokenizer(folder).save_pretrained(folder / TOKENIZER)
    shutil.copytree(data / "wordvecs", folder / "wordvecs")
    return folder


def put_models(folder: Path, layers: int, heads: int) -> None:
    """Save models with as many layers and heads to a layer in a folder, under the names of the pages."""
    labels = {"id2label": {0: "0", 1: "1"}, "label2id": {"0": 0, "1": 1}}
    sizes = {
        "vocab_size": Tokenizer.from_file(str(folder / TOKENIZER / "tokenizer.json")).get_vocab_size(),
        "hidden_size": 4 * heads,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "max_position_embeddings": TOKENS,
    }
    networks = {
        "my-model": tiny_bert(0, BertForSequenceClassification, **sizes, **labels),
        "my-words-model": tiny_bert(0, BertForMaskedLM, **sizes),
        "my-decoder": tiny_gpt2(0, GPT2LMHeadModel, vocab_size=sizes["vocab_size"], n_positions=TOKENS),
        "my-next-sentence-model": tiny_bert(0, BertForNextSentencePrediction, **sizes),
    }
    for name, network in networks.items():
        shutil.copytree(folder / TOKENIZER, folder / name)
        network.save_pretrained(folder / name)
    for tuned in (*TUNED, BALANCED):
        shutil.copytree(folder / "my-model", folder / tuned)
    _balance(networks["my-model"], folder).save_pretrained(folder / BALANCED)


def _balance(network: Any, folder: Path) -> Any:
    """The classifier, which gives each of two classes to about half of the lines of a text."""
    tokenizer = BertTokenizer.from_pretrained(folder / TOKENIZER)
    lines = [line for line in (folder / "wiki.txt").read_text(encoding="utf-8").splitlines() if line.strip()]
    with torch.no_grad():
        logits = network(**tokenizer(lines, padding=True, truncation=True, return_tensors="pt")).logits
        network.classifier.bias[0] += (logits[:, 1] - logits[:, 0]).median()
    return network


def _tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """The built-in model's, so that texts are as long, with no more pieces than the texts of a folder and letters."""
    tokenizer: Any = headscope.load("minilm").tokenizer
    backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    texts = [gzip.decompress(text) if text.startswith(b"\x1f\x8b") else text for text in texts]
    lines = [line for text in texts for line in text.decode("utf-8").splitlines()]
    used = {id for encoded in backend.encode_batch(lines) for id in encoded.ids} | {*tokenizer.all_special_ids}
    pieces = sorted(tokenizer.get_vocab().items(), key=itemgetter(1))
    kept = [piece for piece, id in pieces if id in used or len(piece.removeprefix("##")) == 1]
    return BertTokenizer(vocab={piece: id for id, piece in enumerate(kept)}, model_max_length=TOKENS)


def _treebanks(folder: Path, data: Path) -> None:
    (folder / "ud").mkdir()
    for name in TREEBANKS:
        sentences = _read(data / "ud" / f"{name}.conllu.gz").split("\n\n")[:SENTENCES]
        _pack(folder / "ud" / f"{name}.conllu.gz", "\n\n".join([*sentences, ""]))
    shutil.copy(folder / "ud" / "en_ewt-ud-dev.conllu.gz", folder / "treebank.conllu.gz")
    quarter = gzip.decompress((folder / "ud" / "en_ewt-ud-train.conllu.gz").read_bytes())
    (folder / "ud" / "en_ewt-ud-train-quarter.conllu").write_bytes(quarter)
    gum = gzip.decompress((folder / "ud" / "en_gum-ud-dev.conllu.gz").read_bytes())
    (folder / "gum.conllu").write_bytes(gum)
    with ZipFile(data / "nltk" / "dependency_treebank.zip") as packed:
        names = [name for name in packed.namelist() if name.endswith(".dp")][:3]
        packed.extractall(folder, names)
    with ZipFile(data / "nltk" / "treebank.zip") as packed:
        packed.extractall(folder, [f"treebank/combined/wsj_000{number}.mrg" for number in (1, 2, 5)])
    with ZipFile(data / "nltk" / "conll2000.zip") as packed:
        for name in ("train", "test"):
            text = packed.read(f"conll2000/{name}.txt").decode()
            (folder / "conll2000").mkdir(exist_ok=True)
            part = "\n\n".join(text.split("\n\n")[:SENTENCES])
            (folder / "conll2000" / f"{name}.txt").write_text(part, encoding="utf-8")
    words = sorted({line.split("\t")[1].lower() for line in quarter.decode().splitlines() if line[:1].isdigit()})
    (folder / "glove.6B.100d.txt").write_text("".join(f"{word} 0.5 -0.5\n" for word in words), encoding="utf-8")


def _tables(folder: Path, data: Path) -> None:
    for task, splits in GLUE.items():
        for split in splits:
            _pack(folder / "glue" / task / f"{split}.tsv.gz", _head(data / "glue" / task / f"{split}.tsv.gz", ROWS))
    _pack(folder / "glue" / "QQP" / "dev.tsv.gz", _head(data / "glue" / "QQP" / "heldout_subset.tsv.gz", ROWS))
    (folder / "GLUE").symlink_to("glue")
    rows = _head(data / "glue" / "RTE" / "dev.tsv.gz", ROWS)
    (folder / "dev.tsv").write_text(rows, encoding="utf-8")
    (folder / "pairs.tsv").write_text(rows, encoding="utf-8")
    pairs = [line.split("\t")[1:3] for line in rows.splitlines()[1:]]
    asked = {"question": "effect", "choice2": "It rained."}
    choices = [
        {"premise": first, "choice1": second, "label": number % 2} for number, (first, second) in enumerate(pairs)
    ]
    for split in ("train", "val"):
        _pack(
            folder / "superglue" / "COPA" / f"{split}.jsonl.gz", "\n".join(json.dumps(line | asked) for line in choices)
        )
    (folder / "coref" / "gap").mkdir(parents=True)
    for split in ("validation", "development"):
        name = f"gap-{split}.tsv.gz"
        _pack(folder / "coref" / "gap" / name, _head(data / "coref" / "gap" / name, ROWS))
    (folder / "coref" / "winobias").mkdir()
    for path in (data / "coref" / "winobias").iterdir():
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = lines if path.name.endswith("occupations.txt") else lines[:ROWS]
        (folder / "coref" / "winobias" / path.name).write_text("\n".join([*kept, ""]), encoding="utf-8")
    shutil.copytree(data / "coref" / "winogender", folder / "coref" / "winogender")


def _texts(folder: Path, data: Path) -> None:
    wiki = _head(data / "wikitext" / "wiki.test.raw.gz", LINES)
    _pack(folder / "wikitext" / "wiki.test.raw.gz", wiki)
    (folder / "wiki.txt").write_text(wiki, encoding="utf-8")
    lines = [line.split("\t")[1] for line in _head(data / "glue" / "RTE" / "dev.tsv.gz", ROWS).splitlines()[1:]]
    (folder / "texts.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    names = [f"s{number}" for number in range(4)]
    for name in ("proteins", "antibodies"):
        (folder / f"{name}.fasta").write_text("".join(f">{name}\nQVQLVESGGGLVQPG\n" for name in names))
    (folder / "contacts.tsv").write_text("".join(f"{name}\t1\t9\n" for name in names))
    (folder / "regions.tsv").write_text("# s0\nQ\tFR1\nV\tFR1\n\n# s1\nQ\tFR1\nG\tCDR1\n")
    (folder / "my.jsonl").write_text('{"text": "She left.", "links": [{"source": [0], "target": [1]}]}\n' * 4)
    for name, spans in (("roles-train", 60), ("roles-dev", 20)):
        rows = [
            f'{{"text": "She saw {number}.", "span": [{(0, 4)[number % 2]}, 7], "label": {number % 2}}}'
            for number in range(spans)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join([*rows, ""]), encoding="utf-8")
    for name, number in (("semcor", 60), ("ALL", 20)):
        word = '<instance id="{0}" lemma="bank" pos="NOUN">bank</instance>'
        one = f'<text id="d{{0}}"><sentence id="s{{0}}"><wf lemma="a" pos="DET">A</wf>{word}</sentence></text>'
        texts = "".join(one.format(at) for at in range(number))
        (folder / f"{name}.data.xml").write_text(f"<corpus>{texts}</corpus>", encoding="utf-8")
        keys = "".join(f"{at} bank%1:{at % 2}\n" for at in range(number))
        (folder / f"{name}.gold.key.txt").write_text(keys, encoding="utf-8")
    for part in ("train", "test", "gen"):
        rows = _head(data / "lin2019" / f"aux.{part}.tsv.gz", 10 * LINES)
        (folder / f"aux.{part}.tsv").write_text(rows.rstrip("\n") + "\n", encoding="utf-8")
    asked = {"agr": "6\tour lion by your worms can smile\t5\t0 1\t3 4 \n", "refl": REFLEXIVE}
    for (name, row), part in product(asked.items(), ("lin2019", "lin200")):
        _pack(folder / part / f"{name}.tsv.gz", row * 12)
    frames = _head(data / "framenet" / "framenet15_lu_short.jsonl.gz", 5 * ROWS)
    _pack(folder / "framenet" / "framenet15_lu_short.jsonl.gz", frames)
    (folder / "framenet.jsonl").write_text(frames, encoding="utf-8")


def _suites(folder: Path, data: Path) -> None:
    for name in ("syntax/blimp.jsonl.gz", "syntax/marvin_linzen.tsv.gz", "syntax/gulordava_generated.tab.gz"):
        _pack(folder / "data" / name, _head(data / name, ROWS))
    polarity = [line for line in _read(data / "syntax/blimp.jsonl.gz").splitlines() if "npi_licensing" in line]
    (folder / "npi").mkdir()
    (folder / "npi" / "blimp.jsonl").write_text("\n".join([*polarity[::250], ""]), encoding="utf-8")
    shutil.copy(folder / "roles-train.jsonl", folder / "npi.jsonl")
    for path in (data / "syntax" / "ettinger").iterdir():
        shutil.copy(path, folder / "data" / "syntax")
    for name in ("trex_pairs.jsonl.gz", "pararel_patterns.jsonl.gz", "google_re.jsonl.gz", "squad.jsonl.gz"):
        _pack(folder / "data" / "lama" / name, _head(data / "lama" / name, ROWS))
    shutil.copy(data / "lama" / "relations.jsonl", folder / "data" / "lama")
    for name in ("abstract.csv.gz", "situated-affordances-sampled.csv.gz"):
        _pack(folder / "data" / "forbes2019" / name, _head(data / "forbes2019" / name, ROWS))
    shutil.copy(data / "forbes2019" / "properties.tsv.gz", folder / "data" / "forbes2019")
    (folder / "my-suite.jsonl").write_text('{"good": "The cat sleeps.", "bad": "The cat sleep."}\n', encoding="utf-8")


def _read(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def _head(path: Path, lines: int) -> str:
    return "\n".join([*_read(path).split("\n")[: lines + 1], ""])


def _pack(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("utf-8")))
