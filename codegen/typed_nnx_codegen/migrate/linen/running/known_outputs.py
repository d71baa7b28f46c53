"""Remembers what calls of submodules return: a submodule called alike again returns alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.references import ClassRef, Ref, SelfValue
from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Code,
    Const,
    Seq,
    ShapeOf,
    Size,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

_PLAIN: Final = (Array, Code, Const, ShapeOf, Size, Unknown, Ref, ClassRef)


def output_key(
    cls: LinenClass,
    instance: SelfValue,
    method: str,
    values: Mapping[str, Value],
    recorder: Recorder,
) -> Hashable | None:
    """Return what the output of a call depends on; None where that is more than plain values.

    Args:
        cls: The class of the submodule.
        instance: The submodule.
        method: The method that is called.
        values: The arguments, by parameter.
        recorder: What is written down: a call that counts is gone through at least once.
    """
    if not all(_is_plain(value) for value in (*instance.fields.values(), *values.values())):
        return None
    fields = tuple(instance.fields.items())
    return cls, fields, method, tuple(values.items()), recorder.is_recording, recorder.rngs


def _is_plain(value: Value) -> bool:
    """Whether nothing but the value itself says what comes of it."""
    if isinstance(value, Seq):
        return all(_is_plain(item) for item in value.items)
    return isinstance(value, _PLAIN)
