"""Runs mypy, and has it note of each ``nnx.state(model, ...)`` what the plugin knows of the model."""

from __future__ import annotations

from mypy.__main__ import console_entry
from mypy.types import Instance

from typed_nnx_codegen.facts.fields import model_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import NNX
from typed_nnx_mypy.registry import on_call


@on_call("state")
def show(call: Call) -> None:
    """Note the fields with their statuses: ``kernel=data in_features=static``."""
    found = call.positional[0].type
    model = model_of(found, call.checker) if isinstance(found, Instance) else None
    if model is not None:
        text = " ".join(f"{field.name}={field.status}" for field in model.fields.values())
        call.checker.api.note(text, call.node, code=NNX)


if __name__ == "__main__":
    console_entry()
