"""The error of a mutation under the wrong jax trace."""

from __future__ import annotations

from typed_nnx._errors.public import public


@public
class TraceLevelError(Exception):
    """A Pytree or Variable was mutated under another jax trace than the one it belongs to.

    Args:
        kind: "Pytree" or "Variable".
        owner: The name of its type.
        attribute: The attribute that was assigned, if it was one.
        path: Where the object is, if it was found.
    """

    def __init__(self, kind: str, owner: str, attribute: str | None, path: str | None) -> None:
        super().__init__(kind, owner, attribute, path)
        self.kind = kind
        self.owner = owner
        self.attribute = attribute
        self.path = path

    def __str__(self) -> str:
        place = "" if self.path is None else f" at {self.path}"
        what = "the value" if self.attribute is None else f"attribute {self.attribute!r}"
        owner = f"'{self.owner}'" if self.kind == "Pytree" else self.owner
        article = "" if self.kind == "Pytree" else "a "
        return (
            f"Cannot mutate {owner} from {article}different trace level: {what} of the "
            f"{self.owner}{place} was to change inside a jax transform that did not take the "
            "object in. Transforms of nnx take in arguments and what a function closes over, not "
            "globals; those of jax take in no objects.\n"
            "  Fix: pass the object to the transformed function as an argument, "
            "nnx.jit(function)(model), or define the function where the model is a local variable; "
            "write nnx.jit for jax.jit"
        )
