"""Questions whose outcome is sure."""

from __future__ import annotations

from collections import abc
from typing import Final

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.running.frames import FunctionRef
from typed_nnx_codegen.migrate.linen.running.references import (
    ClassRef,
    EnumMember,
    ModuleValue,
    Ref,
)
from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    Array,
    Code,
    Const,
    Seq,
    ShapeOf,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentSize, Piece


def decided(operator: str, left: Value, right: Value) -> bool | None:
    """Return the outcome of a comparison that is sure: of literals, and of arrays with None."""
    if isinstance(left, Const) and isinstance(right, Const):
        if operator in ("is", "=="):
            return left == right
        if operator in ("is not", "!="):
            return left != right
    if isinstance(left, EnumMember) and isinstance(right, EnumMember):
        is_same = left.is_same(right)
        if is_same is not None and operator in ("is", "==", "is not", "!="):
            return is_same == (operator in ("is", "=="))
    if operator in ("is", "is not") and right == NONE:
        if isinstance(left, (EnumMember, Seq, ModuleValue, ShapeOf, Ref, ClassRef, FunctionRef)):
            is_field = getattr(left, "code", "").startswith("self.")
            return None if is_field else operator == "is not"
        if isinstance(left, Code) and left.is_number:
            return operator == "is not"
        if isinstance(left, Size) and not isinstance(left.dim.atom, Piece):
            return operator == "is not"
        if isinstance(left, Array) and not left.origin and not left.is_optional:
            return operator == "is not" if left.shape.axis(-1) is not None else None
    return None


def instance_of(value: Value, kind: Value) -> bool | None:
    """Return whether a value is an object of a class, or of one of several; None if not sure."""
    names = _builtin_names(kind)
    if names is not None:
        return _of_builtins(value, names)
    if isinstance(kind, Seq):
        found = [instance_of(value, one) for one in kind.items]
        return True if True in found else (None if None in found else False)
    wanted = _class_of(kind)
    if wanted is None:
        return None
    match value:
        case ModuleValue(site=site) if not site.alternatives:
            return _inherits(site.target, wanted)
        case FunctionRef():
            return False
        case Ref(name=name, code=""):
            # A function of jax or Linen, no object of a module.
            is_function = name.startswith(_FUNCTIONS) and find_layer(name) is None
            return False if is_function else None
    return None


_ABSTRACT: Final = ("collections.abc", "typing")
_BUILTINS: Final[dict[str, type]] = {
    **{f"builtins.{one.__name__}": one for one in (int, float, str, bool, complex)},
    **{f"builtins.{one.__name__}": one for one in (list, tuple, dict)},
    **{f"{module}.{one.__name__}": one for module in _ABSTRACT for one in (abc.Iterable, abc.Seq)},
}


def _builtin_names(kind: Value) -> set[type] | None:
    """Return the types of Python that a question names; None where it names others."""
    kinds = kind.items if isinstance(kind, Seq) else (kind,)
    found = {_BUILTINS.get(one.name) if isinstance(one, Ref) else None for one in kinds}
    return None if None in found else {one for one in found if one is not None}


def _of_builtins(value: Value, kinds: set[type]) -> bool | None:
    """Return whether a value is an object of one of some types of Python; None if not sure."""
    match value:
        case Const(value=literal):
            return isinstance(literal, tuple(kinds))
        case Seq() if {list, tuple} <= kinds or kinds & {abc.Iterable, abc.Seq}:
            return True
        case Seq() if not {list, tuple} & kinds:
            return False
        case Array(origin="", shape=shape) if shape.dims:
            return False
        case Size(dim=dim) if isinstance(dim.atom, ArgumentSize):
            return int in kinds
    return None


_FUNCTIONS: Final = ("flax.linen.", "jax.numpy.", "jax.nn.", "jax.lax.")
_MODULE: Final = "flax.linen.Module"


def _class_of(kind: Value) -> str | LinenClass | None:
    """Return the class of modules that a question names; None where it names another one."""
    match kind:
        case ClassRef(cls=cls, code=code) if not code.startswith("self."):
            return cls
        case Ref(name=name, code=""):
            return name if name == _MODULE or find_layer(name) is not None else None
    return None


def _inherits(target: str | LinenClass, wanted: str | LinenClass) -> bool | None:
    if wanted == _MODULE:
        return True
    if isinstance(target, str):
        return target == wanted
    if isinstance(wanted, LinenClass):
        return wanted in target.ancestry()
    return None if any(one.foreign for one in target.ancestry()) else False


def truth_of(value: Value) -> bool | None:
    """Return whether a value is true; None where that is not sure."""
    match value:
        case Const(value=literal):
            return bool(literal)
        case Seq(items=items):
            return bool(items)
        case ModuleValue():
            return True
    return None
