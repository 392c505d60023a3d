"""Many clients at once, on a real socket."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

from headscope.viewer.session import ViewSession
from headscope.viewer.tiles import unpack
from support.viewer_page import served, session_of

CLIENTS = 50
TEXTS = [f"The old cat number {number} slept by the river." for number in range(7)]


def fetch(address: str, path: str, posted: dict[str, Any] | None = None) -> tuple[int, bytes]:
    """The status and the content of an answer."""
    body = None if posted is None else json.dumps(posted).encode()
    request = Request(address + path, body, {"content-type": "application/json"})
    try:
        with urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, error.read()


def look_at(address: str, number: int) -> list[bytes]:
    """Look at a text as the page does: all heads, the maps of two, and the text without a head."""
    status, content = fetch(address, "api/text", {"first": TEXTS[number % len(TEXTS)]})
    assert status == 200, content
    text = json.loads(content)["id"]
    paths = [f"api/overview/{text}", f"api/tile/{text}/1/2/0/0/0", f"api/words/{text}/3/4", "api/numbers", "api/model"]
    answers = [fetch(address, path) for path in paths]
    answers.append(fetch(address, "api/try", {"id": text, "heads": "1-*", "mode": "zero"}))
    answers.append(fetch(address, "api/no-such"))
    assert [status for status, _ in answers] == [200] * 6 + [404]
    return [content for _, content in answers]


def test_fifty_clients_at_once_get_what_one_gets() -> None:
    session = session_of()
    with served(session) as address:
        alone = [look_at(address, number) for number in range(len(TEXTS))]
        with ThreadPoolExecutor(CLIENTS) as pool:
            answers = list(pool.map(look_at, [address] * CLIENTS, range(CLIENTS)))
    assert answers == [alone[number % len(TEXTS)] for number in range(CLIENTS)]
    tile = unpack(answers[0][1])
    np.testing.assert_allclose(tile.attention.sum(1), 1, atol=0.05)


def test_a_busy_model_is_unavailable_and_the_rest_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    session, running, go_on = session_of(), threading.Event(), threading.Event()
    text = ViewSession.text

    def slow(*arguments: Any) -> dict[str, Any]:
        running.set()
        assert go_on.wait(60)
        return text(session, *arguments)

    monkeypatch.setattr(session, "text", slow)
    session.seconds = 0.05  # for those that wait; the first one runs no model yet
    with served(session) as address, ThreadPoolExecutor(10) as pool:
        first = pool.submit(fetch, address, "api/text", {"first": TEXTS[0]})
        assert running.wait(60)
        others = list(pool.map(lambda one: fetch(address, "api/text", {"first": one}), TEXTS))
        assert [status for status, _ in others] == [503] * len(TEXTS)
        assert json.loads(others[0][1]) == {"error": "the model is busy with other requests; try again"}
        assert fetch(address, "api/model")[0] == 200
        session.seconds = 60
        go_on.set()
        assert first.result()[0] == 200
        assert fetch(address, "api/text", {"first": TEXTS[1]})[0] == 200
