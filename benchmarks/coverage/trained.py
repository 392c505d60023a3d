"""Numbers of probes that are trained on one treebank and tested on another: what each sentence or text has right."""

from functools import partial

import numpy as np
from benchmarks.coverage.numbers import Number, Numbers, Scores, Sums, from_zero
from jaxtyping import Float, Int

from headscope import Corpus, Model, Settings
from headscope.models.tokenizer import piece_counts
from headscope.passes.captured_treebanks import capture_treebanks, of_two_minutes
from headscope.statistics.intervals import Score
from headscope.studies.heads.probe.experiments import KINDS, RANDOM, Experiments, Gold
from headscope.studies.heads.probe.observer import Treebank, attention_pass
from headscope.studies.heads.probe.train import ParserRecipe
from headscope.studies.heads.probe.word_vectors import from_model
from headscope.studies.layers.layers.features import ClassifierSettings
from headscope.studies.layers.layers.groups import Units, grouped, with_vectors
from headscope.studies.layers.layers.sampling import named, sample
from headscope.studies.layers.layers.texts import split, windows
from headscope.studies.layers.layers.train import train
from headscope.studies.layers.layers.unit_states import captured_units
from headscope.studies.layers.structure.scores import SentenceScores, score, scores
from headscope.studies.layers.structure.train import ProbeRecipe, fit
from headscope.studies.layers.structure.treebank_states import TreebankStates, states_pass

BYTES, SETTINGS, TRAINED = int(4e9), Settings(), 2_000
TASKS, CASES, PENALTY, HELD_OUT = "part_of_speech,dependency_label,parent,tense", 3000, 100.0, 0.1


def structure(model: Model, corpus: Corpus, training: Corpus) -> Numbers:
    """Scores of distance and depth probes by layer and baseline."""
    drawn = of_two_minutes(corpus, training, TRAINED, SETTINGS, full=False).training
    with capture_treebanks(TreebankStates, partial(states_pass, model, SETTINGS), corpus, drawn, BYTES) as states:
        recipe = ProbeRecipe(held_out=HELD_OUT)
        maps = fit(states.train, recipe, SETTINGS.seed, model.device).maps
        found = score(states.test, maps, model.device)
        document = from_zero([sentence.unit for sentence in states.test.sentences])

    def of(name: str) -> Number:
        by_length = name.endswith("spearman")
        return Scores(partial(_score, found, name), found.length if by_length else np.zeros_like(found.length))

    names = ("uuas", "root_accuracy", "distance_spearman", "norm_spearman")
    return Numbers(document, {f"structure: {name}": of(name) for name in names})


def _score(found: SentenceScores, name: str, rows: np.ndarray, draws: np.ndarray) -> Score:
    return scores(found[rows], draws)[name]


def probe(model: Model, corpus: Corpus, training: Corpus) -> Numbers:
    """Scores of parsers of one seed, without those of random weights, and of trees without a model."""
    drawn = of_two_minutes(corpus, training, TRAINED, SETTINGS, full=False).training
    with capture_treebanks(Treebank, partial(attention_pass, model, SETTINGS), corpus, drawn, BYTES) as treebanks:
        lexicon = from_model(model, [*treebanks.train.sentences, *treebanks.test.sentences])
        gold = Gold(treebanks.test.sentences)
        experiments = Experiments(ParserRecipe(learning_rate=0.003), lexicon, gold, model.device)
        experiments.simple(treebanks)
        experiments.run([kind for kind in KINDS if kind not in RANDOM], [SETTINGS.seed], treebanks)
    right = np.stack([outcome.right[0] for outcome in experiments.outcomes.values()], axis=1)
    sums = by_row(right, gold.sentence, len(gold.sentences))
    return Numbers(from_zero([sentence.unit for sentence in gold.sentences]), {"probe: uas": sums})


def layers(model: Model, corpus: Corpus, training: Corpus) -> Numbers:
    """Scores of classifiers of some tasks by layer, at one penalty."""
    texts = split([corpus], [training], HELD_OUT, SETTINGS.seed)
    room = model.max_tokens - model.tokenizer.num_special_tokens_to_add()
    texts.windows = windows(texts, partial(piece_counts, model.tokenizer), room, HELD_OUT, SETTINGS.seed)
    units, sampled = Units(), sample(texts, named(TASKS), CASES, SETTINGS.seed)[0]
    groups = grouped(sampled, units, SETTINGS.seed, controls=False)
    classifiers = ClassifierSettings(penalties=(PENALTY,), codes=False)
    right: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    with captured_units(model, texts, units.rows, "mean", SETTINGS, BYTES) as states:
        for group in (with_vectors(group, states.filled) for group in groups):
            trained = train(group, states.tables, classifiers, model.device)
            for answers, task in zip(group.answers, trained, strict=True):
                right[answers.name] = 1 - task.loss, group.texts["report"][answers.present("report")]
    tested = np.unique(np.concatenate([text for _, text in right.values()]))
    numbers = {
        f"layers: {name}": by_row(values, np.searchsorted(tested, text), len(tested))
        for name, (values, text) in right.items()
    }
    return Numbers(from_zero(np.array(texts.units)[tested]), numbers)


def by_row(right: Float[np.ndarray, "case column"], row: Int[np.ndarray, " case"], rows: int) -> Sums:
    """The sums of cases that are right or wrong, of each sentence or text."""
    totals = np.zeros((rows, right.shape[1]))
    np.add.at(totals, row, right)
    return Sums(totals, np.bincount(row, minlength=rows), share=True)
