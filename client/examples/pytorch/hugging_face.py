#!/usr/bin/env python3
"""An unmodified causal language model of Hugging Face under its own Trainer.

    python hugging_face.py --steps 1000

The only line for blazed is `model.compile(backend="blazed")` before the Trainer sees the model. Weights are random
and the text is read character by character, so nothing is downloaded.
"""
import tempfile

import torch
from transformers import (LlamaConfig, LlamaForCausalLM, PrinterCallback, Trainer, TrainerCallback,
                          TrainingArguments)

import blazed.torch  # noqa: F401  needed only where blazed is not installed as a wheel
from common import Progress, add_size_flags, add_text_flag, flags, read_text


class Pieces(torch.utils.data.Dataset):
    """Equally long pieces of the text, one behind the other."""

    def __init__(self, text, length):
        self.pieces = text[:len(text) // length * length].view(-1, length)

    def __len__(self):
        return len(self.pieces)

    def __getitem__(self, number):
        return {"input_ids": self.pieces[number], "labels": self.pieces[number]}


class Told(TrainerCallback):
    """Prints the Trainer's losses, which it hands out as means since the last one."""

    def __init__(self, progress):
        self.progress = progress
        self.losses = []

    def on_log(self, args, state, control, logs=None, **others):
        if "loss" in logs:
            self.losses.append(float(logs["loss"]))
            self.progress.tell(state.global_step, self.losses[-1])


def main(arguments=None):
    """Losses, and the model."""
    parser = flags("A causal language model of Hugging Face under its own Trainer.", steps=1000)
    add_text_flag(parser)
    add_size_flags(parser, width=96, layers=2, length=64, batch=8)
    options = parser.parse_args(arguments)

    torch.manual_seed(options.seed)
    text, characters = read_text(options.text)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=characters, hidden_size=options.width, intermediate_size=3 * options.width,
        num_hidden_layers=options.layers, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=options.length, use_cache=False, bos_token_id=None, eos_token_id=None))
    model.compile(backend=options.backend, dynamic=False)

    print(f"{model.num_parameters():,} parameters, {len(text):,} characters of text")
    progress = Progress(options)
    told = Told(progress)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model, train_dataset=Pieces(text, options.length), callbacks=[told],
            args=TrainingArguments(
                folder, max_steps=options.steps, per_device_train_batch_size=options.batch, learning_rate=1e-3,
                logging_steps=progress.every, logging_first_step=True, save_strategy="no", report_to="none", disable_tqdm=True,
                seed=options.seed, use_cpu=options.device == "cpu", dataloader_drop_last=True))
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    progress.end()
    return told.losses, model


if __name__ == "__main__":
    main()
