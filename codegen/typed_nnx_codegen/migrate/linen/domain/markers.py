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
TRACE: Final = "TN207"
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
    TRACE: "A trace does not agree with the code",
    STAYS: "A module stays in `flax.linen`",
    OTHER: "Something else is left to a person",
}
"""What each code is for, as Markdown."""

EXPLANATIONS: Final[dict[str, str]] = {
    CLASS: "It is no marker: reports count the modules by it that were migrated with `--linen`.",
    SIZE: """The code does not tell the size of an input of a submodule.

The constructor has a required keyword for it, which the marker names: give it where the module is
constructed, or take it from a run: `--trace "python train.py"`, or `--example FILE`.""",
    CALL: """A size, name or setting of a submodule comes from an argument of a call.

The constructor does not have it. Let it be a field of the module.""",
    COUNTERPART: """A layer, argument or function that NNX does not have.

Write it by hand, or keep the module in Linen with `--gradual`.""",
    NAME: """The map of the weights may lack entries, or names depend on the first call.

Compare the map with the names in a checkpoint before you load one; `typed-nnx verify` does.""",
    CALLER: """Code outside of modules, or `init` and `apply` within one, in a form that is not known.

Construct the migrated module and call it.""",
    TRANSFORM: """`nn.scan`, `nn.vmap`, `nn.share_scope` or another transform in a form that is not known.

Write it with the transform of NNX of that name.""",
    TRACE: """What `--trace` or `--example` recorded is not what the code says.

Record it again if the code has changed; if it says the same, please report it.""",
    STAYS: """The class is as it was, or contains one that is; the marker says why.

Migrate what it names by hand, or keep both in Linen with `--gradual`.""",
    OTHER: "The marker says what it is.",
}
"""What a person does about each, as Markdown."""
