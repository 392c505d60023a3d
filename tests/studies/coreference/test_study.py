"""A head that points at the antecedent is found, others are not; and the study as a whole against loops."""

import numpy as np
import pytest
import torch
import xarray as xr

import headscope
from headscope import Corpus, Settings
from headscope.corpora import Options, read
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Mention, Question, Sentence
from headscope.statistics.split_half import split_in_half
from headscope.studies.heads.coreference import study
from support.made_inputs import corpus_of, spaced
from support.planted import looks_at_offset, looks_from_to, planted
from support.tiny import tiny_bert, tiny_tokenizer

QUICK = Settings(resamples=20, batch_tokens=200, long="truncate")
# Whom each word refers to, which pieces alone tell.
ANTECEDENTS = {"he": "man", "she": "woman", "it": "house", "child": "dog", "her": "woman", "his": "man"}
HEADS = {(1, 2): looks_from_to(ANTECEDENTS), (2, 3): looks_at_offset(-1)}
NOUNS = ("man", "woman", "house", "dog", "child")


def said(text: str, scope: str) -> Sentence:
    """A sentence in which each noun and each pronoun is a mention of what it refers to."""
    words = text.split()
    upos = tuple("NOUN" if word in NOUNS else "PRON" if word in ANTECEDENTS else "X" for word in words)
    found = tuple(
        Mention(ANTECEDENTS.get(word, word), number, number + 1)
        for number, word in enumerate(words)
        if word in NOUNS or word in ANTECEDENTS
    )
    return spaced(text, upos=upos, mentions=found, document=scope)


DOCUMENTS = (
    ("the man saw the woman .", "she saw the house , he ran .", "the child came to it ."),
    ("the dog saw the man .", "the woman saw his .", "the child ran to her , she sat ."),
)


def documents(number: int = 40) -> Corpus:
    return corpus_of(
        [
            Example(f"{document}-{index}", (said(text, str(document)),))
            for document in range(number)
            for index, text in enumerate(DOCUMENTS[document % 2])
        ]
    )


@pytest.fixture(scope="module")
def model() -> headscope.Model:
    return headscope.wrap(planted(HEADS), tiny_tokenizer())


@pytest.fixture(scope="module")
def result(model: headscope.Model) -> xr.Dataset:
    return study.run(model, documents(), QUICK)


def test_a_head_that_points_at_the_antecedent_is_found(result: xr.Dataset) -> None:
    assert result["mention_type"].values.tolist() == ["all", "pronoun", "nominal"]
    assert (result["accuracy"].sel(layer=1, head=2) == 1).all()
    assert result["chosen_layer"].values.tolist() == [1] * 3 and result["chosen_head"].values.tolist()[:2] == [2] * 2
    assert (result["chosen_accuracy"] == 1).all() and (result["chosen_gain"].sel(mention_type="pronoun") > 0.3).all()
    assert result["special"].sel(layer=1, head=2, mention_type=["all", "pronoun"]).values.tolist() == [1, 1]


def test_all_other_heads_look_at_all_mentions_alike_and_find_the_first(result: xr.Dataset) -> None:
    """Of equal candidates the first is taken: "man" in the first document, "dog" in the second."""
    others = result.sel(layer=1, head=[1, 3, 4])
    # Right are "he", one pronoun of six, and "child", whose antecedent is the dog.
    for kind, expected in {"pronoun": 1 / 6, "nominal": 1.0}.items():
        np.testing.assert_allclose(others["accuracy"].sel(mention_type=kind), expected, err_msg=kind)
    assert (others["special"] == 0).all()


def test_a_head_of_the_token_before_is_no_better_than_chance(result: xr.Dataset) -> None:
    previous = result["accuracy"].sel(layer=2, head=3, mention_type="pronoun")
    assert float(previous) < 0.5 and result["special"].sel(layer=2, head=3, mention_type="pronoun") == 0


def test_numbers_of_mentions_and_baselines(result: xr.Dataset) -> None:
    assert result["accuracy_n_examples"].values.tolist() == [140, 120, 20]
    assert result.attrs["n_mentions"] == 140 and result.attrs["n_examples"] == 40
    assert result["accuracy_n_examples"].attrs["units"] == "mentions"
    pronouns = result["baseline_accuracy"].sel(mention_type="pronoun")
    # Right for "she" in both documents, the second time by "her".
    np.testing.assert_allclose(pronouns.sel(baseline="nearest"), 2 / 6)


def test_segments_cut_off_antecedents_which_is_counted(model: headscope.Model) -> None:
    short = study.run(model, documents(), QUICK, tokens=18)
    assert "whose antecedents are all cut off" in short.attrs["skipped"]
    assert int(short["accuracy_n_examples"][0]) == 80
    windows = study.run(model, documents(), QUICK, tokens=18, context="windows")
    assert int(windows["accuracy_n_examples"][0]) == 120
    first = study.run(model, documents(), QUICK, tokens=18, context="first")
    assert int(first["accuracy_n_examples"][0]) == 60 and (first["accuracy"].sel(layer=1, head=2) == 1).all()


def naive_accuracy(sentences: tuple[Sentence, ...], maps: np.ndarray) -> tuple[np.ndarray, int]:
    """How many antecedents each head of each layer finds [layer, head], and how many there are."""
    tokenizer, text = tiny_tokenizer(), " ".join(sentence.text for sentence in sentences)
    offsets = tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    made, base = [], 0
    for sentence in sentences:
        for mention in sentence.mentions or ():
            outside = [
                word
                for word in range(mention.start, mention.end)
                if not mention.start <= sentence.heads[word] - 1 < mention.end
            ]
            first, last = sentence.words[outside[0] if outside else mention.end - 1]
            tokens = [
                token for token, (start, end) in enumerate(offsets) if max(start, first + base) < min(end, last + base)
            ]
            span = (base + sentence.words[mention.start][0], base + sentence.words[mention.end - 1][1])
            made.append((first + base, span, mention.entity, tokens))
        base += len(sentence.text) + 1
    found, number = np.zeros(maps.shape[:2]), 0
    for head, span, entity, tokens in made:
        before = sorted(
            (other[0], other[3])
            for other in made
            if other[0] < head and not (span[0] <= other[1][0] and other[1][1] <= span[1])
        )
        right = {other[0] for other in made if other[2] == entity} & {word for word, _ in before}
        if right:
            weights = np.stack([maps[:, :, tokens][..., its].sum(-1).mean(-1) for _, its in before])
            best = np.array([antecedent for antecedent, _ in before])[weights.argmax(0)]
            found, number = found + np.isin(best, list(right)), number + 1
    return found, number


def test_the_study_of_a_random_model_is_what_loops_over_eager_maps_find() -> None:
    sample = [example for example in read("sample") if not example.second][:60]
    # Each sentence is its own document, so that it fits into a tiny model.
    made = [
        Example(example.id, (Sentence(*(getattr(example.first[0], name) for name in FIELDS), document=example.id),))
        for example in sample
    ]
    network, tokenizer = tiny_bert(max_position_embeddings=256), tiny_tokenizer(256)
    network.set_attn_implementation("eager")
    total, number = np.zeros((3, 4)), 0
    for example in made:
        ids = torch.tensor([tokenizer(example.first[0].text)["input_ids"]])
        with torch.inference_mode():
            attentions = network(input_ids=ids, output_attentions=True).attentions
        right, count = naive_accuracy(example.first, torch.cat(attentions).double().numpy())
        total, number = total + right, number + count
    model = headscope.wrap(tiny_bert(max_position_embeddings=256), tokenizer)
    result = study.run(model, corpus_of(made), QUICK, tokens=256)
    assert number == int(result["accuracy_n_examples"].sel(mention_type="all")) > 20
    np.testing.assert_allclose(result["accuracy"].sel(mention_type="all"), total / number)


FIELDS = ("text", "words", "upos", "heads", "deprel", "mentions")


def question(text: str, pronoun: int, names: tuple[int, int], answer: int | None, *pair: str) -> Sentence:
    made = said(text, "")
    asked = Question((pronoun, pronoun + 1), tuple((name, name + 1) for name in names), answer, *pair)
    return Sentence(made.text, made.words, question=asked)


def gap() -> Corpus:
    """Passages in which "he" is the man and "she" the woman, or a child that is not named; names on both sides."""
    kinds = (
        ("the man saw the woman , he ran .", 6, (1, 4), 0),
        ("as she ran the man saw the woman .", 1, (4, 7), 1),
        ("the man saw the woman , she ran .", 6, (1, 4), None),
    )
    return corpus_of([Example(str(number), (question(*kinds[number % 3]),)) for number in range(60)])


def test_gap_has_f1_by_gender(model: headscope.Model) -> None:
    result = study.run(model, gap(), QUICK)
    sharp = result.sel(layer=1, head=2)
    assert result["mention_type"].values.tolist() == ["all"] and sharp["accuracy"].item() == 1
    # 20 masculine passages, all right; 40 feminine ones, of which half have no right name.
    np.testing.assert_allclose(sharp["f1"].values, [1, 2 * 20 / (40 + 20), 2 * 40 / (60 + 40)])
    np.testing.assert_allclose(sharp["bias_ratio"], 2 / 3)
    assert result["f1_n_examples"].values.tolist() == [20, 40, 60]
    np.testing.assert_allclose(result["baseline_f1"].sel(baseline="random", gender="masculine"), 0.5)
    assert result["chosen_f1"].sel(gender="masculine") == 1 and "attention_gap" not in result
    assert int(result["chosen_f1_n_examples"].sel(gender="overall")) == 30
    assert result.attrs["options"] == "{}"


def test_baselines_beside_the_chosen_head_are_of_its_passages(model: headscope.Model) -> None:
    result = study.run(model, gap(), QUICK)
    rest = np.flatnonzero(~split_in_half(60, QUICK.seed))
    answerable = int((rest % 3 != 2).sum())
    assert answerable != 20  # other than on average, so that all passages give another F1
    random = result["chosen_baseline_f1"].sel(baseline="random", gender="overall")
    np.testing.assert_allclose(random, answerable / (len(rest) + answerable))
    assert result["chosen_baseline_f1_ci"].dims == ("baseline", "gender", "bound")
    assert result["chosen_baseline_bias_ratio"].dims == ("baseline",)


def pairs(number: int = 60) -> Corpus:
    """The pronoun refers to the man; it is "he" in pro sentences, and "she" in anti sentences."""
    texts = {"pro": "the man saw the woman as he ran .", "anti": "the man saw the woman as she ran ."}
    return corpus_of(
        [
            Example(f"{kind}-{pair}", (question(text, 6, (1, 4), 0, kind, str(pair)),))
            for kind, text in texts.items()
            for pair in range(number)
        ]
    )


def test_a_head_that_goes_by_gender_has_the_largest_gap(model: headscope.Model) -> None:
    result = study.run(model, pairs(), QUICK)
    sharp = result.sel(layer=1, head=2)
    np.testing.assert_allclose(sharp["attention"].values, [1, 0], atol=1e-6)
    assert float(sharp["attention_gap"]) == pytest.approx(1, abs=1e-6) and float(sharp["preference_gap"]) == 1
    assert float(sharp["preference_gap_q"]) < 0.05
    others = result.sel(layer=1, head=[1, 3, 4])
    np.testing.assert_allclose(others["attention_gap"], 0, atol=1e-6)
    assert (others["preference_gap"] == 0).all() and int(result["attention_n_examples"]) == 60
    assert "f1" not in result and "chosen_preference_gap" in result


def test_pairs_without_partners_give_no_gap(model: headscope.Model) -> None:
    alone = corpus_of(list(pairs(4))[:4])
    result = study.run(model, alone, QUICK)
    assert "attention_gap" not in result and "sentences without a partner" in result.attrs["skipped"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": 2}, "segments of 2 tokens hold no word"),
        ({"tokens": 6}, "no mention and its antecedent have tokens in the same input; use longer segments"),
    ],
)
def test_segments_that_are_too_short_are_refused(model: headscope.Model, options: dict, message: str) -> None:
    with pytest.raises(HeadscopeError, match=message):
        study.run(model, documents(2), QUICK, **options)


def test_gum_as_it_is_shipped(model: headscope.Model, real_data) -> None:
    corpus = read(real_data / "ud" / "en_gum-ud-dev.conllu.gz", Options(limit=120))
    result = study.run(model, corpus, QUICK, tokens=60)
    assert int(result["accuracy_n_examples"].sel(mention_type="all")) > 30
    assert set(result["mention_type"].values) == {"all", "pronoun", "proper", "nominal"}
    overall = result["baseline_accuracy"].sel(mention_type="all")
    assert overall.sel(baseline="rules") > overall.sel(baseline="random")
