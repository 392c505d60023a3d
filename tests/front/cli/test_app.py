"""The command line: what it writes, what it says, and with which status it ends."""

import os
import runpy
import subprocess
import sys

import pytest
import typer

import headscope
from headscope import catalog
from headscope.front.cli import compute
from headscope.front.cli.app import application
from headscope.report.study_page import StudyPage
from support.cli import run_command
from support.tiny import save_tiny, tiny_bert, tiny_tokenizer

TOKENS = 200  # of the longest example of the sample


def line_of(result):
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr.strip()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    network = tiny_bert(num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=TOKENS)
    return str(save_tiny(tmp_path_factory.mktemp("model"), network, tiny_tokenizer(TOKENS)))


@pytest.fixture(scope="module")
def profiled(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compute, "interactive", lambda: True)
        patch.setattr(StudyPage, "figures", lambda page, draw=StudyPage.figures: draw(page)[:2])
        return folder, run_command("profile", model, "sample", "-o", str(folder), "--limit", "12", "--resamples", "50")


@pytest.mark.always
def test_profile_writes_result_page_and_figures(profiled):
    folder, result = profiled
    assert result.exit_code == 0, result.output
    assert {"result.nc", "report.html", "figures"} == {path.name for path in folder.iterdir()}
    assert str(folder / "report.html") in result.stdout
    assert "entropy" in result.stdout
    assert headscope.open_result(folder).attrs["n_examples"] == 12


def test_progress_is_on_stderr_alone(profiled):
    _, result = profiled
    assert "12/12" in result.stderr
    assert "12/12" not in result.stdout


@pytest.mark.thorough
def test_report_rebuilds_the_page_of_a_saved_result_without_torch(profiled):
    folder, _ = profiled
    (folder / "report.html").unlink()
    script = (
        "import sys, headscope.front.cli.app as cli; sys.argv = ['headscope', 'report', sys.argv[1], '--no-figures']\n"
    )
    script += "try: cli.main()\nfinally: assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize(("given", "policy"), [({}, "passive"), ({"OMP_WAIT_POLICY": "active"}, "active")])
def test_threads_sleep_while_they_wait_unless_the_user_says_otherwise(given, policy):
    script = "import os, sys; from headscope.front.cli import main; sys.argv[1:] = ['list']; early = {*sys.modules}\n"
    script += "assert 'torch' not in early\ntry: main()\nfinally: print(os.environ['OMP_WAIT_POLICY'], file=sys.stderr)"
    rest = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run([sys.executable, "-c", script], env=rest | given, capture_output=True, text=True)
    assert done.stderr.split() == [policy]


def test_list_names_everything_in_the_catalog():
    result = run_command("list")
    assert all(catalog.command_name(name) in result.stdout for name in catalog.names("studies"))
    for folder in ("measures", "corpora/readers"):
        assert all(name in result.stdout for name in catalog.names(folder))


def test_version():
    assert run_command("--version").stdout == f"headscope {headscope.__version__}\n"


def test_the_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["headscope", "--version"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("headscope", run_name="__main__")
    assert capsys.readouterr().out == f"headscope {headscope.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch/model"], "model 'nosuch/model'"),
        (["minilm", "no-such-corpus.txt"], "corpus 'no-such-corpus.txt' does not exist"),
        (["minilm", "sample", "--limit", "0"], "limit 0 leaves no example"),
        (["minilm", "sample", "--kind", "conlu"], "did you mean 'conllu'?"),
        (["minilm", "sample", "--device", "warp"], "device 'warp' is unknown"),
    ],
)
def test_what_a_user_can_mend_is_one_line_and_status_2(arguments, message, tmp_path):
    result = run_command("profile", *arguments, "-o", str(tmp_path))
    assert result.exit_code == 2
    assert message in line_of(result)
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_row_stops_the_run_before_the_model_is_loaded(tmp_path, never):
    never("headscope.models.load")
    table = tmp_path / "pairs.tsv"
    table.write_text("sentence1\tsentence2\nA dog.\tA cat.\nA bird.\n", encoding="utf-8")
    result = run_command("profile", "minilm", str(table), "-o", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "line 3" in line_of(result)


def test_debug_shows_the_error_itself(tmp_path):
    result = run_command("profile", "minilm", "no.txt", "-o", str(tmp_path), "--debug")
    assert isinstance(result.exception, headscope.HeadscopeError)


def test_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run_command("profile", "-o", str(tmp_path / "file" / "out"))
    assert result.exit_code == 2
    assert "Not a directory; choose another folder with -o" in line_of(result)


def test_interrupted_run_keeps_what_was_done_and_ends_with_130(model, tmp_path, monkeypatch, pages_not_written):
    class Stopping:
        def __init__(self, *_, **__):
            self.batches = 0

        def __enter__(self):
            return self, lambda total: None

        def __exit__(self, *_):
            return None

        def __call__(self, done):
            self.batches += 1
            if self.batches == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(compute, "progress_bar", Stopping)
    result = run_command(
        "profile", model, "-o", str(tmp_path), "--batch-tokens", "200", "--resamples", "20", "--no-figures"
    )
    assert result.exit_code == 130
    assert 0 < headscope.open_result(tmp_path).attrs["n_examples"] < 282
    assert "interrupted after" in result.stdout


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (".headscope.sweep/0.npz", "start the same command again to resume from there"),
        ("runs/made-0/checkpoint/weights", "start the same command again to resume from there"),
        ("runs/made-0/settings.json", "nothing was done yet"),
    ],
)
def test_ctrl_c_says_whether_the_same_command_goes_on(file, said, model, tmp_path, monkeypatch):
    def stopped(*_, **__):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(compute, "timed", stopped)
    result = run_command("profile", model, "-o", tmp_path)
    assert result.exit_code == 130 and line_of(result).endswith(said)


def test_wrong_usage_is_status_2():
    assert run_command("profile", "--no-such-option").exit_code == 2
    assert run_command("no-such-study").exit_code == 2
    assert isinstance(application([]), typer.Typer)


@pytest.mark.parametrize(("study", "limit"), [("syntax", "1"), ("coreference", "all")])
def test_one_sentence_or_document_leaves_no_half_to_score_on(study, limit, model, tmp_path):
    """The chosen heads have no score then: no figure and no table of nothing, and no traceback."""
    path = tmp_path / "one.conllu"
    rows = ["1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\tEntity=(e1-animal-1)", "2\tran\trun\tVERB\t_\t_\t0\troot\t_\t_"]
    again = [row.replace("Dogs\tdog\tNOUN", "They\tthey\tPRON").replace("ran\trun", "slept\tsleep") for row in rows]
    lines = ["# newdoc id = d", "# global.Entity = GRP-etype-head", "# text = Dogs ran", *rows, ""]
    lines += ["# text = They slept", *again, "", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    result = run_command(study, model, str(path), "-o", str(tmp_path / "out"), "--limit", limit, "--resamples", "20")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "report.html").is_file()
    assert not (tmp_path / "out" / "figures" / "chosen.svg").exists()


@pytest.mark.parametrize("command", ["view", "export", "head", "report"])
def test_a_pasted_text_in_the_place_of_a_folder_is_one_line(command):
    result = run_command(command, "It was a dark and stormy night. " * 40)
    assert result.exit_code == 2
    assert "It was a...' is too long for a path" in line_of(result)


def test_a_head_of_thousands_of_digits_is_one_line(tmp_path):
    result = run_command("head", f"{'9' * 5000}-1", str(tmp_path))
    assert result.exit_code == 2 and "999...' is too long for a path" in line_of(result)


@pytest.mark.parametrize("option", ["--memory", "--learning-rate"])
@pytest.mark.parametrize("value", ["inf", "nan"])
def test_an_option_that_is_no_finite_number_is_refused(option, value, tmp_path):
    result = run_command("structure", "minilm", "sample", option, value, "-o", str(tmp_path))
    assert result.exit_code == 2 and f"'{value}': it should be less than or equal to" in result.stderr
