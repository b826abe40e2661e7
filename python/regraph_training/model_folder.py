"""A model as a folder: what must be in it, what must not, and how it is written."""

from __future__ import annotations

import json
import pathlib
import re
import struct
from typing import Any

from .errors import BadInput
from . import gpu_settings, provenance

LINEAGE = "lineage.json"
NEEDED = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")
# What Hugging Face writes beside those, and what people put there.
ALLOWED = re.compile(r"(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab"
                     r"|lineage|model\.safetensors\.index)\.json|merges\.txt|chat_template\.(jinja|json)"
                     r"|model(-\d{5}-of-\d{5})?\.safetensors|README\.md|LICEN[CS]E(\.\w+)?|NOTICE|\.gitattributes"
                     r"|tokenizer\.model|vocab\.txt")
FOREIGN_REASONS = (
    (re.compile(r"adapter_(config\.json|model\..*)"), "a LoRA adapter that was not merged: merge it "
     "(regraph_grpo.py does at its end) or name the base model's folder"),
    (re.compile(r".*\.(bin|pt|pth|ckpt|pkl)"), "a pickle, which runs code when it is read: convert it to .safetensors"),
    (re.compile(r".*\.py"), "code that the model brings along is not run: take a model that transformers knows"),
    (re.compile(r"(optimizer|scheduler|rng_state|trainer_state|training_args).*"), "part of a checkpoint: name the "
     "model's folder, not the checkpoint's"),
)


def _json(folder: pathlib.Path, name: str) -> Any:
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"model folder {folder}: {name} cannot be read: {error}") from None


def _check_weights(folder: pathlib.Path) -> None:
    index = folder / "model.safetensors.index.json"
    if index.exists():
        weight_map = _json(folder, index.name).get("weight_map", {})
        names = sorted(set(weight_map.values()))
        for name in names:
            if not (folder / name).is_file():
                raise BadInput(f"model folder {folder}: {name} is missing, which {index.name} lists: copy it there")
        extra = {path.name for path in folder.glob("model*.safetensors")} - set(names)
        if extra:
            raise BadInput(f"model folder {folder}: foreign file {sorted(extra)[0]}: {index.name} does not list it; "
                           "two models are mixed up here")
    elif (folder / "model.safetensors").is_file():
        names = ["model.safetensors"]
    elif any(folder.glob("model-*-of-*.safetensors")):
        raise BadInput(f"model folder {folder}: {index.name} is missing, without which its parts cannot be read")
    else:
        raise BadInput(f"model folder {folder}: no weights: expected model.safetensors, or its parts with {index.name}")
    for name in names:  # the header says how long a file must be: a copy that was cut is found before it is loaded
        path = folder / name
        with open(path, "rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 1 << 62
            try:
                header = json.loads(file.read(length)) if length < 1 << 27 else None
                ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
            except (ValueError, AttributeError, KeyError, TypeError):
                raise BadInput(f"model folder {folder}: {name} is no safetensors file: copy it again") from None
        if path.stat().st_size != 8 + length + max(ends, default=0):
            raise BadInput(f"model folder {folder}: {name} has {path.stat().st_size} bytes, its header says "
                           f"{8 + length + max(ends, default=0)}: copy it again")


def check_model_folder(folder: str | pathlib.Path) -> dict[str, Any]:
    """The model's config. Raises BadInput that names what is missing, foreign or contradictory. Reads no weights."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise BadInput(f"model folder {folder}: no such folder")
    present = sorted(path.name for path in folder.iterdir() if path.is_file())
    for name in present:
        for pattern, reason in FOREIGN_REASONS:
            if pattern.fullmatch(name):
                raise BadInput(f"model folder {folder}: foreign file {name}: {reason}")
        if not ALLOWED.fullmatch(name):
            raise BadInput(f"model folder {folder}: foreign file {name}: not part of a model; move it away")
    for name in NEEDED:
        if name not in present:
            raise BadInput(f"model folder {folder}: {name} is missing (there is: {', '.join(present) or 'nothing'})")
    config = _json(folder, "config.json")
    if not config.get("architectures"):
        raise BadInput(f"model folder {folder}: config.json names no `architectures`: nobody knows how to load it")
    if config.get("auto_map"):
        raise BadInput(f"model folder {folder}: config.json asks for code of its own (auto_map), which is not run")
    tokenizer = _json(folder, "tokenizer_config.json")
    if not tokenizer.get("chat_template") and not any((folder / name).exists() for name in
                                                      ("chat_template.jinja", "chat_template.json")):
        raise BadInput(f"model folder {folder}: chat_template.jinja is missing: a base model without a chat template "
                       "cannot be asked; take the instruct version")
    generation = _json(folder, "generation_config.json")
    ends = generation.get("eos_token_id")
    if ends is None:
        raise BadInput(f"model folder {folder}: generation_config.json has no eos_token_id: answers would not end")
    if generation.get("pad_token_id") in (ends if isinstance(ends, list) else [ends]) \
            and config.get("model_type") == "qwen3" and (folder / LINEAGE).exists():
        raise BadInput(f"model folder {folder}: generation_config.json fills with the token that ends answers")
    _check_weights(folder)
    return config


def write_model_folder(model: Any, tokenizer: Any, folder: str | pathlib.Path, lineage: dict[str, Any],
                       dtype: str = "bfloat16", state: dict[str, Any] | None = None) -> None:
    """Weights of that type in parts of at most 15 MB (easy to carry), tokenizer, configs, lineage. With `state`,
    weights come from there (a merged adapter's)."""
    import torch
    quiet()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("model*.safetensors*"):
        old.unlink()
    wanted = getattr(torch, dtype)
    weights = {name: (value.detach().to(wanted) if value.is_floating_point() else value.detach()).cpu().contiguous()
               for name, value in (state or model.state_dict()).items()}
    if getattr(model.config, "tie_word_embeddings", False):
        weights.pop("lm_head.weight", None)  # is the embedding; written once
    before = model.config.dtype
    model.config.dtype = wanted
    try:
        model.save_pretrained(folder, state_dict=weights, max_shard_size="15MB", safe_serialization=True)
    finally:
        model.config.dtype = before
    for path in folder.glob("model*.safetensors"):
        path.chmod(0o644)  # safetensors makes files for the owner alone, and models are carried about
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_lineage(folder, lineage)
    check_model_folder(folder)


def write_lineage(folder: pathlib.Path, lineage: dict[str, Any]) -> None:
    lineage = {**lineage, "versions": provenance.versions(), "commit": provenance.commit()}
    (folder / LINEAGE).write_text(json.dumps(lineage, indent=1, default=str) + "\n", encoding="utf-8")


def hash_of_model(folder: str | pathlib.Path) -> str:
    """Of the files that decide its answers: weights, config, tokenizer, template."""
    folder = pathlib.Path(folder)
    return provenance.hash_of_folder(folder, [path.name for path in folder.iterdir()
                                              if path.name not in (LINEAGE, "README.md")])


def hash_of_tokenizer(folder: str | pathlib.Path) -> str:
    return provenance.hash_of_folder(pathlib.Path(folder), ["tokenizer.json", "chat_template.jinja"])


def quiet() -> None:
    """No progress bars of transformers among a run's lines."""
    from transformers.utils import logging
    logging.disable_progress_bar()


def load_tokenizer(folder: str | pathlib.Path) -> Any:
    from transformers import AutoTokenizer
    return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, padding_side="left")


def load_model(folder: str | pathlib.Path, dtype: str, device: str) -> Any:
    """The checked folder's model in eval mode. Raises BadInput."""
    import torch
    from transformers import AutoModelForCausalLM
    quiet()
    check_model_folder(folder)
    gpu_settings.set_up()
    try:
        model = AutoModelForCausalLM.from_pretrained(str(folder), local_files_only=True, dtype=getattr(torch, dtype))
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"model folder {folder}: transformers cannot load it: {error}") from None
    return model.to(device).eval()
