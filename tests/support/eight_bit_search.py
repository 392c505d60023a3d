"""Encoders that are large enough for eight bits to save something, and a search that may take them."""

from pathlib import Path
from typing import Any

import torch

import headscope
from headscope import Model, Settings
from headscope.studies.shrink.answers import answers_of
from headscope.studies.shrink.eight_bit_files import EightBitFiles
from headscope.studies.shrink.prices import Prices
from headscope.studies.shrink.search import SizeSearch
from headscope.studies.shrink.sizes import original_of, with_narrow_embeddings
from headscope.studies.shrink.splits import encode
from headscope.studies.shrink.step_files import StepFiles
from headscope.studies.shrink.target import SizeTarget, kinds
from support.idle_neurons import TEXTS
from support.tiny import tiny_bert, tiny_tokenizer

WIDTH, NEURONS, LAYERS = 96, 384, 3
PARTS = "neurons,layers,eight-bit"
PRICES = Prices(((1, 8),), LAYERS, 4, (0.0,), (NEURONS, NEURONS // 2), ((3.0,), (2.25,)), (0.0,))


def larger_bert(*, idle: bool = False, scale: float = 1.0) -> Model:
    """A BERT of 1.4 MB; with `idle` half of the neurons of each layer do nothing.

    * `scale`: of its layers; those of large random weights cannot be written as an ALBERT within its tolerance.
    """
    network: Any = tiny_bert(hidden_size=WIDTH, intermediate_size=NEURONS, num_hidden_layers=LAYERS)
    with torch.no_grad():
        for layer in network.encoder.layer:
            for weight in layer.parameters():
                weight.mul_(scale)
            layer.output.dense.weight[:, 1::2] *= 1 - idle
    return headscope.wrap(network, tiny_tokenizer())


def search_of(model: Model, target: SizeTarget, folder: Path, parts: str = PARTS, workers: int = 1) -> SizeSearch:
    """A search over twelve texts in steps of half of the neurons, with made prices and files in a folder."""
    settings = Settings(workers=workers)
    inputs = encode(model, tuple(headscope.read(TEXTS[:12])))
    original = with_narrow_embeddings(original_of(model, inputs, settings, 0.1, kinds(parts)), inputs, None, None)
    answers = answers_of(model, None)
    before = answers.of(model, inputs, settings)
    files = StepFiles(EightBitFiles(original, folder, answers), inputs, before, 0.0, settings)
    return SizeSearch(original, answers, inputs, before, PRICES, target, 2, 0.0, settings, None, files)
