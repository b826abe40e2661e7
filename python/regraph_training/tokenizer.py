"""A byte-level BPE of our own, trained on the data: CUDA in few tokens, and exact on any text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PAD, END = "<|pad|>", "<|end|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
SPECIALS = (PAD, END, *ROLES)

# How Qwen2's tokenizer cuts text before it merges. llama.cpp knows it by name (`qwen2`), which lets a
# model of ours be served there.
QWEN2_SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+")

# <|role|>content<|end|>; the question's tokens are a prefix of the whole conversation's, as TRL wants.
CHAT_TEMPLATE = ("{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
                 "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}")


def train_tokenizer(texts: Iterable[str], vocabulary: int = 4096, max_length: int = 4096) -> Any:
    """A PreTrainedTokenizerFast. The full byte alphabet is in it, so no text is unknown."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(QWEN2_SPLIT), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=list(SPECIALS), show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, padding_side="left",
                                   additional_special_tokens=list(ROLES), clean_up_tokenization_spaces=False,
                                   model_max_length=max_length, chat_template=CHAT_TEMPLATE)


def token_ids(tokenizer: Any, messages: list[dict[str, str]], generation: bool) -> list[int]:
    """The conversation's tokens by the tokenizer's own template; with the opening of an answer if wanted."""
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=generation, tokenize=True, return_dict=False)
    return list(ids)
