"""What we ask of every training with TRL: an end in time, a record of each step, no numbers that are none."""

from __future__ import annotations

import math
import pathlib
import signal
import time
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback

from .errors import TrainingStopped
from .journal import Journal


class Watch(TrainerCallback):
    """Ends cleanly when the time is up or on SIGTERM, saves by the clock, writes training.jsonl.

    granule: steps after which stopping and saving lose nothing (GRPO: a whole batch of generations).
    extra: more values for a step's line, taken when it is written.
    """

    def __init__(self, journal: Journal, minutes: float, checkpoint_seconds: float, granule: int = 1,
                 extra: Callable[[], dict[str, Any]] = dict):
        self.journal, self.minutes, self.granule, self.extra = journal, minutes, granule, extra
        self.checkpoint_seconds = checkpoint_seconds
        self.reason = "the budget is used up"
        self._terminated = False
        self._handler_before: Any = None
        self._longest = 0.0
        self._granule_begin = self._last_save = self._last_said = time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._granule_begin = self._last_save = time.monotonic()
        try:
            self._handler_before = signal.signal(signal.SIGTERM, self._on_signal)
        except ValueError:
            pass  # not the main thread

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._handler_before is not None:
            signal.signal(signal.SIGTERM, self._handler_before)

    def _on_signal(self, *_: Any) -> None:
        self._terminated = True

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """The gradients are looked at before they reach the weights."""
        import torch
        norms = [parameter.grad.detach().float().norm() for parameter in model.parameters()
                 if parameter.grad is not None]
        if norms and not math.isfinite(torch.stack([norm.to(norms[0].device) for norm in norms]).sum().item()):
            last = sorted(pathlib.Path(args.output_dir).glob("checkpoint-*"), key=lambda path: path.stat().st_mtime)
            raise TrainingStopped(f"step {state.global_step}: a gradient is no number. The weights were not changed by "
                                  f"it; last good state: {last[-1] if last else 'the model as it was given'}. Lower the "
                                  "learning rate in the preset, then --resume")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self.granule and not self._terminated:
            return
        now = time.monotonic()
        self._longest = max(self._longest, now - self._granule_begin)
        self._granule_begin = now
        if self._terminated:
            self.reason = "told to end"
            control.should_training_stop = control.should_save = True
        elif self.minutes and self.journal.seconds_of_this_part() + 1.2 * self._longest >= self.minutes * 60:
            self.reason = "the time is up"
            control.should_training_stop = control.should_save = True
        elif now - self._last_save >= self.checkpoint_seconds:
            control.should_save = True
            self._last_save = now

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if not logs or "train_runtime" in logs:
            return
        values = {name: (float(value) if isinstance(value, str) and _is_number(value) else value)
                  for name, value in logs.items()}
        self.journal.line("step", step=state.global_step, **{**values, **self.extra()})
        loss = values.get("loss")
        if isinstance(loss, float) and not math.isfinite(loss):
            raise TrainingStopped(f"step {state.global_step}: the loss is {loss}. Lower the learning rate in the preset; "
                                  f"last good state: the newest checkpoint in {args.output_dir}")
        if time.monotonic() - self._last_said >= 5.0 or state.global_step <= 1:
            self._last_said = time.monotonic()
            shown = ", ".join(f"{label} {values[name]:.4g}" for name, label in
                              (("loss", "loss"), ("reward", "reward"), ("accepted", "accepted"), ("kl", "KL"),
                               ("frac_reward_zero_std", "tied"), ("completions/clipped_ratio", "cut off"),
                               ("mean_token_accuracy", "token accuracy"))
                              if isinstance(values.get(name), (int, float)))
            self.journal.say(f"step {state.global_step}: {shown}, {self.journal.seconds():.0f} s")


def _is_number(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False


def quieten(trainer: Any) -> None:
    """Takes out the printing of transformers: lines come from the journal."""
    from transformers import PrinterCallback, ProgressCallback
    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)


def newest_checkpoint(folder: pathlib.Path) -> pathlib.Path | None:
    found = [path for path in folder.glob("checkpoint-*") if (path / "trainer_state.json").exists()]
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def lora_config(settings: Any) -> Any:
    """lm_head is never among the targets: TRL's log-probabilities read its weight directly."""
    from peft import LoraConfig
    return LoraConfig(r=settings.r, lora_alpha=settings.alpha, lora_dropout=settings.dropout,
                      target_modules=list(settings.targets), bias="none", task_type="CAUSAL_LM")
