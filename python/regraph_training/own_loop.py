"""Supervised training of a small model from scratch: a plain loop, because at 26 M parameters a step takes
0.1 s and what surrounds it counts.

Batches are sized in tokens, rows of like length, padded on the right without an attention mask (sdpa's
causal path). The loss is over all tokens first and over answers later. It stops by budget, by time, by
the gate, on SIGTERM, or when a number is none; in each case the last good state is on disk.
"""

from __future__ import annotations

import contextlib
import math
import pathlib
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import checkpoints, gpu_settings
from .batches import make_batches
from .errors import BadInput, TrainingStopped
from .exact_match import evaluate, hidden_states, pad_batch
from .examples import Example, Examples
from .journal import Journal
from .preset import SftSettings
from .schedule import Schedule, warmup_for


@dataclass
class Limits:
    minutes: float = 0.0        # of this part; 0: none
    total_minutes: float = 0.0  # of all parts: the schedule ends by then; 0: by tokens alone
    gate: float = 0.0           # least exact match on held-out pairs ...
    gate_after: float = 180.0   # ... at the first evaluation after so many seconds
    gate_steps: frozenset[str] = frozenset()  # of these optimization steps' pairs; empty: of all


@dataclass
class Outcome:
    reason: str
    steps: int
    tokens: int
    evaluation: dict[str, Any]


def _share(matches: Iterable[bool]) -> float:
    found = list(matches)
    return sum(found) / max(1, len(found))


class OwnLoop:
    def __init__(self, model: Any, pad_id: int, examples: Examples, held_out: Sequence[Example],
                 settings: SftSettings, limits: Limits, journal: Journal, output: pathlib.Path, seed: int,
                 identity: str, held_out_steps: Sequence[str] = ()):
        import torch
        self.model, self.pad_id, self.examples, self.held_out = model, pad_id, examples, held_out
        self.settings, self.limits, self.journal, self.output = settings, limits, journal, output
        self.seed, self.identity = seed, identity
        self.held_out_steps = list(held_out_steps) or [""] * len(held_out)
        self.on_gpu = model.device.type == "cuda"
        if self.on_gpu:
            gpu_settings.set_up()
        if settings.compile:
            model.model.compile(dynamic=True)
        decayed = [parameter for parameter in model.parameters() if parameter.dim() >= 2]
        plain = [parameter for parameter in model.parameters() if parameter.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}],
            lr=settings.learning_rate, betas=(0.9, 0.95), fused=self.on_gpu)
        self.step, self.tokens, self.epoch, self.next_batch = 0, 0, 0, 0
        self.last_evaluation: dict[str, Any] = {}
        self.gate_passed = False
        self._terminated = False

    def autocast(self) -> Any:
        import torch
        return torch.autocast("cuda", dtype=torch.bfloat16) if self.on_gpu else contextlib.nullcontext()

    # --- states ---

    def save(self) -> pathlib.Path:
        return checkpoints.save(
            self.output, self.step,
            {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()},
            {"step": self.step, "tokens": self.tokens, "epoch": self.epoch, "next_batch": self.next_batch,
             "identity": self.identity, "gate_passed": self.gate_passed, "evaluation": self.last_evaluation})

    def resume(self) -> None:
        """Raises BadInput where the checkpoint is of other data or settings: what follows would fit neither."""
        tensors, state = checkpoints.load(self.output, str(self.model.device))
        if state["identity"] != self.identity:
            raise BadInput(f"{self.output}: the checkpoint was made with other data, preset or seed; resume with the "
                           "same ones, or write to another --output")
        self.model.load_state_dict(tensors["model"])
        self.optimizer.load_state_dict(tensors["optimizer"])
        self.step, self.tokens, self.epoch = state["step"], state["tokens"], state["epoch"]
        self.next_batch, self.gate_passed = state["next_batch"], state["gate_passed"]
        self.last_evaluation = state["evaluation"]

    # --- a step ---

    def _loss(self, batch: Sequence[Example], answers_only: bool) -> tuple[Any, Any]:
        import torch
        tokens, spans = pad_batch(batch, self.pad_id, self.model.device)
        with self.autocast():
            hidden = hidden_states(self.model, tokens)
            place = torch.arange(tokens.shape[1] - 1, device=tokens.device) + 1
            counted = place < spans[:, 1:]
            if answers_only:
                counted = counted & (place >= spans[:, :1])
            logits = self.model.lm_head(hidden[:, :-1][counted])
        return torch.nn.functional.cross_entropy(logits.float(), tokens[:, 1:][counted]), counted

    def _train_on(self, batch: Sequence[Example], rate: float, answers_only: bool) -> tuple[float, float]:
        """Loss and gradient's norm. Raises TrainingStopped before a number that is none reaches the weights."""
        import torch
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss, _ = self._loss(batch, answers_only)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        loss_value, norm_value = torch.stack([loss.detach().float(), norm.float()]).tolist()
        if not (math.isfinite(loss_value) and math.isfinite(norm_value)):
            found = checkpoints.find(self.output)
            raise TrainingStopped(
                f"step {self.step}: the loss is {loss_value}, the gradient's norm {norm_value}. The weights were not "
                f"changed by it; last good state: {found[-1] if found else 'none yet'}. Lower sft.learning_rate in the "
                "preset, or resume with another --seed to pass the batch by")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss_value, norm_value

    def _evaluate(self) -> None:
        if not self.held_out:
            return
        begin = time.monotonic()
        found = evaluate(self.model, self.held_out, self.pad_id, self.settings.tokens_per_step, self.autocast)
        matches = list(zip(self.held_out_steps, found.pop("matches"), strict=True))
        found["exact_by_step"] = {step: _share(match for other, match in matches if other == step)
                                  for step in sorted(set(self.held_out_steps)) if step}
        self.last_evaluation = found
        self.journal.line("evaluation", step=self.step, tokens=self.tokens, rows=len(self.held_out),
                          evaluation_seconds=time.monotonic() - begin, **found)
        self.journal.say(f"step {self.step}: held out: exact {found['exact']:.1%}, loss {found['loss']:.4f}, "
                         f"tokens {found['token_accuracy']:.2%}")
        if self.limits.gate and not self.gate_passed and self.journal.seconds() >= self.limits.gate_after:
            reached = _share(match for step, match in matches
                             if not self.limits.gate_steps or step in self.limits.gate_steps)
            if reached < self.limits.gate:
                where = self.save()
                raise TrainingStopped(
                    f"the gate: after {self.journal.seconds():.0f} s exact match is {reached:.1%}, below "
                    f"{self.limits.gate:.1%}. State: {where}. See {self.journal.output}/training.jsonl whether the loss "
                    "still falls; then more time, a higher rate or a larger model")
            self.gate_passed = True

    # --- the run ---

    def run(self) -> Outcome:
        before = {}
        with contextlib.suppress(ValueError):  # not the main thread: nobody can be told
            before = {signal.SIGTERM: signal.signal(signal.SIGTERM, self._on_signal)}
        try:
            return self._run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, *_: Any) -> None:
        self._terminated = True

    def _run(self) -> Outcome:
        examples = self._load_epoch()
        batches = self._batches(examples)
        mean = sum(len(example) for example in examples) / len(batches)
        schedule = Schedule(self.settings.tokens, self.limits.total_minutes * 60, self.settings.learning_rate,
                            self.settings.last_learning_rate,
                            warmup_for(self.settings.tokens / mean, self.settings.warmup_steps),
                            self.settings.all_tokens_share)
        if not self.step:
            self.save()  # before the first step: a run whose first batch is bad has something to look at
        last_save = last_evaluation = time.monotonic()
        last_said, said_tokens, longest = time.monotonic(), self.tokens, 0.0
        evaluated_gate = False
        self.model.train()
        while True:
            progress = schedule.progress(self.tokens, self.journal.seconds())
            reason = self._reason_to_end(progress, longest)
            if reason:
                break
            if self.next_batch >= len(batches):
                self.epoch, self.next_batch = self.epoch + 1, 0
                examples = self._load_epoch()
                batches = self._batches(examples)
            begin = time.monotonic()
            batch = [examples[index] for index in batches[self.next_batch]]
            rate = schedule.learning_rate(self.step, progress)
            answers_only = schedule.answers_only(progress)
            loss, norm = self._train_on(batch, rate, answers_only)
            count = sum(len(example) for example in batch)
            self.step, self.tokens, self.next_batch = self.step + 1, self.tokens + count, self.next_batch + 1
            now = time.monotonic()
            longest = max(longest, now - begin)
            self.journal.line("step", step=self.step, loss=loss, gradient_norm=norm, learning_rate=rate, tokens=self.tokens,
                              tokens_per_second=count / (now - begin), rows=len(batch), epoch=self.epoch,
                              loss_over="answers" if answers_only else "all")
            if now - last_said >= 5.0 or self.step == 1:
                self.journal.say(f"step {self.step}: loss {loss:.4f}, {self.tokens / 1e6:.2f} M tokens, "
                                 f"{(self.tokens - said_tokens) / max(1e-9, now - last_said):,.0f} tokens/s, "
                                 f"{self.journal.seconds():.0f} s")
                last_said, said_tokens = now, self.tokens
            at_gate = self.limits.gate and not evaluated_gate and self.journal.seconds() >= self.limits.gate_after
            if now - last_evaluation >= self.settings.evaluate_seconds or at_gate:
                evaluated_gate = evaluated_gate or bool(at_gate)
                self._evaluate()
                last_evaluation = time.monotonic()
            if time.monotonic() - last_save >= self.settings.checkpoint_seconds:
                self.save()
                last_save = time.monotonic()
        self._evaluate()
        self.save()
        return Outcome(reason, self.step, self.tokens, self.last_evaluation)

    def _reason_to_end(self, progress: float, longest: float) -> str:
        if self._terminated:
            return "told to end"
        if progress >= 1.0:
            return "the budget is used up"
        # Two steps ahead: saving takes time, too.
        if self.limits.minutes and self.journal.seconds_of_this_part() + 2 * longest >= self.limits.minutes * 60:
            return "the time is up"
        return ""

    def _load_epoch(self) -> list[Example]:
        """The epoch's examples, too long ones left out; the next epoch is begun by others."""
        examples = self.examples.epoch(self.epoch)
        self.examples.prepare(self.epoch + 1)
        short = [example for example in examples if len(example) <= self.settings.max_length]
        if not short:
            raise BadInput(f"every pair is longer than sft.max_length = {self.settings.max_length} tokens")
        if len(short) < len(examples):
            self.journal.line("left_out", epoch=self.epoch, longer=len(examples) - len(short),
                              max_length=self.settings.max_length)
        return short

    def _batches(self, examples: Sequence[Example]) -> list[list[int]]:
        return make_batches([len(example) for example in examples], self.settings.tokens_per_step,
                            self.seed * 1_000_003 + self.epoch)
