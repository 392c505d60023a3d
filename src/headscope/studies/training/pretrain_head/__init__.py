"""Train a masked-language head for an encoder that has none, and save an ordinary model.

As BERT's own head (Devlin et al. 2019): the output layer shares the weights of the input embeddings.
"""

from headscope.study import Number, Study

LOSS, PERPLEXITY, ACCURACY = "loss of masked tokens", "perplexity of masked tokens", "masked tokens predicted right"
UNIGRAMS, EPOCHS = "by frequency of the pieces alone", ("epoch",)
CROSS_ENTROPY = "mean cross entropy of masked tokens of the held-out text, all of them [MASK]"
TRAINING = "mean over the steps of each fiftieth of the training"
STUDY = Study(
    question="Which words does an encoder without a masked-language head expect?",
    source="masked tokens of the held-out text",
    survey="training: headscope pretrain-head MODEL TEXT",
    example="headscope pretrain-head minilm wiki.txt -o out/adapted",
    options={"long": "window"},
    without=("workers", "engine", "address", "gpus_per_worker"),
    packages={"accelerate": ""},
    quick=("--epochs", "1", "--batch", "4"),
    required=("unigram_perplexity",),
    numbers=(
        Number("loss", LOSS, "nats", EPOCHS, definition=CROSS_ENTROPY),
        Number("loss_gain", f"{LOSS}, subtracted from that {UNIGRAMS}", "nats", EPOCHS),
        Number("unigram_loss", f"{LOSS}, {UNIGRAMS}", "nats"),
        Number("perplexity", PERPLEXITY, "pieces", EPOCHS, definition="exponential of loss"),
        Number("unigram_perplexity", f"{PERPLEXITY}, {UNIGRAMS}", "pieces"),
        Number("accuracy", ACCURACY, "fraction", EPOCHS),
        Number("accuracy_gain", f"{ACCURACY}, minus that {UNIGRAMS}", "fraction", EPOCHS),
        Number("unigram_accuracy", f"{ACCURACY}, {UNIGRAMS}", "fraction"),
        Number("train_loss", "loss in training", "nats", ("progress",), TRAINING),
    ),
)
