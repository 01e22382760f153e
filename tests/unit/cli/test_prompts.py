from pathlib import Path

import pytest

from cli.prompts import Tokenizer, read_prompt
from compiler.errors import InvalidInputError


class Letters(Tokenizer):
    """A token for each letter."""

    def __init__(self) -> None:
        super().__init__(None)

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]


@pytest.mark.parametrize("text", ["1,20,3", "1 20 3", " 1, 20,\t3 "])
def test_ids_are_read_as_they_are(text: str):
    assert read_prompt(text, 0, 100, Letters()) == (1, 20, 3)


def test_text_goes_through_the_tokenizer():
    assert read_prompt("12 a", 0, 300, Letters()) == (49, 50, 32, 97)
    with pytest.raises(
        InvalidInputError, match=r"'once' is text, and the model has no tokenizer\.json; give token ids"
    ):
        read_prompt("once", 0, 300, None)


def test_a_seed_draws_tokens_of_the_vocabulary():
    drawn = read_prompt(None, 3, 50, None)
    assert drawn == read_prompt(None, 3, 50, None) != read_prompt(None, 4, 50, None)
    assert len(drawn) == 8
    assert all(0 <= token < 50 for token in drawn)


def test_a_tokenizer_lies_beside_the_configuration(tmp_path: Path):
    from tokenizers import Tokenizer as Implementation
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    assert Tokenizer.find(tmp_path) is None
    assert Tokenizer.find("gpt2") is None
    made = Implementation(WordLevel({"once": 7, "upon": 8, "?": 0}, unk_token="?"))
    made.pre_tokenizer = Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").touch()
    found = Tokenizer.find(tmp_path / "config.json")
    assert found is not None
    assert read_prompt("upon once", 0, 10, found) == (8, 7)
    assert found.decode([7, 8]) == "once upon"
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidInputError, match="is no tokenizer"):
        Tokenizer.find(tmp_path)
