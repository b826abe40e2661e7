"""Presets: which model, and with which settings it is trained. JSON files in python/presets/."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterable
from typing import Any

from .errors import BadInput

FORMAT = "regraph-preset/1"
SECTIONS = ("format", "name", "notes", "reward", "model", "lora", "sft", "grpo")


@dataclasses.dataclass
class ModelSettings:
    """`scratch`: a tokenizer of `vocabulary` entries is trained on the data and a Qwen3 of `config` is begun anew.
    Otherwise `base` names the pretrained model that --model must hold a folder of."""
    scratch: bool = False
    base: str = ""
    vocabulary: int = 4096
    config: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class LoraSettings:
    r: int = 32
    alpha: int = 64
    dropout: float = 0.0
    targets: list[str] = dataclasses.field(default_factory=lambda: [
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])


@dataclasses.dataclass
class SftSettings:
    """trainer "own": our loop, full parameters, batches of `tokens_per_step`. "trl": SFTTrainer with `trl`."""
    trainer: str = "own"
    tokens: int = 300_000_000          # budget: prompt and answer, without padding
    tokens_per_step: int = 65_536
    max_length: int = 3072             # longer pairs are left out, not cut
    learning_rate: float = 1e-3
    last_learning_rate: float = 1e-4
    warmup_steps: int = 200
    weight_decay: float = 0.1
    clip: float = 1.0
    all_tokens_share: float = 0.4      # of the steps, with questions in the loss, too
    variants: int = 5                  # augmentation: 1 is none
    evaluate_seconds: float = 60.0
    evaluate_rows: int = 128
    checkpoint_seconds: float = 120.0
    compile: bool = False
    trl: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class GrpoSettings:
    """`trl` goes to GRPOConfig as it is; the rest is ours."""
    full_parameters: bool = False
    max_prompt_tokens: int = 3072
    sampler: str = "own"               # or "transformers": TRL's call of generate
    curriculum_acceptance: float = 0.8
    curriculum_batches: int = 8
    curriculum_earlier_share: float = 0.25
    skip_tied: bool = True             # prompts whose last group was all equal wait
    checkpoint_seconds: float = 120.0
    trl: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Preset:
    name: str = ""
    notes: list[str] = dataclasses.field(default_factory=list)
    reward: str = "regraph"
    model: ModelSettings = dataclasses.field(default_factory=ModelSettings)
    lora: LoraSettings | None = None
    sft: SftSettings = dataclasses.field(default_factory=SftSettings)
    grpo: GrpoSettings = dataclasses.field(default_factory=GrpoSettings)

    def as_data(self) -> dict[str, Any]:
        return dict(dataclasses.asdict(self), format=FORMAT)


def _section(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise BadInput(f"{where}: expected an object")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    unknown_key(value, fields, where)
    made = kind(**value)
    for name in value:
        expected = type(getattr(kind(), name))
        given = getattr(made, name)
        if expected is float and isinstance(given, int) and not isinstance(given, bool):
            setattr(made, name, float(given))
        elif not isinstance(given, expected) or (expected is int and isinstance(given, bool)):
            raise BadInput(f"{where}: {name}: expected {expected.__name__}, found {json.dumps(given)}")
    return made


def unknown_key(value: dict[str, Any], known: Iterable[str], where: str) -> None:
    """Raises BadInput for a key that nobody reads: it would be a setting that silently does nothing."""
    for key in value:
        if key not in known:
            raise BadInput(f"{where}: unknown setting '{key}' (known: {', '.join(sorted(known))})")


def read_preset(path: str | pathlib.Path) -> Preset:
    """A file, or the name of one in python/presets/. Raises BadInput."""
    path = pathlib.Path(path)
    folder = pathlib.Path(__file__).resolve().parent.parent / "presets"
    if not path.exists() and (folder / f"{path}.json").exists():
        path = folder / f"{path}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        names = ", ".join(sorted(file.stem for file in folder.glob("*.json")))
        raise BadInput(f"preset {path}: cannot be read: {error.strerror} (shipped: {names})") from None
    except ValueError as error:
        raise BadInput(f"preset {path}: no JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadInput(f"preset {path}: expected an object with \"format\": \"{FORMAT}\"")
    unknown_key(data, SECTIONS, f"preset {path}")
    preset = Preset(name=data.get("name", path.stem), notes=data.get("notes", []), reward=data.get("reward", "regraph"))
    for name, kind in (("model", ModelSettings), ("lora", LoraSettings), ("sft", SftSettings), ("grpo", GrpoSettings)):
        if data.get(name) is not None:
            setattr(preset, name, _section(kind, data[name], f"preset {path}: {name}"))
    if preset.sft.trainer not in ("own", "trl"):
        raise BadInput(f"preset {path}: sft: trainer: expected own or trl, found '{preset.sft.trainer}'")
    if preset.grpo.sampler not in ("own", "transformers"):
        raise BadInput(f"preset {path}: grpo: sampler: expected own or transformers, found '{preset.grpo.sampler}'")
    return preset


def check_trl_settings(kind: type, settings: dict[str, Any], where: str) -> None:
    """Names the settings that this version of TRL does not have, e.g. max_prompt_length (gone in 1.x)."""
    unknown_key(settings, [field.name for field in dataclasses.fields(kind)], where)
