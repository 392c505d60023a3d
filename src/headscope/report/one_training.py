"""What heads that are ranked by importance say of another training of the same task."""

from headscope.report.parts import Finding

PUBLISHED = (
    "In BERT-base, fine-tuned with five seeds on each of nine tasks of GLUE, the importance of heads has a rank "
    "correlation of .25 to .46 between two seeds, by task (Prasanna et al. 2020, recomputed from released results)."
)


def one_training() -> Finding:
    """That importance is of one training, and how far seeds agreed in BERT-base.

    >>> one_training().topic
    'The importance of heads is that of one training'
    """
    remedy = "headscope finetune --weight-seeds 5 measures it for this task; ablate --beside compares two seeds."
    return Finding("The importance of heads is that of one training", f"{PUBLISHED} {remedy}")
