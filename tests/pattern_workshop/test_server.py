"""What the server answers, and whom."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope.results.vocabulary import PATTERNS
from headscope.viewer.serving import HEADERS
from pattern_workshop.annotators import Session, opened
from pattern_workshop.server import application
from pattern_workshop.written_maps import labels
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


def test_labels_given_at_once_are_all_kept(tmp_path: Path) -> None:
    session = opened(folder(tmp_path, 200))
    client = TestClient(application(session), base_url=HOST)
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda at: client.post("/label", json={"index": at, "label": "block"}), range(200)))
    assert {answer.status_code for answer in answers} == {200}
    assert set(labels(tmp_path / "labels.jsonl").values()) == {"block"} and len(session.history) == 200


def test_own_pages_are_answered_and_every_answer_is_guarded(client: TestClient) -> None:
    for path, status in (("/", 200), ("/label.js", 200), ("/state", 200), ("/no-such", 404), ("/../guard.py", 404)):
        answer = client.get(path, headers={"origin": HOST})
        assert answer.status_code == status
        assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
