"""A model whose hidden states hold the trees of `planted_trees` exactly."""

import torch
from transformers import PreTrainedModel

from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS
from support.tiny import tiny_bert, tiny_tokenizer

# The edge of each word to its head; verbs are roots and have none. The head of a stop or comma is the verb.
PARENTS = {**DETERMINERS, **SUBJECTS, **ADJECTIVES, ".": "saw", ",": "saw"}
WIDTH = 2 * len(PARENTS)


def path(word: str) -> list[str]:
    """The words whose edges lie between a word and its root."""
    return [word, *path(PARENTS[word])] if word in PARENTS else []


def tree_states(seed: int = 0) -> PreTrainedModel:
    """One layer that changes nothing, on embeddings with two numbers for each edge: (1, 0) on the path, else (0, 1).

    All embeddings have the same mean and spread, so that layer normalisation keeps distances.
    """
    network = tiny_bert(seed, num_hidden_layers=1, num_attention_heads=2, hidden_size=WIDTH, intermediate_size=8)
    vocabulary, edges = tiny_tokenizer().get_vocab(), list(PARENTS)
    table: torch.Tensor = network.get_input_embeddings().get_parameter("weight")
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for module in network.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(1)
        for word in {*PARENTS, *PARENTS.values()}:
            on_path = torch.tensor([edge in path(word) for edge in edges], dtype=torch.float32)
            table[vocabulary[word]] = torch.cat([on_path, 1 - on_path])
    return network
