"""A BERT in which one head decides the label, and its task: is there a bird in the sentence?

The head's queries all look at "bird"; its values carry that piece alone, to two numbers of [CLS] that nothing
else writes to and that the classifier reads. All other heads look at all tokens alike and write a little noise.

>>> network, task = planted_classifier(), planted_task()
>>> task.labels, task.dev.n_examples, network.config.num_labels
(('no', 'yes'), 40, 2)
"""

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor
from transformers import BertForSequenceClassification, PreTrainedModel

from headscope.corpora import Corpus
from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example, Sentence
from support.planted import HEADS, HIDDEN, PIECES, POSITIONS, WIDTH, looks_at_piece, planted
from support.tiny import WORDS, tiny_bert

PIECE, LABELS = "bird", ("no", "yes")
DECIDES = (2, 3)  # layer and head, from 1
# The numbers of a token's vector that say whether the head has seen the piece: one goes up, the other down.
SEEN = (len(PIECES), len(PIECES) + 1)


def planted_classifier(decides: tuple[int, int] = DECIDES, layers: int = 2, noise: float = 0.02) -> PreTrainedModel:
    """A classifier for `tiny_tokenizer` that is always right, by the head `decides` (layer, head), from 1.

    `noise` is the spread of the other heads' value and output weights.
    """
    network: Any = tiny_bert(
        kind=BertForSequenceClassification,
        hidden_size=HIDDEN,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        max_position_embeddings=POSITIONS,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    network.bert.load_state_dict(planted({decides: looks_at_piece(PIECE)}, layers).state_dict())
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for number, layer in enumerate(network.bert.encoder.layer, start=1):
            for weight in (layer.attention.self.value.weight, layer.attention.output.dense.weight):
                weight.normal_(std=noise, generator=generator)
            layer.attention.output.dense.weight[list(SEEN)] = 0
            if number == decides[0]:
                _carry(layer.attention, slice((decides[1] - 1) * WIDTH, decides[1] * WIDTH))
        # From 0.9 where the piece is there, and 0 where it is not, to 0.7 and -0.7.
        network.bert.pooler.dense.weight[0, list(SEEN)] = torch.tensor([2.0, -2.0])
        network.bert.pooler.dense.bias[0] = -0.9
        network.classifier.weight.zero_()
        network.classifier.weight[:, 0] = torch.tensor([-2.0, 2.0])
        network.classifier.bias.zero_()
    return network


def _carry(attention: Any, head: slice) -> None:
    """The head reads whether a token is the piece, and writes it to `SEEN`; nothing else."""
    value: Tensor = attention.self.value.weight
    output: Tensor = attention.output.dense.weight
    value[head], output[:, head] = 0, 0
    value[head.start, PIECES[PIECE]] = 1
    output[list(SEEN), head.start] = torch.tensor([0.5, -0.5])


def planted_task(n_dev: int = 40, n_train: int = 64) -> Task:
    """Sentences of 3 to 12 words, half of them with a bird."""
    return Task(
        name="birds",
        kind="classification",
        labels=LABELS,
        metrics=("accuracy", "f1"),
        dev=_corpus("dev", n_dev, seed=1),
        train=_corpus("train", n_train, seed=2),
    )


def write_planted_task(folder: Path, task: Task | None = None) -> Path:
    """The same task as `train.tsv` and `dev.tsv` of a folder, with columns sentence and label."""
    task = task or planted_task()
    folder.mkdir(parents=True, exist_ok=True)
    for split, corpus in (("train", task.training()), ("dev", task.dev)):
        rows = [f"{example.first[0].text}\t{example.label}\n" for example in corpus]
        (folder / f"{split}.tsv").write_text("".join(["sentence\tlabel\n", *rows]))
    return folder


def _corpus(name: str, n: int, seed: int) -> Corpus:
    random, others = Random(seed), [word for word in WORDS if word != PIECE and word.isalpha()]
    examples = []
    for number in range(n):
        words = random.choices(others, k=random.randint(3, 12))
        if number % 2:
            words[random.randrange(len(words))] = PIECE
        examples.append(Example(f"{name}:{number}", (Sentence(" ".join(words)),), label=LABELS[number % 2]))
    return Corpus(name, f"{seed:064x}", n, {}, partial(iter, examples))
