"""Results go to the hub and come back: `push`, and addresses in the place of folders. The hub is a stand-in."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import close_session, get_session, set_client_factory
from huggingface_hub.utils import _http
from typer.testing import Result

from headscope import results
from headscope.errors import HeadscopeError
from headscope.results.hub import fetch
from headscope.storage.limits import SILENCE, limit_waiting
from support.cli import run_command
from support.hub import READ, WRITE, Hub, hub, silent_server
from support.profile_result import profile_result

Run = Callable[..., Result]


@pytest.fixture
def server() -> Iterator[Hub]:
    with hub() as server:
        yield server


@pytest.fixture
def headscope(server: Hub, tmp_path: Path, hub_library: Callable, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command that knows the hub by the address of the stand-in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_TOKEN", WRITE)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    template = f"{server.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    hub_library(ENDPOINT=server.address, HF_HUB_OFFLINE=False, HF_HUB_CACHE=tmp_path / "hub")
    hub_library(HUGGINGFACE_CO_URL_TEMPLATE=template)
    results.save(profile_result(), tmp_path / "out" / "profile")
    (tmp_path / "out" / "profile" / "texts.txt").write_text("a secret", encoding="utf-8")
    return lambda *words: run_command(*words)


def line_of(ended: Result) -> str:
    assert ended.exit_code == 2 and ended.stderr.count("\n") == 1, ended.stderr
    return ended.stderr


def test_results_are_pushed_with_a_card_and_nothing_else(server: Hub, headscope: Run, tmp_path: Path) -> None:
    ended = headscope("push", "out", "someone/heads")
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout == f"{server.address}/datasets/someone/heads\n"
    files = server.repositories["someone/heads"]
    assert files.keys() == {"profile/result.nc", "README.md"} and "someone/heads" in server.private
    assert files["profile/result.nc"] == (tmp_path / "out" / "profile" / "result.nc").read_bytes()
    card = files["README.md"].decode()
    assert card.startswith("---\ntags:\n- headscope\nviewer: false\n---\n")
    assert "| profile | profile | " in card and "headscope report hf://someone/heads" in card


def test_the_card_names_the_text_that_results_hold(server: Hub, headscope: Run, tmp_path: Path) -> None:
    texts = profile_result().assign_attrs(command='["profile", "minilm", "diary.txt"]')
    results.save(texts.assign_coords(restored=[0], suite=["diary"]), tmp_path / "out" / "profile")
    headscope("push", "out", "someone/heads")
    assert (
        "* profile: relation (4), suite (1), the command" in server.repositories["someone/heads"]["README.md"].decode()
    )


def test_a_card_of_somebody_else_stays(server: Hub, headscope: Run) -> None:
    server.repositories["someone/heads"] = {"README.md": b"# Mine\n"}
    assert headscope("push", "out", "someone/heads", "--public").exit_code == 0
    assert server.repositories["someone/heads"]["README.md"] == b"# Mine\n"
    server.repositories["someone/heads"].pop("README.md")
    assert headscope("push", "out", "someone/heads").exit_code == 0
    server.repositories["someone/heads"]["README.md"] += b"old"
    assert headscope("push", "out", "someone/heads").exit_code == 0
    assert not server.repositories["someone/heads"]["README.md"].endswith(b"old")


def test_results_of_the_hub_are_read_where_those_of_folders_are(server: Hub, headscope: Run, tmp_path: Path) -> None:
    content = (tmp_path / "out" / "profile" / "result.nc").read_bytes()
    server.repositories["someone/heads"] = {"a/profile/result.nc": content, "b/result.nc": b"", "a/evil.py": b"x"}
    ended = headscope("report", "hf://someone/heads/a", "--no-figures")
    folder = Path("out", "hub", "someone", "heads", "a")
    assert ended.exit_code == 0, ended.stderr
    assert str(folder / "profile" / "report.html") in ended.stdout
    assert (tmp_path / folder / "profile" / "result.nc").read_bytes() == content
    assert not any("evil" in request or "b/result.nc" in request for request in server.asked)
    assert "Head 1-1" in headscope("head", "1-1", "hf://someone/heads/a").stdout
    assert "entropy.csv" in headscope("export", "hf://someone/heads/a/profile", "--variable", "entropy").stdout
    assert results.read("hf://someone/heads/a/profile").identical(results.read(tmp_path / "out" / "profile"))


@pytest.mark.thorough
def test_a_process_of_its_own_finds_the_hub_by_its_environment(
    server: Hub, headscope: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "HF_ENDPOINT": server.address,
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(tmp_path / "home"),
    }.items():
        monkeypatch.setenv(name, value)
    for words in (("push", "out", "someone/heads"), ("head", "1-1", "hf://someone/heads")):
        ended = subprocess.run([sys.executable, "-m", "headscope", *words], capture_output=True, text=True)
        assert ended.returncode == 0 and ended.stderr == ""


def test_nothing_is_asked_for_a_folder(server: Hub, headscope: Run) -> None:
    assert headscope("report", "out", "--no-figures").exit_code == 0 and server.asked == []


@pytest.mark.parametrize(
    ("words", "changed", "line"),
    [
        (("push", "out", "someone/heads"), {"HF_TOKEN": ""}, "there is no token of the hub; run 'hf auth login', or "),
        (("push", "out", "someone/heads"), {"HF_TOKEN": READ}, "(status 403); log in with a token that may"),
        (("push", "home", "someone/heads"), {}, "'home' has no result.nc, nor has a folder in it; name a folder"),
        (("push", "out", "a/b/c"), {}, "'a/b/c' is no name of a data set; write OWNER/NAME"),
        (("push", "out", "a/b"), {"HF_HUB_OFFLINE": True}, "the hub is not asked offline; connect and try again, "),
        (
            ("push", "out", "a/b"),
            {"ENDPOINT": "http://127.0.0.1:9"},
            "the hub at http://127.0.0.1:9 cannot be reached, or",
        ),
        (("report", "hf://no/such"), {}, "data set 'no/such' is not on the hub; check its name, or log in with 'hf"),
        (("report", "hf://someone/private"), {"HF_TOKEN": ""}, "is not on the hub; check its name, or log in with"),
        (("report", "hf://someone/private/b"), {}, "'someone/private' has no result.nc in 'b'; name anoth"),
        (
            ("head", "hf://a/b"),
            {"HF_HUB_OFFLINE": True},
            "data set 'a/b' is not here, and the hub is not asked offline",
        ),
        (
            ("export", "hf://a/b"),
            {"ENDPOINT": "http://127.0.0.1:9"},
            "data set 'a/b': the hub at http://127.0.0.1:9 cannot",
        ),
        (("report", "hf://someone"), {}, "is no address of results; write hf://OWNER/NAME or hf://OWNER/NAME/FOLDER"),
    ],
)
def test_what_goes_wrong_is_one_line(
    words: tuple[str, ...],
    changed: dict[str, Any],
    line: str,
    server: Hub,
    headscope: Run,
    hub_library: Callable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.repositories["someone/private"] = {"a/result.nc": b"x"}
    server.private.add("someone/private")
    (tmp_path / "home").mkdir()
    for name, value in changed.items():
        monkeypatch.setenv(name, value) if name == "HF_TOKEN" else hub_library(**{name: value})
    assert line in line_of(headscope(*words))


@pytest.mark.parametrize("words", [("push", "out", "a/b"), ("report", "hf://a/b")])
def test_a_server_that_is_silent_is_given_up(
    words: tuple[str, ...], headscope: Run, hub_library: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.results.hub.SECONDS", 0.2)
    monkeypatch.setattr("headscope.storage.limits.SILENCE", 0.2)
    close_session()  # a new one has the limit of this test
    with silent_server() as address:
        hub_library(ENDPOINT=address)
        line = line_of(headscope(*words))
    close_session()
    assert f"the hub at {address} cannot be reached" in line


def test_the_limit_outlasts_a_connection_that_failed_and_a_users_own_stays() -> None:
    limit_waiting()
    close_session()  # as the library does then
    assert get_session().timeout.read == SILENCE
    client = type(get_session())
    set_client_factory(lambda: client(timeout=7))
    try:
        limit_waiting()
        assert get_session().timeout.read == 7
    finally:
        set_client_factory(_http.default_client_factory)


@pytest.mark.parametrize("address", ["hf://a/../b", "hf://a/b/../../c", "hf://a b/c", "hf://a/b/[x]"])
def test_addresses_stay_in_their_repository(address: str) -> None:
    with pytest.raises(HeadscopeError, match="is no address of results"):
        fetch(address)
