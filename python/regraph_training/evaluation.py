"""A model's answers to held-out prompts, scored; and what two such evaluations differ by."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from regraph_rewards import Answer, RewardClient, Scored

from .bootstrap import Difference, bootstrap, by_kernel, paired_differences
from .errors import BadInput
from .records import Row, read_jsonl

ROWS_FILE, SUMMARY_FILE = "rows.jsonl", "summary.json"


def requests_for(rows: Sequence[Row], prompts: Sequence[tuple[int, ...]], samples: int, max_tokens: int,
                 temperature: float) -> list[tuple[int, int, Any]]:
    """(row, sample, request): sample -1 is greedy. A sample's seed is a hash of its prompt and number, so two models
    are asked with the same luck."""
    from .sampling import Request, seed_of
    asked = []
    for number, (row, prompt) in enumerate(zip(rows, prompts, strict=True)):
        key = json.dumps(row["prompt"], sort_keys=True)
        asked.append((number, -1, Request(prompt, max_tokens, 0.0, 0)))
        for sample in range(samples):
            asked.append((number, sample, Request(prompt, max_tokens, temperature, seed_of(key, sample))))
    return asked


def score_rows(rows: Sequence[Row], asked: Sequence[tuple[int, int, Any]], generated: Sequence[Any],
               texts: Sequence[str], client: RewardClient) -> list[dict[str, Any]]:
    """A line an answer."""
    answers = [Answer(rows[number]["state"], text, one.finish == "length")
               for (number, _, _), one, text in zip(asked, generated, texts, strict=True)]
    results: list[Scored] = client.score(answers)
    return [{"prompt": number, "sample": sample, "greedy": sample < 0, "state": rows[number]["state"],
             "kernel": rows[number]["kernel"], "family": rows[number]["family"], "step": rows[number]["step"],
             "reward": result.reward, "outcome": result.outcome, "accepted": result.is_correct,
             "verdict": result.verdict, "message": result.message, "speedup": result.speedup,
             "seconds": result.seconds, "parent_seconds": result.parent_seconds,
             "same_as_rewriter": result.same_as_rewriter, "tokens": len(one.tokens), "cut_off": one.finish == "length",
             "completion": text}
            for (number, sample, _), one, text, result in zip(asked, generated, texts, results, strict=True)]


def ln_speedup(row: dict[str, Any]) -> float | None:
    return math.log(row["speedup"]) if row["accepted"] and row.get("speedup") else None


def gain(row: dict[str, Any]) -> float | None:
    """What a user gets: ln of the speedup, 0 where the answer is not correct and the kernel stays as it is."""
    return None if row["reward"] is None else ln_speedup(row) or 0.0


def closed_share(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]],
                 every: Sequence[Sequence[dict[str, Any]]]) -> float | None:
    """How much of the way from the first's mean gain to that of the best answer in `every` the second went; by
    state, greedy or not as the rows are. None where the first is the best."""
    best: dict[str, float] = {}
    for rows in every:
        for row in rows:
            best[row["state"]] = max(best.get(row["state"], 0.0), gain(row) or 0.0)

    def mean(rows: Sequence[dict[str, Any]]) -> float:
        by_state: dict[str, list[float]] = {}
        for row in rows:
            if gain(row) is not None:
                by_state.setdefault(row["state"], []).append(gain(row))
        return sum(sum(gains) / len(gains) for gains in by_state.values()) / max(1, len(by_state))

    states = {row["state"] for row in first}
    reachable = sum(best[state] for state in states) / max(1, len(states))
    begin = mean(first)
    return (mean(second) - begin) / (reachable - begin) if reachable > begin else None


MEASURES = {
    "reward": lambda row: row["reward"],
    "acceptance": lambda row: None if row["reward"] is None else float(row["accepted"]),
    "ln_speedup_of_accepted": ln_speedup,
    "gain": gain,
}


def summary_of(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means over kernels' means, samples and greedy answers apart, all outcomes, and steps one by one."""
    def part(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {"answers": len(rows), "missing": sum(row["reward"] is None for row in rows)}
        for name, value in MEASURES.items():
            kernels = by_kernel(rows, value)
            found[name] = sum(kernels.values()) / len(kernels) if kernels else None
        compared = [row["same_as_rewriter"] for row in rows if row["same_as_rewriter"] is not None]
        found["same_as_rewriter"] = sum(compared) / len(compared) if compared else None
        found["cut_off"] = sum(row["cut_off"] for row in rows) / len(rows) if rows else None
        found["outcomes"] = {outcome: sum(row["outcome"] == outcome for row in rows)
                             for outcome in sorted({row["outcome"] for row in rows})}
        return found

    sampled = [line for line in lines if not line["greedy"]]
    return {"kernels": len({line["kernel"] for line in lines}), "prompts": len({line["prompt"] for line in lines}),
            "sampled": part(sampled), "greedy": part([line for line in lines if line["greedy"]]),
            "steps": {step: part([line for line in sampled if line["step"] == step])
                      for step in sorted({line["step"] for line in lines})}}


def read_evaluation(path: pathlib.Path) -> list[dict[str, Any]]:
    """An evaluation's folder, or its rows.jsonl. Raises BadInput."""
    path = path / ROWS_FILE if path.is_dir() else path
    rows = list(read_jsonl(path))
    if not rows or not {"kernel", "reward", "accepted", "greedy", "state", "sample"} <= rows[0].keys():
        raise BadInput(f"{path}: no rows of an evaluation (regraph_evaluate.py writes them)")
    return rows


def compare(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]], greedy: bool = False,
            resamples: int = 10_000, seed: int = 1) -> dict[str, Difference | None]:
    """second - first by measure. Raises BadInput where they are of other prompts."""
    def key(row: dict[str, Any]) -> tuple[str, int]:
        return row["state"], row["sample"]

    if {key(row) for row in first} != {key(row) for row in second}:
        raise BadInput("the two evaluations are of other prompts or numbers of samples: evaluate both models on the same "
                       "DATA with the same --samples")
    found: dict[str, Difference | None] = {}
    for name, value in MEASURES.items():
        sides = [by_kernel([row for row in rows if row["greedy"] == greedy], value) for rows in (first, second)]
        found[name] = bootstrap(list(paired_differences(*sides).values()), resamples, seed=seed)
    return found
