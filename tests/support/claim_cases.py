"""Of each study with claims: a small model of which they must hold, and small models of noise of which none may.

A case runs with any seed, so that tests take a few and `python -m benchmarks.claims` forty. The noises are random
weights, these with sharp or exactly uniform attention, of decoders, of ALBERT, and of letters as tokens; what is
planted beside shuffled links, roles or labels, beside trees of other sentences, in a single example, and in four
documents, of which nothing is sure; and sharp random weights that read six.

>>> from headscope import catalog
>>> set(CASES) | set(NO_CLAIMS) == set(catalog.names("studies"))
True
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import xarray as xr
from transformers import AutoModel, BertForMaskedLM, BertForSequenceClassification, PreTrainedModel

import headscope
from headscope import Model, Settings
from headscope.report.study_page import study_page
from support import claim_texts as texts
from support import far_past, runs
from support.planted import WIDTH, Head, looks_at_copies, looks_at_offset, looks_at_piece, looks_from_to, planted
from support.planted_task import planted_classifier
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS
from support.planted_words import causal_table
from support.tiny import byte_tokenizer, save_tiny, tiny_bert, tiny_gpt2, tiny_network, tiny_tokenizer, tiny_vocabulary
from support.tiny_families import tiny_config

NO_CLAIMS = {"patterns": "shares of patterns are described"}
FOUR: tuple[str, ...] = ("bank", "book", "bird", "cat")
CYCLE: dict[tuple[str, str], float] = {pair: 9.0 for pair in pairwise((*FOUR, FOUR[0]))}
QUERIES = {"random": 1.0, "sharp": 6.0, "uniform": 0.0}
Network = Callable[[int], PreTrainedModel]
# Random weights of other kinds: what each token sees, weights that layers share, a letter as a token.
FAMILIES: dict[str, Network] = {
    "decoder": lambda seed: tiny_gpt2(seed),
    "bytes": lambda seed: tiny_gpt2(seed, vocab_size=BYTES, n_positions=512),
    "albert": lambda seed: tiny_network(tiny_config("albert", vocab_size=len(tiny_vocabulary())), seed),
}
BYTES = 256
# Annotations of other sentences, or with their roles mixed up, beside a network that knows what they were.
MIXED = {
    "swapped": (texts.treebank, texts.rooted, texts.linked, texts.documents),
    "roles": (texts.linked, texts.documents),
}
FEW = {"four documents": 4, "six documents": 6}
IN_DOCUMENTS = (texts.words, texts.treebank, texts.rooted, texts.linked)


@dataclass(frozen=True)
class ClaimCase:
    """A study, what is planted, and what is noise.

    * `planted`: a network by its seed; `data`: texts or a task by seed and number, with True for shuffled ones.
    * `holds`: what stands in a claim that must hold of it.
    * `n`: how many examples; `noise`: the class of networks with random weights, None where they are no noise. They
      read shuffled texts: of few words any network may know something.
    * `without`: a network that lacks what is planted; `shuffles`, `single`: whether there are shuffled texts, and
      whether the study reads a single one.
    """

    planted: Network
    data: Callable[..., Any]
    holds: str
    n: int = 60
    noise: type | None = AutoModel
    options: Mapping[str, Any] = field(default_factory=dict)
    shuffles: bool = True
    without: Network | None = None
    single: bool = True

    @property
    def noises(self) -> list[str]:
        """The names of its noises."""
        others = {"shuffled": self.shuffles, "without": self.without, "one example": self.single}
        of_noise = [*QUERIES, *(FAMILIES if self.noise is AutoModel else ())] if self.noise else []
        mixed = [name for name, data in MIXED.items() if self.data in data]
        few = FEW if self.noise is AutoModel and self.data in IN_DOCUMENTS else ()
        return [*of_noise, *(name for name, there in others.items() if there), *mixed, *few]


def noisy(seed: int, factor: float, kind: type) -> PreTrainedModel:
    """Random weights; queries and keys are multiplied by a factor each."""
    network = tiny_bert(seed, kind, num_hidden_layers=2)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "query" in name or "key" in name:
                weight.mul_(factor)
    return network


def run(study: str, seed: int, noise: str | None = None, case: ClaimCase | None = None) -> xr.Dataset:
    """The result of what is planted, or of a noise; by default of the case of the study."""
    case = case or CASES[study]
    network = case.without(seed) if noise == "without" and case.without else case.planted(seed)
    if noise in (*QUERIES, "six documents") and case.noise:
        network = noisy(seed, QUERIES.get(str(noise), QUERIES["sharp"]), case.noise)
    elif noise in FAMILIES:
        network = FAMILIES[noise](seed)
    shuffled = case.shuffles and noise not in (None, "without", "one example", "four documents")
    data = case.data(seed, 1 if noise == "one example" else case.n, shuffled)
    if noise in MIXED:
        data = getattr(texts, noise)(case.data(seed, case.n), seed)
    if noise in FEW:
        data = texts.in_documents(data, FEW[noise])
    return RUNNERS.get(study, _of_corpus)(study, network, data, Settings(seed=seed, resamples=200), dict(case.options))


def claimed(result: xr.Dataset) -> dict[str, str]:
    """The verdicts of the claims of a page by topic."""
    page = study_page(result)
    return {finding.topic: finding.verdict for finding in (*page.highlights(), *page.findings()) if finding.verdict}


def described(result: xr.Dataset) -> list[str]:
    """The descriptions of a page, which claim nothing."""
    page = study_page(result)
    return [f"{one.topic}: {one.text}" for one in (*page.highlights(), *page.findings()) if one.verdict is None]


def is_found(case: ClaimCase, result: xr.Dataset) -> bool:
    """Whether the claim of what is planted holds."""
    return any(case.holds in topic and verdict == "holds" for topic, verdict in claimed(result).items())


def _of_corpus(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    return getattr(headscope, study)(_wrapped(network), data, settings, **options)


def _of_tuple(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    return getattr(headscope, study)(_wrapped(network), (data,), settings, **options)


def _with_task(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    return getattr(headscope, study)(_wrapped(network), data.dev, settings, task=data, **options)


def _saved_with_task(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    with TemporaryDirectory() as folder:
        options |= {"task": data, "directory": Path(folder)}
        return getattr(headscope, study)(_wrapped(network), data.dev, settings, **options)


def _saved(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    with TemporaryDirectory() as folder:
        return getattr(headscope, study)(_wrapped(network), data, settings, directory=Path(folder), **options)


def _beside_another(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    """The network after a training that began with heads that look at [SEP] and at the next token."""
    return getattr(headscope, study)((_wrapped(before(settings.seed)), _wrapped(network)), data, settings, **options)


def _of_steps(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    """The network as the last step of a training, whose other steps are as before it."""
    models = tuple(_wrapped(one) for one in (before(settings.seed), before(settings.seed), network))
    return getattr(headscope, study)(models, data, settings, **options)


def _pretrained(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    """Networks that begin with random weights: of the model that is given the tokenizer alone."""
    with TemporaryDirectory() as folder:
        options |= {"vocabulary": str(save_tiny(Path(folder) / "model", network)), "directory": Path(folder) / "out"}
        return headscope.pretrain(data, settings, **options)


def _trained(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    with TemporaryDirectory() as folder:
        model, given = save_tiny(Path(folder) / "model", network), data if study == "pretrain_head" else (data,)
        return getattr(runs, study)(str(model), given, settings, directory=Path(folder) / "out", loading={}, **options)


def _beside_a_narrow_one(
    study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict
) -> xr.Dataset:
    """The network as the one from pre-trained weights, and a narrow one as that from random weights."""
    with TemporaryDirectory() as folder:
        tuned, other = (
            str(save_tiny(Path(folder) / name, one))
            for name, one in (("tuned", network), ("narrow", narrow(settings.seed)))
        )
        return getattr(runs, study)(tuned, (data,), settings, loading={}, tuned=tuned, random=other, **options)


def _of_items(study: str, network: PreTrainedModel, data: Any, settings: Settings, options: dict) -> xr.Dataset:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        path.write_text("".join(f"{json.dumps(item)}\n" for item in data), encoding="utf-8")
        return headscope.cloze(_wrapped(network), [str(path)], settings, **options)


def _wrapped(network: PreTrainedModel) -> Model:
    return headscope.wrap(network, byte_tokenizer() if network.config.vocab_size == BYTES else tiny_tokenizer())


RUNNERS = {
    "ablate": _saved,
    "attributions": _with_task,
    "cloze": _of_items,
    "compare": _beside_another,
    "film": _of_steps,
    "finetune": _trained,
    "gradients": _with_task,
    "kv": _saved,
    "landscape": _beside_a_narrow_one,
    "layers": _of_tuple,
    "pretrain": _pretrained,
    "pretrain_head": _trained,
    "prune": _saved,
    "shrink": _saved_with_task,
}


def heads(**made: Head) -> Network:
    """A network with these heads, such as h12: the second head of the first layer."""
    planted_heads = {(int(name[1]), int(name[2])): head for name, head in made.items()}
    return lambda seed: planted(planted_heads)


before = heads(h11=looks_at_offset(1), h12=looks_at_piece("[SEP]"), h21=looks_at_offset(-1))


def stirred(seed: int, made: Network = before, share: float = 0.1) -> PreTrainedModel:
    """A network, by default that before, whose weights have all changed by a share of their mean size."""
    network = made(seed)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        for weight in network.parameters():
            weight.add_(share * weight.abs().mean() * torch.randn_like(weight))
    return network


def alike(seed: int) -> PreTrainedModel:
    """Heads of a layer that look at the same tokens, apart from those of the other layer."""
    first, second = looks_at_piece("[SEP]"), looks_at_offset(1)
    return planted({(1, head): first for head in range(1, 5)} | {(2, head): second for head in range(1, 5)})


def cone(seed: int) -> PreTrainedModel:
    """A model whose second layer adds the same long vector to all tokens."""
    network: Any = tiny_bert(seed, num_hidden_layers=2)
    with torch.no_grad():
        network.encoder.layer[1].output.LayerNorm.bias.fill_(3)
        network.encoder.layer[1].output.LayerNorm.bias[::2] = -3
    return network


def unread(seed: int) -> PreTrainedModel:
    """A classifier whose heads look at [SEP], of which nothing is read."""
    network: Any = planted_classifier()
    vocabulary = tiny_tokenizer().get_vocab()
    with torch.no_grad():
        for layer in network.bert.encoder.layer:
            layer.attention.self.value.weight[:, vocabulary["[SEP]"]] = 0
            layer.attention.self.value.weight[:, len(vocabulary) :] = 0
    return network


def less_sure(share: float) -> Network:
    """A classifier that is right, with outputs of this share of those of `planted_classifier`."""

    def made(seed: int) -> PreTrainedModel:
        network: Any = planted_classifier()
        with torch.no_grad():
            network.classifier.weight.mul_(share)
        return network

    return made


# The loss rises sooner around one that is rather sure; no small change of the weights of the other costs much.
narrow, flat = less_sure(0.6), less_sure(0.1)


def carrying(head: Head, pieces: Iterable[str]) -> Network:
    """A network whose head 1-2 writes into the hidden state at which of some pieces it looks."""

    def made(seed: int) -> PreTrainedModel:
        network: Any = planted({(1, 2): head})
        vocabulary = tiny_tokenizer().get_vocab()
        attention, first = network.encoder.layer[0].attention, WIDTH
        with torch.no_grad():
            for number, piece in enumerate(sorted(set(pieces))):
                attention.self.value.weight[first + number, vocabulary[piece]] = 1
                attention.output.dense.weight[len(vocabulary) + number, first + number] = 1
        return network

    return made


TREES = DETERMINERS | SUBJECTS | ADJECTIVES
CLASSIFIER, SHARP = BertForSequenceClassification, {"batch": 8, "learning_rate": 0.01}
CASES = {
    "ablate": ClaimCase(lambda seed: planted_classifier(), texts.birds, "The task needs 1 head", 120, CLASSIFIER),
    "attributions": ClaimCase(
        lambda seed: planted_classifier(), texts.birds, "find what the target needs", 40, None,
        {"scored": 30, "flow": 0, "altered": 0}, shuffles=False,
    ),
    "cloze": ClaimCase(lambda seed: causal_table({("the", "cat"): 3.0}).network, texts.pairs, "100% right", noise=None),
    "clusters": ClaimCase(alike, texts.words, "Heads of the same layer are similar", shuffles=False),
    "compare": ClaimCase(
        heads(h11=looks_at_offset(1), h12=looks_at_offset(-1), h21=looks_at_offset(-1)), texts.words,
        "1 head of 8 changed clearly", noise=None, shuffles=False, without=stirred,
    ),
    "contacts": ClaimCase(
        heads(h12=looks_from_to(texts.PARTNERS)), texts.touching, "Attention of all heads finds contacts",
        options={"apart": 1},
    ),
    "coreference": ClaimCase(
        heads(h12=looks_from_to(texts.ANTECEDENTS)), texts.documents, "Head 1-2 finds antecedents", 80
    ),
    "film": ClaimCase(
        heads(h11=looks_at_offset(1), h12=looks_at_offset(-1), h21=looks_at_offset(-1)), texts.words,
        "Head 1-2 changed most", noise=None, shuffles=False, without=stirred,
    ),
    "finetune": ClaimCase(
        lambda seed: planted_classifier(), texts.birds, "accuracy", noise=None,
        # At 3e-3 three trainings of forty end at a constant answer, and nothing is learned that could be claimed.
        options={"epochs": 4, "batch": 8, "learning_rate": 1e-3, "max_tokens": 32, "keep": "last"},
    ),
    "geometry": ClaimCase(
        cone, texts.words, "Vectors of unrelated tokens grow more similar", noise=None, shuffles=False, without=heads()
    ),
    "gradients": ClaimCase(
        unread, texts.birds, "Attention to [SEP] hardly matters to the loss", 60, CLASSIFIER,
        shuffles=False,  # whatever the labels, nothing of [SEP] is read
    ),
    "induction": ClaimCase(
        heads(h12=looks_at_copies()), texts.words, "Head 1-2 looks at an earlier copy", 20, BertForMaskedLM,
        {"sequences": 20, "copy": 12, "contexts": "24", "tokens": 60}, shuffles=False, without=heads(), single=False,
    ),
    "kv": ClaimCase(
        far_past.network, far_past.topics, "3 of 4 KV heads may forget", 24, None,
        {"sinks": 1, "window": 8}, shuffles=False,
    ),
    "landscape": ClaimCase(
        flat, texts.birds, "wider minimum", 20, None,
        {"loss_examples": 16, "directions": 30, "positions": 2, "plane": 1},
        shuffles=False, without=narrow, single=False,
    ),
    "layers": ClaimCase(
        carrying(looks_at_offset(-1), ["the"]), texts.rooted, "Layers add to the embeddings", 150,
        options={"tasks": "part_of_speech", "cases": 300, "penalties": "10", "codes": False}, single=False,
    ),
    "lens": ClaimCase(
        lambda seed: causal_table(CYCLE).network, texts.cycle, "The last layer predicts", 100, BertForMaskedLM,
        {"map_predictions": 100}, single=False,
    ),
    "pretrain": ClaimCase(
        lambda seed: tiny_bert(seed, num_hidden_layers=1), texts.repeated, "Learned more than frequencies: tokens", 160,
        None,
        {"ways": "tokens", "shapes": "1x1x32", "epochs": 5, "batch": 4, "learning_rate": 1e-2, "max_tokens": 16}
        | {"seeds": 3, "masked": 0.15},
        single=False,
    ),
    "pretrain_head": ClaimCase(
        lambda seed: tiny_bert(seed, num_hidden_layers=1), texts.cycle, "The head predicts", 100, None,
        {"epochs": 3, "batch": 4, "learning_rate": 1e-2}, single=False,
    ),
    "probe": ClaimCase(
        heads(h12=looks_from_to(TREES)), texts.treebank, "Attention alone finds", 120,
        options=SHARP | {"epochs": 3, "attention_rate": 0.5}, single=False,
    ),
    "profile": ClaimCase(
        heads(h11=looks_at_offset(-1), h12=looks_at_piece("[SEP]")), texts.words, "head mostly attends to a neighbour",
        shuffles=False,
    ),
    "prune": ClaimCase(
        lambda seed: planted_classifier(), texts.birds, "Safe to remove", 240, CLASSIFIER,
        {"tolerance": 0.1, "step": 0.25},
    ),
    "shrink": ClaimCase(
        lambda seed: planted_classifier(), texts.birds, "The smaller model loses less than", 240, CLASSIFIER,
        {"size": "0.001MB", "best_effort": True, "tolerance": 0.1, "groups": 2, "epochs": 0},
    ),
    "relations": ClaimCase(
        heads(h12=looks_from_to(dict.fromkeys(texts.SEERS, "saw"))), texts.linked,
        "Head 1-2 attends more to linked words",
    ),
    "structure": ClaimCase(
        carrying(looks_at_offset(-1), ["the"]), texts.rooted, "of the roots are found", 120,
        options=SHARP | {"rank": "16", "epochs": 8, "tensor_products": True}, single=False,
    ),
    "syntax": ClaimCase(heads(h12=looks_from_to(TREES)), texts.treebank, "Head 1-2 knows more of the syntax"),
    "trees": ClaimCase(heads(h12=looks_from_to(TREES)), texts.treebank, "Head 1-2 draws trees better"),
}  # fmt: skip
# Effects of a size that papers report: the study, and its case.
MEDIUM = {
    "a head finds 34% of the syntactic heads": (
        "syntax",
        replace(
            CASES["syntax"],
            planted=heads(h12=looks_from_to({"the": "cat", "cat": "saw"})),
            data=partial(texts.treebank, scattered=True),
            n=120,
        ),
    ),
    "a head gives links 38 points more": (
        "relations",
        replace(CASES["relations"], planted=heads(h12=looks_from_to(dict.fromkeys(texts.SEERS, "saw"), score=2.1))),
    ),
    "one head changed twelve times as much as the next": (
        "compare",
        replace(CASES["compare"], planted=partial(stirred, made=CASES["compare"].planted, share=0.3),
                holds="Head 1-2 changed most"),
    ),
    "a head brings 10 points of a task": (
        "ablate", replace(CASES["ablate"], data=lambda seed, n, _: texts.birds(seed, n, True, drawn=0.8), n=1000),
    ),
}  # fmt: skip
