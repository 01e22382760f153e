"""The text of API keys: `mlr_<prefix>_<secret>`. The prefix finds the row; of the secret only a digest is stored."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_FORM = re.compile(r"mlr_([0-9a-f]{8})_([A-Za-z0-9_-]{43})")
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Token:
    """A key as its holder has it."""

    prefix: str
    secret: str

    def __str__(self) -> str:
        return f"mlr_{self.prefix}_{self.secret}"

    @property
    def digest(self) -> str:
        """SHA-256, which is enough: the secret is 256 random bits, no word that could be guessed."""
        return hashlib.sha256(str(self).encode()).hexdigest()

    def matches(self, digest: str) -> bool:
        """Whether this is the key that was stored as `digest`; takes as long whatever differs."""
        return hmac.compare_digest(self.digest, digest)


def new_token() -> Token:
    return Token(secrets.token_hex(4), secrets.token_urlsafe(_SECRET_BYTES))


def parse(text: str) -> Token | None:
    """The key that `text` is, None where it has not the form of one."""
    match = _FORM.fullmatch(text)
    return None if match is None else Token(*match.groups())
