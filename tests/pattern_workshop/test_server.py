"""What the server answers, and whom."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.storage.limits import LARGEST_BODY
from headscope.studies.heads.patterns.labelled_maps import labels
from headscope.web.serve import HEADERS
from pattern_workshop.annotators import Session, opened
from pattern_workshop.server import application
from pattern_workshop.server import serve as serve_on
from support.synced import order_of_calls
from support.unlabelled import EVIL, folder

pytestmark = pytest.mark.thorough

HOST = "http://127.0.0.1:8000"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return opened(folder(tmp_path))


@pytest.fixture
def client(session: Session) -> TestClient:
    return TestClient(application(session), base_url=HOST)


def test_state_and_maps_are_what_they_are(client: TestClient) -> None:
    state = client.get("/state").json()
    assert tuple(state["guide"]) == PATTERNS
    assert state["labels"] == [""] * 4 and state["file"] == "labels.jsonl"
    assert client.get("/maps/0").json() == {
        "id": 1, "tokens": ["[CLS]", EVIL, "sat", ".", "[SEP]"], "classes": [0, 3, 3, 2, 1],
    }  # fmt: skip
    values = np.frombuffer(client.get("/maps/0/values").content, "<f4").reshape(5, 5)
    np.testing.assert_allclose(values[1], [0.1, 0.1, 0.5, 0.1, 0.2], atol=1e-3)


def test_labels_and_undo_are_posted(client: TestClient, session: Session) -> None:
    assert client.post("/label", json={"index": 1, "label": "block"}).status_code == 200
    assert session.labels == ["", "block", "", ""]
    assert client.post("/undo", json={}).json() == {"index": 1}
    assert client.post("/undo", json={}).json() == {"index": None}
    assert session.labels == [""] * 4


def test_a_label_is_on_the_disk_before_it_is_acknowledged(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = (("/label", {"index": 1, "label": "block"}), ("/undo", {}))
    for path, posted in posts:
        calls = order_of_calls(lambda: client.post(path, json=posted), monkeypatch)  # noqa: B023 (called at once)
        assert calls == ["sync file", "replace", "sync folder"]


@pytest.mark.parametrize(
    "posted",
    [
        *("{}", "[1]", "no JSON", '{"index": 9, "label": "block"}', '{"index": 0, "label": "no"}'),
        *(f'{{"index": {index}, "label": "block"}}' for index in ('"x"', "0.0", "true", "1e999", "Infinity", "NaN")),
        f'{{"index": {"9" * 5000}, "label": "block"}}',
        '{"index": 0, "label": "\\ud800"}',
        "[" * 30_000,
        b"\xff",
    ],
)
def test_what_makes_no_sense_is_refused(client: TestClient, session: Session, posted: str | bytes) -> None:
    answer = client.post("/label", content=posted, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
    assert session.labels == [""] * 4
    paths = ("/maps/4", "/maps/4/values", "/maps/-1", "/maps/x", f"/maps/{'9' * 5000}", "/%00", "/maps/%00")
    assert {client.get(path).status_code for path in paths} == {404}


def test_a_body_without_end_is_refused(client: TestClient) -> None:
    post = {"content": b" " * (LARGEST_BODY + 1), "headers": {"content-type": "application/json"}}
    assert client.post("/label", **post).status_code == client.post("/undo", **post).status_code == 413


def test_labels_given_at_once_are_all_kept(tmp_path: Path) -> None:
    session = opened(folder(tmp_path, 200))
    client = TestClient(application(session), base_url=HOST)
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda at: client.post("/label", json={"index": at, "label": "block"}), range(200)))
    assert {answer.status_code for answer in answers} == {200}
    assert set(labels(tmp_path / "labels.jsonl").values()) == {"block"} and len(session.history) == 200


def test_an_error_of_the_server_is_guarded_too(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "undo", lambda self: 1 / 0)
    client = TestClient(application(session), base_url=HOST, raise_server_exceptions=False)
    answer = client.post("/undo", json={})
    assert answer.status_code == 500
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:8000"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8001"},
    ],
)
def test_requests_of_other_sites_are_refused(client: TestClient, session: Session, headers: dict[str, str]) -> None:
    answers = [client.get(path, headers=headers) for path in ("/", "/state", "/maps/0")]
    answers.append(client.post("/label", json={"index": 0, "label": "block"}, headers=headers))
    assert {answer.status_code for answer in answers} == {403}
    assert session.labels == [""] * 4


def test_a_form_cannot_post(client: TestClient, session: Session) -> None:
    form = {"content-type": "text/plain"}
    answer = client.post("/label", content='{"index": 0, "label": "block"}', headers=form)
    assert answer.status_code == 415
    assert session.labels == [""] * 4


def test_own_pages_are_answered_and_every_answer_is_guarded(client: TestClient) -> None:
    for path, status in (("/", 200), ("/label.js", 200), ("/state", 200), ("/no-such", 404), ("/../guard.py", 404)):
        answer = client.get(path, headers={"origin": HOST})
        assert answer.status_code == status
        assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()


def test_the_page_is_served_until_ctrl_c(tmp_path: Path) -> None:
    folder(tmp_path)
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        address = line.split()[0]
        with urlopen(f"{address}state", timeout=60) as answer:
            assert json.load(answer)["labels"] == [""] * 4
        with pytest.raises(HeadscopeError, match="--port"):
            serve_on(opened(tmp_path), int(address.rpartition(":")[2].strip("/")))
        raise KeyboardInterrupt

    serve_on(opened(tmp_path), say=say)
    assert len(said) == 1 and said[0].startswith("http://127.0.0.1:") and "Ctrl-C ends" in said[0]
