"""Train a masked-language head for an encoder that has none, and save an ordinary model.

As BERT's own head (Devlin et al. 2019): the output layer shares the weights of the input embeddings.
"""
