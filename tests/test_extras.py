"""Without the packages of an extra the rest works, and one line says what to install."""

import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from unittest.mock import patch

import altair as alt
import pytest
import torch
from markupsafe import escape

import headscope
from headscope.catalog import NEEDS, missing, require, require_for
from headscope.errors import HeadscopeError
from headscope.figures.export import save
from headscope.report import write
from headscope.training import trainer
from headscope.training.recipe import TrainingRecipe
from support.cli import run_command
from support.profile_result import profile_result
from support.tiny import save_tiny

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

USES = {
    "vl_convert": lambda folder: save(alt.Chart({"values": []}).mark_point(), folder / "chart"),
    "datasets": lambda folder: headscope.read("hub:someone/something"),
    "accelerate": lambda folder: trainer.arguments(TrainingRecipe(), 0, folder, torch.device("cpu")),
}


@pytest.fixture
def without(monkeypatch):
    """Make packages look as if they were not installed."""
    return lambda *modules: [monkeypatch.setitem(sys.modules, module, None) for module in modules]


@pytest.mark.parametrize("module", USES)
def test_a_use_without_its_package_is_one_line_with_the_remedy(module, without, tmp_path):
    without(module)
    need, package, extra = NEEDS[module]
    with pytest.raises(HeadscopeError) as error:
        USES[module](tmp_path)
    assert str(error.value) == f"{need} {package}: '{sys.executable}' -m pip install 'headscope[{extra}]'"
    assert list(tmp_path.iterdir()) == []


def test_where_there_is_no_pip_the_remedy_is_that_of_uv(without):
    without("pip", "vl_convert")
    assert missing("vl_convert").endswith(f": uv pip install -p '{sys.executable}' 'headscope[figures]'")


def test_figures_need_room_for_addresses() -> None:
    with patch("resource.getrlimit", return_value=(10**10, -1)):
        assert missing("vl_convert").startswith("figures need 80 GB of address space; raise")


@pytest.mark.parametrize(
    ("study", "package", "asking", "silent"),
    [
        ("shrink", "accelerate", {"epochs": 4}, {"epochs": 0}),
        ("shrink", "onnxruntime", {"eight_bit": True}, {"eight_bit": False}),
        ("finetune", "peft", {"ways": "frozen,lora"}, {"ways": "frozen"}),
        ("prune", "accelerate", {"finetune_epochs": 1}, {"finetune_epochs": 0}),
        ("profile", "ray", {"engine": "ray"}, {"engine": "local"}),
    ],
)
def test_an_option_that_needs_a_package_asks_for_it(study, package, asking, silent, without):
    require_for(study, asking)
    without(package)
    require_for(study, silent)
    with pytest.raises(HeadscopeError, match=f" {package}: "):
        require_for(study, asking)


def test_it_asks_before_it_looks_for_the_model(without, tmp_path):
    without("onnxruntime")
    result = run_command("shrink", tmp_path / "no-model", "sample", "--eight-bit", "-o", tmp_path / "out")
    assert result.exit_code == 2 and "ONNX files need onnxruntime: " in result.stderr
    without("vl_convert", "anywidget")
    for words in (
        ("profile", "no-model", "sample", "--figures", "png"),
        ("view", "--export", "a.pdf", "--text", "Hi."),
    ):
        assert "figures need vl-convert: " in run_command(*words).stderr
    for called in (headscope.show, partial(headscope.export_page, "a.png")):
        with pytest.raises(HeadscopeError, match=r"need (anywidget|vl-convert): "):
            called("no-model", "A text.")
    with pytest.raises(HeadscopeError, match="onnxruntime"):
        headscope.shrink(str(tmp_path / "no-model"), ["A text."], directory=tmp_path / "other", eight_bit=True)


def test_a_package_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "vl_convert.py").write_text("import no_such_module", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "vl_convert", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        require("vl_convert")


def test_nothing_is_imported_to_see_whether_a_package_is_installed(monkeypatch):
    monkeypatch.delitem(sys.modules, "vl_convert", raising=False)
    assert missing("vl_convert") == ""
    assert "vl_convert" not in sys.modules


def test_each_package_is_in_its_extra_and_not_in_the_base():
    extras = PROJECT["optional-dependencies"]
    for _, package, extra in NEEDS.values():
        assert any(line.startswith(package) for line in extras[extra]), extra
        assert not any(line.startswith(package) for line in PROJECT["dependencies"]), package
        assert extra in extras["all"][0]


def test_a_page_without_figures_says_so(without, tmp_path):
    without("vl_convert")
    path = write(profile_result(), tmp_path)
    page = path.read_text(encoding="utf-8")
    assert f"This page has no figures: {escape(missing('vl_convert'))}" in page
    assert "vegaEmbed = vegaEmbed" not in page and 'id="tables"' in page and 'data-chart="' not in page
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_page_with_figures_does_not(tmp_path):
    assert "This page has no figures" not in write(profile_result(), tmp_path, formats=()).read_text(encoding="utf-8")


@pytest.mark.always
def test_the_main_job_needs_no_extra(tmp_path):
    save_tiny(tmp_path / "model")
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({sorted(NEEDS)})); from headscope.front.cli import main; "
        f"sys.argv = 'headscope profile model sample --limit 3 --examples 0 -o .'.split(); main()"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").is_file() and (tmp_path / "result.nc").is_file()
