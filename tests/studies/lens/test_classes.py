"""Each piece masked once, and what is predicted of the words of each class."""

from pathlib import Path

import numpy as np
import torch
from transformers import BertForMaskedLM

import headscope
from headscope import Settings
from support.letters import letter_model, sequences


@torch.inference_mode()
def test_right_pieces_and_loss_by_class_are_those_of_masking_each_alone(tmp_path: Path) -> None:
    rows = [row.split() for row in sequences(5, 8)]
    rows[4].append("X")  # which the vocabulary lacks
    names = [["_" if at == 2 else f"R{at % 2}" for at in range(len(row))] for row in rows]
    texts = ["".join(map("{}\t{}\n".format, *pair)) for pair in zip(rows, names, strict=True)]
    (tmp_path / "x.tsv").write_text("\n".join(texts))
    model = letter_model(kind=BertForMaskedLM)
    corpus = headscope.read(tmp_path / "x.tsv", kind="classes")
    result = headscope.lens(model, corpus, Settings(resamples=20), every_piece=True, map_predictions=0)
    row, found = rows[4], {"R0": [], "R1": []}  # every fifth text is reported
    for at in (index for index in range(len(row) - 1) if index != 2):
        inputs = model.tokenizer(" ".join([*row[:at], "[MASK]", *row[at + 1 :]]), return_tensors="pt")
        predicted = model.network(**inputs).logits[0, at + 1].log_softmax(-1)
        right = model.tokenizer.convert_tokens_to_ids(row[at])
        found[f"R{at % 2}"].append((int(predicted.argmax()) == right, -float(predicted[right])))
    for name, cases in found.items():
        expected = np.mean(cases, axis=0)
        values = [float(result[f"{kind}_by_class"].sel(word_class=name)[0, -1]) for kind in ("right", "loss")]
        np.testing.assert_allclose(values, expected, atol=1e-4)
    assert int(result["right_n_examples"]) == len(row) - 1
    assert '"pieces that the vocabulary lacks": 1' in result.attrs["skipped"]
