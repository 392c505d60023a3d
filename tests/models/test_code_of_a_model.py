"""Code of a model's own folder whose imports fail: the line names the module, and the release that has it."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import transformers
from packaging.version import Version

from headscope import HeadscopeError, load
from headscope.capture import transformers_logging
from support.tiers import paired
from support.tiny import save_tiny

GONE = "transformers.a_module_that_is_gone"
IMPORTS = {
    f"import {GONE}": (GONE, "no longer has it: install transformers==5.1.0"),
    "import transformers.no_such_module": ("transformers.no_such_module", "install a release that has it"),
    "from transformers.utils import no_such_name": ("no_such_name", "install a release that has it"),
    "try:\n    import no_such_package\nexcept NameError:\n    pass": ("no_such_package", "install the package"),
    "import no_such_package": ("no_such_package", "install what is missing"),  # in the words of transformers
}


@pytest.mark.parametrize(("part", "line"), paired(["AutoConfig", "AutoModel"], list(IMPORTS)))
def test_an_import_that_fails_names_the_module_and_a_release(
    tmp_path: Path, part: str, line: str, code_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(transformers_logging.LAST_RELEASE, GONE, "5.1.0")
    folder = save_tiny(tmp_path / "model")
    (folder / "own_code.py").write_text(f"{line}\n\nclass Own:\n    pass\n")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"auto_map": {part: "own_code.Own"}}))
    with pytest.raises(HeadscopeError) as error:
        load(str(folder), remote_code=True)
    for words in (f"model '{folder}'", *IMPORTS[line]):
        assert words in str(error.value)
    assert "again" not in str(error.value)


@pytest.mark.parametrize("module", transformers_logging.LAST_RELEASE)
def test_modules_are_there_up_to_their_last_release(module: str) -> None:
    installed, last = Version(transformers.__version__), Version(transformers_logging.LAST_RELEASE[module])
    assert (find_spec(module) is not None) == (installed <= last)
