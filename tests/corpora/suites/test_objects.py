"""Objects and their properties: pairs with one target, both orders, refused lines; Ettinger's further questions."""

from pathlib import Path

import pytest

from headscope.corpora.suites import ClozeItem, read_suites
from headscope.errors import HeadscopeError

HEADER = "objectUID,large,heavy,fast,loud"
WORDS = "uid\tsentence\tcategorization\nlarge\tis big\tperceptual\n" + "".join(
    f"{name}\t{name}\tcommonsense\n" for name in ("heavy", "fast", "loud")
)
ROLES = (
    "item\tcontext\ttarget\ttgt_cloze\n"
    "1-a\tHe knew which worker the owner had\tfired\t.5\n1-b\tHe knew which owner the worker had\tfired\t0\n"
    "2-a\tHe knew that the owner had\tslept\t.5\n2-b\tHe knew that the worker had\tslept\t0\n"
)
PREDICTION = (
    "item\tcontext_s1\tcontext_s2\texpected\twithin_category\tbetween_category\tconstraint\n"
    "0\tCheckmate.\tShe played\tchess\tmonopoly\tfootball\tH\n"
)
NEGATION = "item\tcontext_aff\tcontext_neg\ttarget_aff\ttarget_neg\n0\tA robin is a\tA robin is not a\tbird\ttree\n"


def items(name: str, data: Path) -> tuple[ClozeItem, ...]:
    return read_suites([name], data)[0].items


def abstract(folder: Path, *lines: str) -> Path:
    (folder / "abstract.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    (folder / "properties.tsv").write_text(WORDS)
    return folder


def test_properties_score_the_same_words_after_both_objects_and_leave_out_disputed_ones(tmp_path: Path) -> None:
    data = abstract(tmp_path, "wine_glass,0,-1,0,0", "house,1,1,0,0", "pen,0,0,0,0")
    made = {item.id: item for item in items("properties", data)}
    assert set(made) == {"large-house", "heavy-house"}
    assert made["large-house"].good.text == "The house is big."
    assert made["heavy-house"].bad[0].text == "The pen is heavy."  # the glass is disputed
    assert all(item.bad[0].scored == item.good.scored for item in made.values())
    assert made["large-house"].phenomenon == "properties: perceptual"


def test_objects_are_compared_in_both_orders(tmp_path: Path) -> None:
    made = items("object_pairs", abstract(tmp_path, "house,1,0,0,0", "pen,0,0,0,0"))
    assert [item.good.text for item in made] == [
        "The house is larger than the pen.",
        "The pen is smaller than the house.",
    ]


@pytest.mark.parametrize(("line", "message"), [("pen,0,2,0,0", "'2' is no answer"), (",0,0,0,0", "object is empty")])
def test_wrong_answers_are_refused_by_line(line: str, message: str, tmp_path: Path) -> None:
    data = abstract(tmp_path, "house,1,0,0,0", line)
    with pytest.raises(HeadscopeError, match=f"line 3: .*{message}"):
        items("properties", data)


def test_properties_without_their_words_are_refused(tmp_path: Path) -> None:
    abstract(tmp_path, "house,1,0,0,0")
    (tmp_path / "properties.tsv").unlink()
    with pytest.raises(HeadscopeError, match=r"no file 'properties.tsv' beside it"):
        items("properties", tmp_path)


def test_verbs_that_people_name_beat_others(tmp_path: Path) -> None:
    lines = ["affordancesNo,affordancesYes,cocoAnnID,objectHuman", '"preach,block","sit,block",7,chair']
    (tmp_path / "situated-affordances-sampled.csv").write_text("\n".join(lines))
    (item,) = items("affordances", tmp_path)
    assert (item.good.scored, item.bad[0].scored, item.lemma) == ("sit", "preach", "chair")


def test_ettingers_words_are_ranked_and_wrong_words_stand_alone(tmp_path: Path) -> None:
    texts = {"CPRAG-102": PREDICTION, "ROLE-88": ROLES, "NEG-136-SIMP": NEGATION}
    texts["NEG-136-NAT"] = NEGATION.replace("neg\n", "neg\tlicensing\n").replace("tree\n", "tree\tY\n")
    for name, text in texts.items():
        (tmp_path / f"{name}.tsv").write_text(text)
    words = items("ettinger_words", tmp_path)
    assert [item.good.scored for item in words] == ["chess", "fired", "slept", "bird", "bird"]
    assert not any(item.bad for item in words)
    (suite,) = read_suites(["ettinger_pairs"], tmp_path)
    texts = {item.phenomenon: (item.good.text, item.bad[0].text) for item in suite.items}
    assert texts == {
        "prediction: related": ("Checkmate. She played chess.", "Checkmate. She played monopoly."),
        "prediction: unrelated": ("Checkmate. She played chess.", "Checkmate. She played football."),
        "prediction: related before unrelated": ("Checkmate. She played monopoly.", "Checkmate. She played football."),
        "role reversal: no subject": ("He knew which worker had fired.", "He knew which owner had fired."),
        "role reversal: no object": ("He knew what the owner had fired.", "He knew what the worker had fired."),
    }
    assert suite.skipped == {"role reversals of another form": 2}
