"""Numbers of hidden states: averages over inputs, and cosines of tokens."""

import numpy as np
import torch
from benchmarks.coverage.attention import groups_of, of_values
from benchmarks.coverage.cosines import Anisotropy, Tokens
from benchmarks.coverage.numbers import Number, Numbers, Sums, from_zero

from headscope import Corpus, Model
from headscope.passes.forward import Forward
from headscope.studies.layers.geometry.hidden_pass import averages, is_word
from headscope.studies.layers.geometry.samples import of_length_one


@torch.inference_mode()
def geometry(model: Model, corpus: Corpus) -> Numbers:
    """Averages over the tokens of inputs, and anisotropy."""
    read, document = Forward(model).states, from_zero(corpus.units)
    totals: dict[str, np.ndarray] = {}
    cases = np.zeros(len(document), dtype=np.int64)
    vectors, sentence, token = [], [], []
    for group in groups_of(model, corpus):
        batch, states = read(group)
        among = is_word(batch)
        for name, found in averages(states, among).items():
            for _, value, _, number in of_values(name, found, group):
                totals.setdefault(name, np.zeros((len(document), len(value))))[number] = value
                cases[number] = 1
        for row, encoded in enumerate(group):
            of_input = of_length_one(states[:, row, among[row]].numpy()).swapaxes(0, 1)
            vectors.append(of_input.astype(np.float16))
            sentence += [encoded.index] * len(of_input)
            token += batch.inputs["input_ids"][row, among[row]].tolist()
    order = np.argsort(sentence, kind="stable")
    tokens = Tokens(np.concatenate(vectors)[order], np.array(sentence)[order], np.array(token)[order], document)
    numbers: dict[str, Number] = {f"geometry: {name}": Sums(total, cases) for name, total in totals.items()}
    return Numbers(document, numbers | {"geometry: anisotropy": Anisotropy(tokens)})
