"""The fields that a program adds to its TrainState."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, Array, External, Plain, ProjectClass
from typed_nnx_codegen.migrate.linen.callers.training.state_values import NotKnownError

# Types of what an attribute of an NNX object carries as it is: arrays and numbers.
_CARRIED: Final = frozenset(
    {
        "chex.Array",
        "chex.PRNGKey",
        "jax.Array",
        "jax.numpy.ndarray",
        "builtins.int",
        "builtins.float",
    }
)


@dataclass(frozen=True)
class Field:
    """A field that a program adds to its TrainState.

    Attributes:
        name: Its name.
        annotation: Its type.
        default: Its default; None if it has none.
    """

    name: str
    annotation: cst.BaseExpression
    default: cst.BaseExpression | None


def fields_of(
    cls: ProjectClass, collections: frozenset[str], analysis: Analysis
) -> tuple[Field, ...]:
    """Return the fields of a class, those for collections of variables apart.

    Args:
        cls: The class, right below TrainState.
        collections: The fields that have collections of variables.
        analysis: The file.

    Raises:
        NotKnownError: It has something else than fields of arrays and numbers.
    """
    if len(cls.bases) != 1 or cls.node.decorators or cls.node.keywords:
        raise NotKnownError(f"`{cls.name}` has other bases, or decorators")
    found: list[Field] = []
    for statement in cls.node.body.body:
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.AnnAssign(target=cst.Name(value=name), annotation=said, value=default)]
            ):
                if name in collections:
                    continue
                if not _is_carried(analysis, said.annotation):
                    raise NotKnownError(f"`{cls.name}.{name}` may hold more than arrays")
                found.append(Field(name, said.annotation, default))
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString()) | cst.Pass()]):
                pass
            case _:
                raise NotKnownError(f"`{cls.name}` has more than fields: `{code_of(statement)}`")
    return tuple(found)


def _is_carried(analysis: Analysis, annotation: cst.BaseExpression) -> bool:
    value = analysis.values.get(annotation, UNKNOWN)
    if isinstance(value, (Array, Plain)):
        return True
    return isinstance(value, External) and value.name in _CARRIED
