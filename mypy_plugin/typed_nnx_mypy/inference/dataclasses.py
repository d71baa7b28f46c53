"""``nnx.data()`` and ``nnx.static()`` as fields of dataclasses, like ``dataclasses.field``.

mypy itself understands ``nnx.dataclass``, which both runtimes declare as a `dataclass_transform`.
Two things are left. The signatures of flax say that a field with a default is Any, so that the
default would go unchecked. And ``dataclasses.dataclass``, which takes a Pytree too (`frozen=True`
is only there), knows no other field specifier than its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes, types
from mypy.nodes import AssignmentStmt
from mypy.plugin import ClassDefContext, FunctionSigContext
from mypy.types import CallableType, FunctionLike, ProperType, Type, get_proper_type

from typed_nnx_codegen.facts.internals import (
    DataclassTransformer,
    dataclass_class_maker_callback,
    dataclass_makers,
)
from typed_nnx_codegen.facts.names import is_named, runtime_of

SPECIFIERS: Final = frozenset({"data", "static"})
_ENDINGS: Final = tuple(f".{name}" for name in SPECIFIERS)


# -- signatures of the field specifiers -------------------------------------------------------


def is_specifier(fullname: str) -> bool:
    """Tell whether a full name is that of ``nnx.data`` or ``nnx.static``."""
    return fullname.endswith(_ENDINGS) and is_named(fullname, *SPECIFIERS)


def field_signature(context: FunctionSigContext) -> FunctionLike:
    """Return the signature of a field specifier with the type of the default as its result."""
    signature = context.default_signature
    names = signature.arg_names
    if "default" not in names or "default_factory" not in names:
        return signature
    given = {name for name, arguments in zip(names, context.args, strict=False) if arguments}
    if "default" in given:
        # Both are an error at run time: where nothing fits the parameter, mypy says so.
        result = signature.arg_types[names.index("default")]
        return _changed(signature, types.UninhabitedType(), result)
    if "default_factory" in given:
        # Not None, as flax has it: that fails when the default is made.
        factory = _callable_in(get_proper_type(signature.arg_types[names.index("default_factory")]))
        return _changed(signature, factory, factory.ret_type) if factory else signature
    return signature


def _changed(signature: CallableType, factory: Type, result: Type) -> CallableType:
    """Return a signature with another type of the factory and of the result."""
    types = [
        factory if name == "default_factory" else found
        for name, found in zip(signature.arg_names, signature.arg_types, strict=True)
    ]
    return signature.copy_modified(  # pyright: ignore[reportUnknownMemberType]  # mypy's `Bogus`
        arg_types=types, ret_type=result
    )


def _callable_in(found: ProperType) -> CallableType | None:
    items = found.items if isinstance(found, types.UnionType) else [found]
    proper = [get_proper_type(each) for each in items]
    return next((each for each in proper if isinstance(each, CallableType)), None)


# -- dataclasses.dataclass on Pytrees ---------------------------------------------------------


def is_dataclass_maker(fullname: str) -> bool:
    """Tell whether a full name is that of ``dataclasses.dataclass``."""
    return fullname in dataclass_makers


def make_dataclass(context: ClassDefContext) -> bool:
    """Do what mypy does for ``dataclasses.dataclass``, with the field specifiers of NNX.

    Returns:
        Whether all that it needs was known; mypy asks again otherwise.
    """
    specifiers = sorted(set(_specifiers_in(context.cls)))
    is_pytree = any(runtime_of(base.fullname) for base in context.cls.info.mro[1:])
    if not specifiers or not is_pytree:
        return dataclass_class_maker_callback(context)
    spec = nodes.DataclassTransformSpec(
        eq_default=True,
        order_default=False,
        kw_only_default=False,
        frozen_default=False,
        field_specifiers=("dataclasses.Field", "dataclasses.field", *specifiers),
    )
    return DataclassTransformer(context.cls, context.reason, spec, context.api).transform()


def _specifiers_in(definition: nodes.ClassDef) -> Iterator[str]:
    """Yield the full names of the field specifiers that the class body calls."""
    for statement in _assignments(definition.defs):
        value = statement.rvalue
        if (
            isinstance(value, nodes.CallExpr)
            and isinstance(value.callee, nodes.RefExpr)
            and is_specifier(value.callee.fullname)
        ):
            yield value.callee.fullname


def _assignments(block: nodes.Block) -> Iterator[AssignmentStmt]:
    for statement in block.body:
        if isinstance(statement, AssignmentStmt):
            yield statement
        elif isinstance(statement, nodes.IfStmt):
            for inner in (*statement.body, statement.else_body):
                if inner is not None:
                    yield from _assignments(inner)
