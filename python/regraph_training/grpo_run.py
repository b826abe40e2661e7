"""GRPO through TRL's trainer, with our prompts, answers, rewards and ends."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import time
from typing import Any

from regraph_rewards import RewardClient, ServiceFailing, ServiceRefused, reward_for_trl

from . import gpu_settings, model_folder, provenance
from .answer_log import AnswerLog
from .curriculum import Curriculum, CurriculumSampler
from .errors import BadInput, TrainingStopped
from .grpo_data import grpo_rows
from .journal import Journal
from .merging import merged_state
from .preset import LoraSettings, Preset, check_trl_settings
from .records import Row
from .rollouts import Rollouts

CURRICULUM_FILE = "curriculum.json"


class _TimedReward:
    """How long the rewards of a batch took."""

    __name__ = "regraph"

    def __init__(self, reward: Any):
        self.reward, self.seconds = reward, 0.0

    def __call__(self, **columns: Any) -> list[float | None]:
        begin = time.monotonic()
        try:
            return self.reward(**columns)
        finally:
            self.seconds = time.monotonic() - begin


def _config(options: argparse.Namespace, preset: Preset, on_gpu: bool) -> Any:
    from trl import GRPOConfig
    check_trl_settings(GRPOConfig, preset.grpo.trl, f"preset {preset.name}: grpo: trl")
    # Defaults that matter here, each with its reason in docs; a preset overrides them.
    settings = {"learning_rate": 1e-4, "lr_scheduler_type": "constant_with_warmup", "warmup_steps": 5,
                "num_generations": 16, "per_device_train_batch_size": 128, "steps_per_generation": 4,
                "max_completion_length": 1024, "beta": 0.01, "epsilon_high": 0.28, "max_grad_norm": 0.5,
                "scale_rewards": "none", "mask_truncated_completions": False, "gradient_checkpointing": False,
                "max_steps": 100_000, "bf16": on_gpu, "use_cpu": not on_gpu, **preset.grpo.trl}
    folder = options.output / "checkpoints"
    try:
        return GRPOConfig(output_dir=str(folder), seed=options.seed, data_seed=options.seed, report_to=[],
                          disable_tqdm=True, save_strategy="no", save_total_limit=2, logging_steps=1,
                          logging_nan_inf_filter=False, log_completions=False, ignore_data_skip=True,
                          remove_unused_columns=False, **settings)
    except (TypeError, ValueError) as error:
        raise BadInput(f"preset {preset.name}: grpo: trl: {error}") from None


def _trainer_class() -> Any:
    from trl import GRPOTrainer

    class CurriculumTrainer(GRPOTrainer):
        """Prompts in the curriculum's order, not shuffled once an epoch."""

        curriculum_sampler: CurriculumSampler

        def _get_train_sampler(self, dataset: Any = None) -> Any:
            return self.curriculum_sampler

        def create_model_card(self, *_: Any, **__: Any) -> None:
            pass  # of every checkpoint; ours is lineage.json

    return CurriculumTrainer


def _client(options: argparse.Namespace, preset: Preset) -> RewardClient:
    url = options.reward_url or os.environ.get("REGRAPH_REWARD_URL", "")
    try:
        return RewardClient(url, preset.reward)
    except ValueError as error:
        raise BadInput(str(error)) from None


def train_grpo(options: argparse.Namespace, preset: Preset, rows: list[Row], journal: Journal) -> str:
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    import datasets
    import torch
    from transformers import TrainerCallback
    from .trl_watch import Watch, lora_config, newest_checkpoint, quieten

    datasets.disable_progress_bars()
    client = _client(options, preset)
    on_gpu = torch.cuda.is_available()
    gpu_settings.set_up()
    model_folder.check_model_folder(options.model)
    model_folder.quiet()
    tokenizer = model_folder.load_tokenizer(options.model)
    kept, longer = grpo_rows(rows, tokenizer, preset.grpo.max_prompt_tokens, str(options.data))
    args = _config(options, preset, on_gpu)
    use_lora = preset.lora is not None and not preset.grpo.full_parameters
    # Below adapters bf16 will do, as those weights are not trained; else float32: bf16 has no exact copy to add to.
    args.model_init_kwargs = {"dtype": "bfloat16" if use_lora and on_gpu and not preset.model.scratch else "float32",
                              "local_files_only": True}
    repeats = args.steps_per_generation * args.num_iterations
    prompts = args.generation_batch_size // args.num_generations
    curriculum = Curriculum([row["stage"] for row in kept], options.seed, preset.grpo.curriculum_acceptance,
                            preset.grpo.curriculum_batches, preset.grpo.curriculum_earlier_share, preset.grpo.skip_tied)
    log = AnswerLog(options.output / "completions.jsonl", curriculum, args.num_generations, options.seed,
                    options.permute_rewards)
    generation = json.loads((options.model / "generation_config.json").read_text(encoding="utf-8"))
    ends = generation["eos_token_id"]
    reward = _TimedReward(reward_for_trl(client, ends if isinstance(ends, list) else [ends], log))
    rollouts = Rollouts(options.seed)
    last_batch = {"seen": 0}

    def phases() -> dict[str, Any]:
        """Seconds of the batch that this step began, if it did."""
        found = {"stage": curriculum.stage, "rewards_missing": client.missing}
        if log.batches != last_batch["seen"]:
            last_batch["seen"] = log.batches
            found.update(reward_seconds=reward.seconds, generation_seconds=rollouts.seconds or None,
                         generated_tokens=rollouts.tokens or None, decoder=rollouts.decoder or "transformers",
                         waiting_prompts=len(curriculum.waits))
        return found

    watch = Watch(journal, options.minutes, preset.grpo.checkpoint_seconds, repeats, phases)

    class SaveCurriculum(TrainerCallback):
        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            folder = pathlib.Path(args.output_dir) / f"checkpoint-{state.global_step}"
            (folder / CURRICULUM_FILE).write_text(json.dumps({**curriculum.state(), "batches": log.batches}))

    # LoRA's dropout would act on the log-probabilities that answers are weighed by: none here.
    lora = lora_config(LoraSettings(preset.lora.r, preset.lora.alpha, 0.0, preset.lora.targets)) if use_lora else None
    trainer = _trainer_class()(
        model=str(options.model), reward_funcs=[reward], args=args, processing_class=tokenizer, peft_config=lora,
        train_dataset=datasets.Dataset.from_list(kept), callbacks=[watch, SaveCurriculum()],
        rollout_func=rollouts if preset.grpo.sampler == "own" else None)
    trainer.curriculum_sampler = CurriculumSampler(curriculum, prompts, args.num_generations, repeats,
                                                   -(-args.max_steps // repeats))
    quieten(trainer)
    last = newest_checkpoint(pathlib.Path(args.output_dir)) if options.resume else None
    if options.resume:
        if last is None:
            raise BadInput(f"{options.output}: nothing to resume: no checkpoint in {args.output_dir}; begin without "
                           "--resume")
        state = json.loads((last / CURRICULUM_FILE).read_text(encoding="utf-8"))
        log.batches = state.pop("batches")
        last_batch["seen"] = log.batches
        curriculum.restore(state)
    what = {"preset": preset.as_data(), "seed": options.seed, "permute_rewards": options.permute_rewards,
            "parent": {"path": str(options.model), "hash": model_folder.hash_of_model(options.model),
                       "tokenizer": model_folder.hash_of_tokenizer(options.model)},
            "data": {"path": str(options.data), "hash": provenance.hash_of_rows(rows), "rows": len(rows),
                     "left_out_as_too_long": longer}}
    journal.run(script="regraph_grpo.py", **what, reward_url=client.url, trl=args.to_dict(),
                resumed_at=str(last) if last else None)
    journal.say(f"{len(kept)} prompts ({longer} too long), stages {', '.join(map(str, curriculum.order))}; "
                f"{prompts} prompts x {args.num_generations} answers a batch, {repeats} steps each")
    try:
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    except (ServiceFailing, ServiceRefused) as error:
        found = newest_checkpoint(pathlib.Path(args.output_dir))
        raise TrainingStopped(f"{error}. Last good state: {found or 'none yet: begin again'}") from None
    trained = trainer.accelerator.unwrap_model(trainer.model)
    base = trained
    if use_lora:
        trained.save_pretrained(options.output / "adapter")
        base = trained.get_base_model()
    model_folder.write_model_folder(base, tokenizer, options.output / "model", {
        **what, "made_by": "regraph_grpo.py", "steps": trainer.state.global_step, "ended": watch.reason},
        state=merged_state(trained))
    journal.line("end", step=trainer.state.global_step, reason=watch.reason,
                 model=model_folder.hash_of_model(options.output / "model"))
    return f"{watch.reason} after {trainer.state.global_step} steps"
