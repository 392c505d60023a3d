"""The answers of the viewer's server."""

import struct

import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope import models, read
from headscope.viewer.server import application
from headscope.viewer.session import ViewSession
from headscope.viewer.tiles import unpack
from headscope.web.local_only import HEADERS
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
        ("/api/card/1/1", 404),
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
