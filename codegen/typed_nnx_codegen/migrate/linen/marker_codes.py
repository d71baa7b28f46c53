"""The markers that the migration of Linen code leaves: a code for each kind."""

from __future__ import annotations

from typing import Final

CLASS: Final = "TN200"
SIZE: Final = "TN201"
CALL: Final = "TN202"
COUNTERPART: Final = "TN203"
NAME: Final = "TN204"
CALLER: Final = "TN205"
TRANSFORM: Final = "TN206"
EXAMPLE: Final = "TN207"
STAYS: Final = "TN208"
OTHER: Final = "TN209"

TITLES: Final[dict[str, str]] = {
    CLASS: "A module of `flax.linen` is an `nnx.Module`",
    SIZE: "The size of an input is not known",
    CALL: "A submodule depends on what a method is called with",
    COUNTERPART: "NNX has no counterpart",
    NAME: "The name of a weight is not sure",
    CALLER: "Code that uses a module is left to a person",
    TRANSFORM: "A transform of Linen is left to a person",
    EXAMPLE: "An example does not agree with the code",
    STAYS: "A module stays in `flax.linen`",
    OTHER: "Something else is left to a person",
}
"""What each code is for, as Markdown."""
