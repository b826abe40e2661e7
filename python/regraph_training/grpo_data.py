"""Prompts for GRPO: rows in rl form, those left out that would not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import BadInput
from .records import Row, prompt_of
from .tokenizer import token_ids

COLUMNS = ("step", "kernel", "family")


def stage_of(row: Row, where: str) -> int:
    stage = row.get("stage", 1)
    if stage is None:
        return 1
    try:
        return int(stage)
    except (TypeError, ValueError):
        raise BadInput(f"{where}: column `stage`: expected a number, found {stage!r}") from None


def grpo_rows(rows: Sequence[Row], tokenizer: Any, max_prompt_tokens: int, where: str) -> tuple[list[Row], int]:
    """Rows with the columns that training reads, and how many prompts were too long. TRL does not cut prompts (1.x
    has no max_prompt_length), and a cut one would ask for nonsense."""
    kept: list[Row] = []
    longer = 0
    for number, row in enumerate(rows, 1):
        place = f"{where}: row {number}"
        prompt = prompt_of(row, place)
        if not isinstance(row.get("state"), str) or not row["state"]:
            raise BadInput(f"{place}: column `state` is missing: the reward server could not know what was asked")
        if prompt[-1]["role"] == "assistant":
            raise BadInput(f"{place}: column `prompt` ends with an answer: expected the rl form, not sft")
        if len(token_ids(tokenizer, prompt, True)) > max_prompt_tokens:
            longer += 1
            continue
        kept.append({"prompt": prompt, "state": row["state"], "stage": stage_of(row, place),
                     **{column: str(row.get(column) or "") for column in COLUMNS}, "row_number": len(kept)})
    if not kept:
        raise BadInput(f"{where}: all {longer} prompts are longer than grpo.max_prompt_tokens = {max_prompt_tokens}")
    return kept, longer
