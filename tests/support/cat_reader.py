"""A classifier of one head that reads whether "cat" is there: it alone has dimension 3, which values and classes read.

>>> cat_reader().capture.heads
(1,)
"""

from typing import Any

import torch
from transformers import BertForSequenceClassification

from headscope.models.model import Model, wrap
from support.tiny import tiny_bert, tiny_tokenizer


def cat_reader(sharp: float = 0.0, reads: bool = True) -> Model:
    """The classifier.

    * `sharp`: how much more the head looks at "cat" than at other tokens; at 0 all get the same attention.
    * `reads`: whether its values carry anything.
    """
    sizes = {"num_labels": 2, "num_hidden_layers": 1, "num_attention_heads": 1}
    network: Any = tiny_bert(0, BertForSequenceClassification, **sizes)
    width, tokenizer = network.config.hidden_size, tiny_tokenizer()
    layer, embeddings, unit = network.bert.encoder.layer[0], network.bert.embeddings, torch.eye(width)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.ndim > 1:
                parameter.zero_()
        embeddings.word_embeddings.weight += unit[0] - unit[1]
        embeddings.word_embeddings.weight[tokenizer.convert_tokens_to_ids("cat")] = unit[3] - unit[2]
        layer.attention.self.query.bias[3] = sharp
        layer.attention.self.key.weight.copy_(unit)
        layer.attention.self.value.weight.copy_(0.1 * reads * unit)
        layer.attention.self.value.weight[3, 3] = reads
        layer.attention.output.dense.weight.copy_(8 * unit)
        network.bert.pooler.dense.weight.copy_(unit)
        network.classifier.weight[1, 3] = 6
    return wrap(network, tokenizer)
