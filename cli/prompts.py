"""The prompt of `millrace generate`: token ids, text where the model has a tokenizer, or seeded ids."""

import random
import re
from pathlib import Path
from typing import Any

from compiler.errors import InvalidInputError

SEEDED_TOKENS = 8
TOKENIZER = "tokenizer.json"


class Tokenizer:
    """The tokenizer beside a model's config.json; `None` from `find` where there is none."""

    def __init__(self, made: Any) -> None:
        self._made = made

    @staticmethod
    def find(model: str | Path) -> "Tokenizer | None":
        """Raises InvalidInputError where the file is damaged."""
        path = Path(model)
        file = (path if path.is_dir() else path.parent) / TOKENIZER
        if not path.exists() or not file.is_file():
            return None
        from tokenizers import Tokenizer as Implementation

        try:
            return Tokenizer(Implementation.from_file(str(file)))
        except Exception as error:  # the library raises plain Exception
            raise InvalidInputError(f"{file} is no tokenizer: {error}; give token ids instead") from error

    def encode(self, text: str) -> list[int]:
        """Ids of a text, special tokens of the model included."""
        return list(self._made.encode(text).ids)

    def decode(self, tokens: list[int]) -> str:
        """The text of ids."""
        return str(self._made.decode(tokens))


def read_prompt(text: str | None, seed: int, vocabulary: int, tokenizer: Tokenizer | None) -> tuple[int, ...]:
    """Ids as `1,2,3` or `1 2 3`; any other text through the tokenizer; without a prompt, ids drawn with `seed`.

    Raises InvalidInputError.
    """
    if text is None:
        draw = random.Random(seed)
        return tuple(draw.randrange(vocabulary) for _ in range(SEEDED_TOKENS))
    if re.fullmatch(r"\s*\d+([\s,]+\d+)*\s*", text):
        return tuple(int(token) for token in re.findall(r"\d+", text))
    if tokenizer is None:
        raise InvalidInputError(
            f"the prompt {text[:40]!r} is text, and the model has no {TOKENIZER}; give token ids, as in --prompt 1,2,3"
        )
    return tuple(tokenizer.encode(text))
