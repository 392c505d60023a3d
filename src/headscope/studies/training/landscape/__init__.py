"""Loss around a fine-tuned model: along the line from its start, and over random directions.

Hao et al. 2019, section 3: the loss along the straight line from the weights before fine-tuning to those after it, and
over the plane of two directions; from pre-trained and from random weights with the same axes. Directions are drawn with
filters of equal norm (Li et al. 2018, section 4).
"""

from headscope.study import Dimension, Number, Study

HAO, LI = "Hao et al. 2019, section 3", "Li et al. 2018, section 4"
LENGTHS, PLANE = "lengths of the filters", ("init", "first_step", "second_step")
ALONG = "loss along the line from the start of the training to its end"
AROUND = "mean loss at steps along two random directions from the end, with filters as long as those of the model"
FAR = (
    "how far both ways together one may go along such a direction before the loss has risen by --rise, at most twice "
    "--radius"
)
STUDY = Study(
    question="Does fine-tuning end in a wide or a narrow minimum?",
    source=HAO,
    survey="a trained model: headscope landscape MODEL --tuned TRAINED --task NAME --data FOLDER",
    example="headscope landscape minilm --tuned out/tuned/model --task mrpc --data GLUE -o out/landscape",
    without=("workers", "engine", "address", "gpus_per_worker"),
    quick=(*("--tuned", "{model}", "--loss-examples", "4", "--directions", "2", "--positions", "3", "--plane", "2"),),
    required=("line_loss", "width"),
    dims={
        "position": Dimension("place on the line from the weights before a training, 0, to those after it, 1", "step"),
        "first_step": Dimension("step along a random direction, in lengths of the filters", "step"),
        "second_step": Dimension("step along another random direction, in lengths of the filters", "step"),
        "direction_number": Dimension("random direction in the space of weights", "whole", 1, 1_000_000),
    },
    numbers=(
        Number("line_loss", ALONG, "nats", ("init", "position")),
        Number("plane_loss", "loss over the plane of two random directions", "nats", PLANE, f"{HAO}; {LI}", AROUND),
        Number(
            "width",
            "width around the model within which the loss rises less",
            LENGTHS,
            ("init",),
            LI,
            "mean over directions, with a t interval",
        ),
        Number("direction_width", "width along a random direction", LENGTHS, ("init", "direction_number"), LI, FAR),
    ),
)
