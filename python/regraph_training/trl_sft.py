"""Supervised fine-tuning of pretrained models through TRL's SFTTrainer, with LoRA or all parameters."""

from __future__ import annotations

import argparse
from typing import Any

from . import gpu_settings, model_folder, provenance
from .errors import BadInput, TrainingStopped
from .journal import Journal
from .preset import Preset, check_trl_settings
from .records import Row, split_pair


def conversation(row: Row, where: str) -> dict[str, Any]:
    """The form in which TRL masks the prompt by itself."""
    prompt, answer = split_pair(row, where)
    return {"prompt": prompt, "completion": [{"role": "assistant", "content": answer}]}


def train_trl(options: argparse.Namespace, preset: Preset, rows: list[Row], held_out: list[Row],
              journal: Journal) -> str:
    import torch
    import datasets
    from trl import SFTConfig, SFTTrainer
    from regraph_sft import start_model, what_it_is
    from .merging import merged_state
    from .tokenizer import token_ids
    from .trl_watch import Watch, lora_config, newest_checkpoint, quieten

    if options.gate:
        raise BadInput("--gate is of presets with \"trainer\": \"own\"; here see mean_token_accuracy in training.jsonl")
    check_trl_settings(SFTConfig, preset.sft.trl, f"preset {preset.name}: sft: trl")
    on_gpu = torch.cuda.is_available()
    gpu_settings.set_up()
    model, tokenizer = start_model(options, preset, rows, "cuda" if on_gpu else "cpu")
    settings = {"max_length": preset.sft.max_length, "learning_rate": preset.sft.learning_rate,
                "bf16": on_gpu, "use_cpu": not on_gpu, "logging_steps": 1, **preset.sft.trl}
    folder = options.output / "checkpoints"
    args = SFTConfig(output_dir=str(folder), seed=options.seed, data_seed=options.seed, report_to=[], disable_tqdm=True,
                     save_strategy="no", save_total_limit=2, logging_nan_inf_filter=False,
                     dataloader_num_workers=0, **settings)
    datasets.disable_progress_bars()
    pairs = [conversation(row, f"training row {number + 1}") for number, row in enumerate(rows)]
    # TRL would cut long pairs, and train on answers that do not end.
    short = [pair for pair in pairs if args.max_length is None
             or len(token_ids(tokenizer, pair["prompt"] + pair["completion"], False)) <= args.max_length]
    if not short:
        raise BadInput(f"every pair is longer than max_length = {args.max_length} tokens")
    journal.line("left_out", longer=len(pairs) - len(short), max_length=args.max_length)
    data = datasets.Dataset.from_list(short)
    watch = Watch(journal, options.minutes, preset.sft.checkpoint_seconds)
    trainer = SFTTrainer(model=model, args=args, train_dataset=data, processing_class=tokenizer, callbacks=[watch],
                         peft_config=lora_config(preset.lora) if preset.lora else None)
    quieten(trainer)
    last = newest_checkpoint(folder) if options.resume else None
    if options.resume and last is None:
        raise BadInput(f"{options.output}: nothing to resume: no checkpoint in {folder}; begin without --resume")
    what = what_it_is(options, preset, rows, held_out)
    journal.run(script="regraph_sft.py", **what, parent=str(options.model) if options.model else None,
                trl=args.to_dict(), resumed_at=str(last) if last else None)
    result = trainer.train(resume_from_checkpoint=str(last) if last else None)
    if result.training_loss != result.training_loss:
        raise TrainingStopped(f"the loss is no number; last good state: the newest checkpoint in {folder}")
    parent = {"path": str(options.model), "hash": model_folder.hash_of_model(options.model)} if options.model else None
    trained = trainer.accelerator.unwrap_model(trainer.model)
    base = trained.get_base_model() if hasattr(trained, "get_base_model") else trained
    model_folder.write_model_folder(base, tokenizer, options.output / "model",
                                    {**what, "made_by": "regraph_sft.py", "parent": parent, "ended": watch.reason,
                                     "steps": trainer.state.global_step}, state=merged_state(trained))
    journal.line("end", step=trainer.state.global_step, reason=watch.reason, data=provenance.hash_of_rows(rows),
                 model=model_folder.hash_of_model(options.output / "model"))
    return f"{watch.reason} after {trainer.state.global_step} steps"
