"""What a migration is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

TYPED_NNX: Final = "typed_nnx"
FLAX_NNX: Final = "flax.nnx"


@dataclass(frozen=True)
class Options:
    """What a migration is asked to do.

    Attributes:
        target: The runtime that the code is to run on.
        codes: The rules to apply; None for all.
    """

    target: Literal["typed_nnx", "flax.nnx"] = TYPED_NNX
    codes: frozenset[str] | None = None

    def applies(self, code: str) -> bool:
        """Whether a rule is to be applied."""
        return self.codes is None or code in self.codes
