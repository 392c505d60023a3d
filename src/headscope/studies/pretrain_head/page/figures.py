"""Figures of the training: scores after each epoch, and the loss during the training."""

import xarray as xr

from headscope.figures import with_interval
from headscope.figures.curve import curve
from headscope.report.parts import Figure

HELD_OUT, TRAINING = "Masked words of the held-out text", "Training"
CAPTIONS = {
    "loss": "With 95% intervals over inputs. Epoch 0 is the untrained head; dashed: the frequency of the pieces alone.",
    "accuracy": "With 95% intervals over inputs. Dashed: always the most frequent piece.",
}


def figures(result: xr.Dataset) -> list[Figure]:
    """Loss and accuracy after each epoch beside those of frequencies, and the loss during the training."""
    held_out = [
        Figure(
            name,
            HELD_OUT,
            curve(with_interval(result, name), "epoch", reference=float(result[f"unigram_{name}"])),
            caption,
            name,
        )
        for name, caption in CAPTIONS.items()
    ]
    training = curve(result["train_loss"], "progress", percent=True)
    caption = "Each point is the mean over a fiftieth of the training, with masks that are new in each epoch."
    return [*held_out, Figure("train_loss", TRAINING, training, caption, "train_loss")]
