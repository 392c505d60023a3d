"""The page of `pretrain_head`: loss and accuracy before, after, and by the frequency of pieces alone."""

from collections.abc import Iterator

from headscope.figures import curve
from headscope.report.claims import paired
from headscope.report.declared import Chart, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, estimate, number

TRAINED = {"trained": "The encoder was trained too: its heads may have changed.", "frozen": "The encoder was frozen."}
FORMS = {"loss": ".3f", "perplexity": ".1f", "accuracy": ".3f"}
CAPTIONS = {
    "loss": "With 95% intervals over inputs. Epoch 0 is the untrained head; dashed: the frequency of the pieces alone.",
    "accuracy": "With 95% intervals over inputs. Dashed: always the most frequent piece.",
}


def last(numbers: Numbers, name: str) -> Estimate:
    """A number after the last epoch."""
    return estimate(numbers.result, name, epoch=numbers.result["epoch"].values[-1])


def loss(numbers: Numbers) -> Finding:
    """The last loss beside that of frequencies alone, on the same tokens."""
    end, chance, tokens = last(numbers, "loss"), numbers("unigram_loss"), numbers.n("loss")
    claim = paired(end, chance, last(numbers, "loss_gain"), numbers.n("loss_gain"), 0)
    text = (
        f"Loss of masked tokens: {end} nats (perplexity {last(numbers, 'perplexity').value:.1f}) on {tokens:,} masked "
        f"tokens of the held-out text; {number(numbers('loss', epoch=0).value)} before the training, "
        f"{number(chance.value)} by the frequency of the pieces alone. That is {claim.difference} nats lower."
    )
    return Finding.judged(
        claim,
        text if claim.verdict == "holds" else f"{text} Train on more text, or for more epochs.",
        holds="The head predicts masked tokens better than frequencies do",
        fails="The head predicts masked tokens no better than frequencies do",
        undecided="It cannot be told whether the head is better than frequencies",
        unit="masked tokens",
    )


def accuracy(numbers: Numbers) -> Finding:
    """The share of masked tokens that are predicted right."""
    return Finding(
        "Accuracy",
        f"{last(numbers, 'accuracy'):%} of the masked tokens; the most frequent piece {numbers('unigram_accuracy'):%}, "
        f"{last(numbers, 'accuracy_gain'):+} points.",
    )


def longer(numbers: Numbers) -> Iterator[Finding]:
    """The loss of the last epochs, without a test: both are of the same tokens, but of one training."""
    losses, epochs = numbers.array("loss").values, numbers.result["epoch"].values
    if len(losses) > 2:
        best = int(epochs[losses.argmin()])
        advice = "" if best == epochs[-1] else f" It was lowest after epoch {best}; see --keep best."
        change = f"{number(float(losses[-2]))} to {number(float(losses[-1]))}"
        yield Finding("Last epoch", f"In the last epoch the loss went from {change}.{advice}")


def head(numbers: Numbers) -> Finding:
    """Whether the encoder was trained too."""
    name = numbers.words.get("adapted_head", "")
    words = next((text for encoder, text in TRAINED.items() if f"encoder {encoder}" in name), "")
    return Finding("The head", f"It is {name}. {words}".strip())


def held_out(numbers: Numbers) -> Iterator[Figure]:
    """Loss and accuracy after each epoch, beside those of frequencies."""
    for name, caption in CAPTIONS.items():
        chart = curve(numbers.array(name), "epoch", reference=numbers(f"unigram_{name}").value)
        yield Figure(name, "Masked words of the held-out text", chart, caption, name)


def scores(numbers: Numbers) -> Table:
    """A row for the frequencies of pieces, and for each epoch from 0, the untrained head."""
    chance: Cells = [(number(numbers(f"unigram_{name}").value, form), "") for name, form in FORMS.items()]
    epochs: list[tuple[str, Cells]] = [
        (str(epoch), [estimate(numbers.result, name, epoch=epoch).cell(form) for name, form in FORMS.items()])
        for epoch in numbers.result["epoch"].values.tolist()
    ]
    caption = "Masked tokens of the held-out text; epoch 0 is the untrained head, unigrams are piece frequencies alone."
    return titled("scores", caption, "Epoch", map(str.capitalize, FORMS), [("unigrams", chance), *epochs])


STEPS = "Each point is the mean over a fiftieth of the training, with masks that are new in each epoch."
TRAINING = Chart("train_loss", "curve", "Training", STEPS, style={"dim": "progress", "percent": True})
PAGE = StudyParts(findings=(loss, accuracy, longer, head), charts=(held_out, TRAINING), tables=(scores,))
