"""What Variables hold, as far as a file tells: arrays, or anything."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry, derives
from typed_nnx_codegen.migrate.analysis.syntax import argument, code_of, targets_of
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Array,
    Constant,
    External,
    Instance,
    Plain,
    ProjectClass,
    Value,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.kept_shapes import (
    OPEN,
    OTHER,
    has_fractions,
    is_integer,
    is_scalar,
    is_whole,
    kind_of,
)

# Variables of these types hold arrays unless something else is seen.
_OF_ARRAYS: Final = (
    *("BatchStat", "Cache", "MetricState", "OptState", "Param", "Perturbation", "RngState"),
)
_NUMBERS: Final = frozenset({"bool", "complex", "float", "int", "number"})
# Their results have shapes and types instead of arrays.
_ABSTRACT: Final = frozenset(
    {
        *("jax.eval_shape", "nnx.abstract_with_sharding", "nnx.as_abstract", "nnx.eval_shape"),
        *("nnx.get_abstract_model", "jax.ShapeDtypeStruct"),
    }
)
# They hand on what their argument has.
_HANDING_ON: Final = frozenset(
    {"nnx.clone", "nnx.graphdef", "nnx.merge", "nnx.split", "nnx.state", "nnx.to_flat_state"}
)
_CHANGING_TYPE: Final = (cst.DivideAssign, cst.MatrixMultiplyAssign)


class Contents:
    """Says what the Variables of a file hold.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._mixed: set[tuple[object, str]] = set()
        self._abstract: set[str] = set()

    # -- what the file shows ------------------------------------------------------------------

    def note_write(self, variable: cst.BaseExpression, value: cst.BaseExpression) -> None:
        """Note what a statement stores in a Variable."""
        if not self._may_be_stored_in_array(variable, value):
            self.note_mixed(variable)

    def note_mixed(self, variable: cst.BaseExpression) -> None:
        """Note that a Variable may hold something that is no array."""
        self._mixed.add(self._key(variable))

    def note_assignment(self, node: cst.Assign) -> None:
        """Note names of models that have shapes instead of arrays."""
        if not isinstance(node.value, cst.Call):
            return
        call = node.value
        name = self._file.name(call.func)
        is_abstract = name in _ABSTRACT or (
            isinstance(call.func, cst.Attribute) and call.func.attr.value == "create_abstract"
        )
        if name in _HANDING_ON:
            is_abstract = any(_root(arg.value) in self._abstract for arg in call.args)
        if is_abstract:
            targets = (each for target in node.targets for each in targets_of(target.target))
            self._abstract.update(
                target.value for target in targets if isinstance(target, cst.Name)
            )

    # -- what rules ask -----------------------------------------------------------------------

    def is_variable(self, node: cst.BaseExpression) -> bool:
        """Whether an expression surely is a Variable whose ``value`` is that of NNX."""
        if not self._file.is_a(node, "Variable"):
            return False
        return all(
            isinstance(option, Instance) and not _has_own_value(option)
            for option in options_of(without_none(self._file.value(node)))
        )

    def holds_array(self, variable: cst.BaseExpression) -> bool:
        """Whether a Variable surely holds an array, so that ``v[...]`` reads it."""
        if _root(variable) in self._abstract or self._key(variable) in self._mixed:
            return False
        value = without_none(self._file.value(variable))
        return all(_is_of_array(option) for option in options_of(value))

    def is_kept_by(self, variable: cst.BaseExpression, value: cst.BaseExpression) -> bool:
        """Whether storing a value in place, ``v[...] = value``, is what ``v.value = value`` did."""
        if not self.holds_array(variable):
            return False
        if self._is_number(value):
            return self._holds_scalar(variable) and self._keeps_type(variable, value)
        kind = kind_of(self._file, value, code_of(variable))
        if kind == OTHER:
            return False
        if kind == OPEN and self._made(variable) is None and isinstance(value, cst.Call):
            # What loads weights: the Variable may have a shape without an array, or another type.
            return self._file.name(value.func).startswith("jax.")
        return self._keeps_type(variable, value)

    def is_kept_by_operation(
        self, variable: cst.BaseExpression, operator: cst.BaseAugOp, value: cst.BaseExpression
    ) -> bool:
        """Whether ``v[...] += value`` is what ``v.value += value`` did."""
        if not self.holds_array(variable):
            return False
        if isinstance(operator, cst.MatrixMultiplyAssign):
            return False
        if not self._holds_integers(variable):
            return True
        return not isinstance(operator, _CHANGING_TYPE) and is_whole(self._file, value)

    # -- details ------------------------------------------------------------------------------

    def _key(self, variable: cst.BaseExpression) -> tuple[object, str]:
        """Return what the same Variable has in other functions of the file."""
        if isinstance(variable, cst.Attribute):
            owner = without_none(self._file.value(variable.value))
            if isinstance(owner, Instance):
                return owner.cls, variable.attr.value
        return "", code_of(variable)

    def _may_be_stored_in_array(
        self, variable: cst.BaseExpression, value: cst.BaseExpression
    ) -> bool:
        if self._is_number(value):
            return self._holds_scalar(variable)
        found = self._file.value(value)
        return all(_may_be_array(option) for option in options_of(found))

    def _is_number(self, value: cst.BaseExpression) -> bool:
        return all(_is_number(option) for option in options_of(self._file.value(value)))

    def _made(self, variable: cst.BaseExpression) -> cst.BaseExpression | None:
        """Return the expression that a Variable was made of, where one statement makes it."""
        value = without_none(self._file.value(variable))
        if not isinstance(value, Instance) or value.origin is None:
            return None
        found = argument(value.origin, 0, "value")
        return found.value if found is not None else None

    def _holds_scalar(self, variable: cst.BaseExpression) -> bool:
        made = self._made(variable)
        return made is not None and is_scalar(self._file, made)

    def _holds_integers(self, variable: cst.BaseExpression) -> bool:
        made = self._made(variable)
        return made is not None and is_integer(self._file, made)

    def _keeps_type(self, variable: cst.BaseExpression, value: cst.BaseExpression) -> bool:
        return not (self._holds_integers(variable) and has_fractions(value))


def _has_own_value(value: Instance) -> bool:
    """Whether a class of the project defines ``value`` itself."""
    return any(
        isinstance(base, ProjectClass) and ("value" in base.methods or "value" in base.annotated)
        for base in ancestry(value.cls)[0]
    )


def _is_of_array(value: Value) -> bool:
    if not isinstance(value, Instance):
        return False
    if value.of in (UNKNOWN, NOTHING):
        return derives(value, *_OF_ARRAYS) is True
    return isinstance(value.of, Array)


def _may_be_array(value: Value) -> bool:
    if value in (UNKNOWN, NOTHING) or isinstance(value, (Array, External)):
        return True
    return derives(value, "Variable") is True


def _is_number(value: Value) -> bool:
    return isinstance(value, (Constant, Plain)) and value.type_name in _NUMBERS


def _root(node: cst.BaseExpression) -> str:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""
