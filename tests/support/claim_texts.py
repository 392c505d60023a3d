"""Texts of which a head can be planted that knows them, any number of them by a seed; and the same, shuffled.

>>> treebank(0, 3).n_examples, linked(0, 3).n_examples
(3, 3)
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from random import Random

from headscope import Corpus
from headscope.corpora.tasks import Task
from headscope.linguistics.sentence import Example, Link, Mention, Sentence
from support.made_inputs import spaced
from support.planted_task import planted_task
from support.planted_trees import ADJECTIVES, DETERMINERS, SUBJECTS, parsed
from support.tiny import WORDS

# Whom each word refers to.
ANTECEDENTS = {"he": "man", "she": "woman", "it": "house"}
# Which words touch.
PARTNERS = {"cat": "river", "dog": "town", "child": "tree", "woman": "house"}
SEERS = ("cat", "dog", "child", "woman")
TAGS = {"det": "DET", "amod": "ADJ", "nsubj": "NOUN", "root": "VERB", "punct": "PUNCT"}
PLAIN = [word for word in WORDS if word.isalpha()]


def corpus(examples: Iterable[Example]) -> Corpus:
    """A corpus in memory."""
    made = list(examples)
    return Corpus("made", f"{len(made):064x}", len(made), {}, partial(iter, made))


def words(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Words at random, which nothing shuffles further."""
    random = Random(seed)
    texts = [" ".join(random.choices(PLAIN, k=random.randint(5, 12))) + " ." for _ in range(n)]
    return corpus(Example(str(number), (spaced(text),)) for number, text in enumerate(texts))


def cycle(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Four words in turn; or at random."""
    random, four = Random(seed), ("bank", "book", "bird", "cat")
    made = [random.choices(four, k=8) if shuffled else [four[index % 4] for index in range(8)] for _ in range(n)]
    return corpus(Example(str(number), (Sentence(" ".join(text)),)) for number, text in enumerate(made))


def repeated(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Documents of one word each, of four words; or of any of these."""
    random, four = Random(seed), ("bank", "book", "bird", "cat")
    made = [random.choices(four, k=13) if shuffled else [four[number % 4]] * 13 for number in range(n)]
    return corpus(
        Example(str(number), (Sentence(" ".join(text), document=f"d{number}"),)) for number, text in enumerate(made)
    )


def treebank(seed: int, n: int, shuffled: bool = False, scattered: bool = False) -> Corpus:
    """Sentences whose trees their words alone tell; or with random trees.

    * `scattered`: their words stand in any order, so that no place tells a head.
    """
    random = Random(seed)
    texts = [_sentence(random) for _ in range(n)]
    if scattered:
        texts = [" ".join(random.sample(text.split(), len(text.split()))) for text in texts]
    sentences = [parsed(text) for text in texts]
    tagged = [replace(sentence, upos=tuple(TAGS[kind] for kind in sentence.deprel)) for sentence in sentences]
    made = corpus(Example(str(number), (sentence,)) for number, sentence in enumerate(tagged))
    return _shuffled_trees(made, random) if shuffled else made


def _sentence(random: Random) -> str:
    """A verb among its nouns, each with its determiner and perhaps an adjective."""
    verb, phrases = random.choice(("saw", "ran")), []
    for determiner, noun in DETERMINERS.items():
        adjectives = [adjective for adjective, its in ADJECTIVES.items() if its == noun]
        if SUBJECTS[noun] == verb and random.random() < 0.8:
            phrases.append([determiner, *(adjectives if random.random() < 0.5 else []), noun])
    phrases.append([verb])
    random.shuffle(phrases)
    return " ".join([*(word for phrase in phrases for word in phrase), "."])


def in_documents(made: Corpus, n_documents: int) -> Corpus:
    """The sentences in so many documents of one length."""
    size = -(-len(made) // n_documents)
    grouped = (
        replace(example, first=(replace(example.first[0], document=str(number // size)),))
        for number, example in enumerate(made)
    )
    return replace(corpus(grouped), n_documents=n_documents)


def swapped(made: Corpus, seed: int = 0) -> Corpus:
    """Each sentence with the annotations of another that is as long: places are right, words not."""
    return corpus(
        replace(example, first=(replace(own, upos=other.upos, heads=other.heads, deprel=other.deprel,
                                        links=other.links, mentions=other.mentions),))
        for example, own, other in _with_others(made)
    )  # fmt: skip


def roles(made: Corpus, seed: int = 0) -> Corpus:
    """Each sentence with its links from where they come from in another that is as long, and its mentions of any
    of its entities: what has a role is right, which role it has is not. Links that are true by chance are left out.
    """
    random = Random(seed)

    def shuffled(own: Sentence, other: Sentence) -> Sentence:
        mentions = own.mentions or ()
        entities = [mention.entity for mention in mentions]
        named = zip(mentions, random.sample(entities, len(entities)), strict=True)
        pairs = [(link, its.source) for link, its in zip(own.links, other.links, strict=False)]
        untrue = [(link, source) for link, source in pairs if {*source}.isdisjoint((*link.source, *link.target))]
        return replace(
            own,
            links=tuple(replace(link, source=source) for link, source in untrue),
            mentions=tuple(replace(mention, entity=entity) for mention, entity in named),
        )

    return corpus(replace(example, first=(shuffled(own, other),)) for example, own, other in _with_others(made))


def _with_others(made: Corpus) -> Iterator[tuple[Example, Sentence, Sentence]]:
    """Each example with its sentence, and with the next one of those that are as long and agree least.

    Half of the heads of any that is as long would be true: few orders of phrases are as long.
    """
    by_length: dict[int, list[Sentence]] = {}
    for example in made:
        by_length.setdefault(len(example.first[0].words), []).append(example.first[0])
    turn = dict.fromkeys(by_length, 0)
    for example in made:
        alike = by_length[length := len(example.first[0].words)]
        turn[length] += 1
        later = alike[turn[length] :] + alike[: turn[length]]
        yield example, example.first[0], min(later, key=partial(_agreement, example.first[0]))


def _agreement(one: Sentence, other: Sentence) -> int:
    """How many heads and links are the same."""
    heads = zip(one.heads or (), other.heads or (), strict=True)
    return sum(mine == its for mine, its in heads) + len({*one.links} & {*other.links})


def _shuffled_trees(made: Corpus, random: Random) -> Corpus:
    def shuffled(example: Example) -> Example:
        (sentence,) = example.first
        order = random.sample(range(len(sentence.words)), len(sentence.words))
        heads = [0] * len(order)
        for number, word in enumerate(order[1:], 1):
            heads[word] = order[random.randrange(number)] + 1
        kinds = ["root" if not head else random.choice(("det", "amod", "nsubj")) for head in heads]
        return replace(example, first=(replace(sentence, heads=tuple(heads), deprel=tuple(kinds)),))

    return corpus(map(shuffled, made))


def rooted(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """All words hang on the one after "the", which is a verb among nouns; or on any."""
    random, examples = Random(seed), []
    for number in range(n):
        made = random.sample([word for word in PLAIN if word != "the"], random.randint(6, 9))
        root = random.randrange(1, len(made))
        made.insert(root, "the")
        at = random.randrange(len(made)) if shuffled else root + 1
        heads = tuple(0 if index == at else at + 1 for index in range(len(made)))
        kinds = tuple("det" if head else "root" for head in heads)
        text = " ".join(made)
        upos = tuple("VERB" if kind == "root" else "NOUN" for kind in kinds)
        examples.append(Example(str(number), (spaced(text, upos=upos, heads=heads, deprel=kinds),)))
    return corpus(examples)


def linked(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Who saw: a link to "saw", wherever both stand; or between any two words."""
    random, examples = Random(seed), []
    for number in range(n):
        seer = random.choice(SEERS)
        others = [word for word in PLAIN if word not in (*SEERS, "saw")]
        made = [seer, "saw", *random.choices(others, k=random.randint(4, 7))]
        random.shuffle(made)
        ends = random.sample(range(len(made)), 2) if shuffled else (made.index(seer), made.index("saw"))
        text = " ".join(made)
        links = (Link("Seer", (ends[0],), (ends[1],)),)
        examples.append(Example(str(number), (spaced(text, *links),)))
    return corpus(examples)


def touching(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Words that touch their partner, wherever both stand; or any other word."""
    random, examples = Random(seed), []
    others = [word for word in PLAIN if word not in {*PARTNERS, *PARTNERS.values()}]
    for number in range(n):
        sentence = [*PARTNERS, *PARTNERS.values(), *random.choices(others, k=6)]
        random.shuffle(sentence)
        ends = [(sentence.index(word), sentence.index(partner)) for word, partner in PARTNERS.items()]
        ends = [random.sample(range(len(sentence)), 2) for _ in ends] if shuffled else ends
        links = [Link("touches", (first,), (second,)) for first, second in ends]
        examples.append(Example(str(number), (spaced(" ".join(sentence), *links),)))
    return corpus(examples)


def documents(seed: int, n: int, shuffled: bool = False) -> Corpus:
    """Documents of people and pronouns, whose words tell whom they refer to; or whose mentions refer to any."""
    random, examples = Random(seed), []
    for document in range(n):
        people = random.sample(sorted(ANTECEDENTS.items()), 3)
        made = [noun for _, noun in people] + [pronoun for pronoun, _ in random.choices(people, k=3)]
        entities = {word: ANTECEDENTS.get(word, word) for word in made}
        parts = [word for mention in made for word in (mention, random.choice(("saw", "by", "with")))]
        refers = (
            [random.choice(list(ANTECEDENTS.values())) for _ in made] if shuffled else [entities[word] for word in made]
        )
        text = " ".join([*parts, "."])
        upos = [kind for word in made for kind in ("PRON" if word in ANTECEDENTS else "NOUN", "X")]
        mentions = tuple(Mention(entity, 2 * number, 2 * number + 1) for number, entity in enumerate(refers))
        sentence = spaced(text, upos=(*upos, "X"), mentions=mentions, document=str(document))
        examples.append(Example(str(document), (sentence,)))
    return corpus(examples)


def birds(seed: int, n: int, shuffled: bool = False, drawn: float = 1.0) -> Task:
    """Is there a bird in the sentence? Or a share of the labels is drawn at random."""
    task = planted_task(n, 160)
    if not shuffled:
        return task
    random = Random(seed)
    parts = {
        name: corpus(
            replace(example, label=random.choice(task.labels)) if random.random() < drawn else example
            for example in part
        )
        for name, part in (("dev", task.dev), ("train", task.training()))
    }
    return replace(task, **parts)


def pairs(seed: int, n: int, shuffled: bool = False) -> list[dict[str, str]]:
    """After "the" comes "cat", not another word; or either text is the good one."""
    random, items = Random(seed), []
    for number in range(n):
        good, bad = (f"{random.choice(PLAIN)} the {word}" for word in ("cat", random.choice(("ran", "by", "of"))))
        if shuffled and random.random() < 0.5:
            good, bad = bad, good
        items.append({"id": str(number), "good": good, "bad": bad, "phenomenon": "nouns"})
    return items
