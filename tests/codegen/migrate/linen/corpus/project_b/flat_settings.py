"""Settings as constants and in a class."""

from dataclasses import dataclass

HIDDEN_SIZE = 5
WIDTHS = (4, 3)


@dataclass(frozen=True)
class Settings:
    hidden: int = HIDDEN_SIZE
    out: int = 3
