"""The answers of the viewer's server."""

import json
import struct

import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope import importances, models, read
from headscope.viewer.example_index import example_index
from headscope.viewer.server import application
from headscope.viewer.serving import HEADERS
from headscope.viewer.session import ViewSession
from headscope.viewer.tiles import unpack
from support.made_heads import model_of
from support.profile_result import profile_result
from support.tiny import tiny_bert, tiny_tokenizer

HOST = "http://127.0.0.1:8000"
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def session() -> ViewSession:
    return ViewSession((models.wrap(tiny_bert(), tiny_tokenizer()),), (read(["The old cat sat.", ("a", "b")][:1]),))


@pytest.fixture
def client(session: ViewSession) -> TestClient:
    return TestClient(application(session), base_url=HOST)


def post(client: TestClient, first: str, second: str | None = None) -> dict:
    answer = client.post("/api/text", json={"first": first, "second": second})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_text_is_tokens_words_and_maps(client: TestClient) -> None:
    text = post(client, "The cat slept.", "It rained.")
    assert text["tokens"][:4] == ["[CLS]", "the", "cat", "s"]
    assert text["segment"][0] == 0 and text["segment"][-1] == 1
    assert [word["text"] for word in text["words"]] == [
        "[CLS]", "The", "cat", "slept", ".", "[SEP]", "It", "rained", ".", "[SEP]",
    ]  # fmt: skip
    assert sorted(token for word in text["words"] for token in word["tokens"]) == list(range(text["side"]))
    overview = client.get(f"/api/overview/{text['id']}?model=0").content
    layers, heads, side = struct.unpack_from("<HHH", overview)
    assert (layers, heads, side) == (3, 4, text["side"])
    assert len(overview) == 6 + 4 * layers * heads + layers * heads * side**2
    tile = unpack(client.get(f"/api/tile/{text['id']}/3/4/0/0/0?model=0").content)
    np.testing.assert_allclose(tile.attention.sum(1), 1, atol=0.05)
    words = unpack(client.get(f"/api/words/{text['id']}/3/4").content)
    np.testing.assert_allclose(words.attention.sum(1), 1, atol=0.05)


def test_every_answer_has_the_policy_headers(client: TestClient) -> None:
    for path, status in (("/", 200), ("/api/model", 200), ("/api/no-such", 404), ("/static/no-such.js", 404)):
        answer = client.get(path)
        assert answer.status_code == status
        assert HEADERS.items() <= dict(answer.headers).items() or all(
            answer.headers[name] == value for name, value in HEADERS.items()
        )


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/overview/0123456789abcdef", 404),
        ("/api/tile/{id}/9/1/0/0/0", 404),
        ("/api/tile/{id}/1/1/1/0/0", 404),
        ("/api/tile/{id}/1/1/0/0/1", 404),
        ("/api/tile/{id}/1/1/0/0/0?model=1", 404),
        ("/api/tile/{id}/1/1/0/0/0?model=x", 400),
        ("/api/tile/{id}/1/1/0/0/-1", 400),
        (f"/api/tile/{{id}}/1/{'1' * 5001}/0/0/0", 400),
        ("/api/card/1/1", 404),
        ("/api/card/1/x", 400),
        ("/api/corpus/no-such", 404),
        ("/api/corpus/list?page=9", 404),
        ("/api/corpus/list?page=-1", 400),
    ],
)
def test_errors_are_json_of_one_line(client: TestClient, path: str, status: int) -> None:
    identifier = post(client, "The cat.")["id"]
    answer = client.get(path.replace("{id}", identifier))
    assert answer.status_code == status
    assert "\n" not in answer.json()["error"]


def test_a_page_of_a_corpus(client: TestClient) -> None:
    assert client.get("/api/model").json()["corpora"] == ["list"]
    assert client.get("/api/corpus/list").json() == [{"first": "The old cat sat.", "second": None}]


def test_a_model_that_raises_is_one_line_and_works_again(
    session: ViewSession, client: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = session.models[0].network.encoder.layer[2]  # type: ignore[union-attr]

    def broken(*_: object, **__: object) -> None:
        raise ValueError("no such\nlayer")

    with monkeypatch.context() as patch:
        patch.setattr(layer, "forward", broken)
        answer = client.post("/api/text", json={"first": "A new text."})
    assert (answer.status_code, answer.json()) == (500, {"error": "ValueError: no such layer"})
    assert "Traceback" in capsys.readouterr().err
    assert post(client, "A new text.")["side"] > 3


def test_a_text_that_takes_too_long_is_a_timeout(session: ViewSession, client: TestClient) -> None:
    seconds, session.seconds = session.seconds, 0
    try:
        answer = client.post("/api/text", json={"first": "Another text."})
    finally:
        session.seconds = seconds
    assert answer.status_code == 504 and "longer than 0 s" in answer.json()["error"]
    assert post(client, "Another text.")["side"] > 3


@pytest.mark.parametrize(
    ("posted", "status"),
    [
        ({}, 400),
        ({"first": 1}, 400),
        ({"first": "a", "second": 2}, 400),
        ({"first": "  "}, 400),
        ({"first": "a" * 100_001}, 400),
        ({"first": "a" * 600_000}, 413),
        ({"first": "\ud800"}, 400),
    ],
)
def test_texts_that_are_refused(client: TestClient, posted: dict, status: int) -> None:
    content = json.dumps(posted)
    answer = client.post("/api/text", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status and "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("posted", "status"),
    [
        ({"heads": "1-2,3-*", "mode": "uniform"}, 200),
        ({"heads": "1-2,3-*", "mode": "mean"}, 200),
        ({"heads": "1-2", "mode": "none"}, 400),
        ({"heads": "9-1", "mode": "zero"}, 400),
        ({"heads": "", "mode": "zero"}, 400),
        ({"heads": ["1-1"], "mode": "zero"}, 400),
        ({"id": "0123456789abcdef", "heads": "1-1", "mode": "zero"}, 404),
        ({"heads": "1-1," * 40_000, "mode": "zero"}, 413),
        ({"heads": "1-\ud800", "mode": "zero"}, 400),
        ({"id": "\ud800", "heads": "1-1", "mode": "zero"}, 404),
        ({"heads": "1-1", "mode": "zero", "model": "0"}, 400),
        ({"heads": "1-1", "mode": "zero", "model": 1}, 404),
    ],
)
def test_heads_are_disabled_for_one_answer(client: TestClient, posted: dict, status: int) -> None:
    content = json.dumps({"id": post(client, "The old cat.")["id"]} | posted)
    answer = client.post("/api/try", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    if status == 200:
        assert answer.json()["kind"] == "neighbours" and answer.json()["heads"] == "1-2,3-*"
        assert [prediction["title"] for prediction in answer.json()["after"]] == ["nearest sentences"]


def test_importances_of_a_text_are_those_of_python(client: TestClient, session: ViewSession) -> None:
    text = post(client, "The old cat.")["id"]
    answer = client.post("/api/importance", json={"id": text, "method": "gradient_input"}).json()
    (expected,) = importances(session.models[0], "The old cat.", "gradient_input")
    np.testing.assert_array_equal(answer["values"], expected)
    assert answer["target"] == expected.attrs["differentiated"] and answer["prediction"] == ""
    unknown = client.post("/api/importance", json={"id": text, "method": "gradients"})
    assert unknown.status_code == 400 and "did you mean" in unknown.json()["error"]


def test_hostile_tokens_stay_text(client: TestClient) -> None:
    answer = client.post("/api/text", json={"first": EVIL, "second": EVIL})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["first"] == EVIL
    error = client.post("/api/try", json={"id": EVIL, "heads": EVIL, "mode": EVIL})
    assert error.headers["content-type"] == "application/json" and error.status_code == 404


def test_only_pages_of_this_machine_are_answered(client: TestClient) -> None:
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        assert client.get("/api/model", headers=headers).status_code == 403
        assert client.post("/api/text", json={"first": "a"}, headers=headers).status_code == 403
    form = client.post("/api/text", data={"first": "a"})
    assert form.status_code == 415


@pytest.mark.parametrize("path", ["../session.py", "..%2fsession.py", "%2e%2e/session.py", "/etc/passwd"])
def test_no_other_file_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/static/{path}").status_code == 404
    assert client.get(f"/api/corpus/{path}").status_code == 404


def test_two_models_of_different_tokenizers_are_paired_by_words() -> None:
    one = models.wrap(tiny_bert(), tiny_tokenizer())
    tokenizer = tiny_tokenizer()
    tokenizer.backend_tokenizer.post_processor = None  # type: ignore[attr-defined]
    session = ViewSession((one, models.wrap(tiny_bert(1), tokenizer)), (read(["A dog ran.", "It was old."]),))
    text = session.text("The cat slept.")
    before = [session.try_heads(text["id"], "1-1", model=model)["before"] for model in (0, 1)]
    assert before[0] != before[1]
    assert not text["same_tokens"] and text["others"][0]["side"] == text["side"] - 2
    assert text["word_pairs"] == [(number + 1, number) for number in range(4)]
    assert len(session.tile(text["id"], 1, 1, 0, 0, 0, model=1)) < len(session.tile(text["id"], 1, 1, 0, 0, 0))


def test_numbers_and_cards_are_those_of_the_results() -> None:
    session = ViewSession((models.wrap(tiny_bert(), tiny_tokenizer()),), (), (model_of(profile_result(3, 4)),))
    client = TestClient(application(session), base_url=HOST)
    numbers = client.get("/api/numbers").json()
    names = [number["name"] for number in numbers["numbers"]]
    assert len(names) == len(set(names)) and {"entropy", "attention_to.sep"} <= set(names)
    entropy = numbers["numbers"][names.index("entropy")]
    expected = profile_result(3, 4)["entropy"]
    assert len(entropy["values"]) == 12
    for layer, head, value in entropy["values"]:
        assert value == pytest.approx(expected.sel(layer=layer, head=head).item(), rel=1e-4)
    assert all(kind in numbers["colours"] for _, _, kind, _ in numbers["kinds"])
    assert numbers["names"]["vertical_diagonal"] == "vertical + diagonal"
    card = client.get("/api/card/2/3")
    assert card.headers["content-type"].startswith("text/html") and 'class="ranks"' in card.text
    assert client.get("/api/card/9/9").status_code == 404


def test_examples_are_those_of_the_index(session: ViewSession) -> None:
    model = session.models[0]
    index = example_index(model, read(["The old cat sat.", "A dog ran."]))
    client = TestClient(application(ViewSession((model,), index=index)), base_url=HOST)
    by = client.get("/api/model").json()["examples_by"]
    assert by == ["cls", "sep", "punct", "other"]
    first = client.get("/api/examples/1/2?by=sep").json()
    assert {example["text"] for example in first} == {"The old cat sat.", "A dog ran."}
    assert first[0]["value"] >= first[1]["value"]
    assert client.get("/api/examples/1/2").json() == client.get("/api/examples/1/2?by=cls").json()
    for path in ("9/1?by=sep", "1/9?by=sep", "1/1?by=nsubj"):
        assert client.get(f"/api/examples/{path}").status_code == 404
    assert TestClient(application(session), base_url=HOST).get("/api/examples/1/1").status_code == 404
