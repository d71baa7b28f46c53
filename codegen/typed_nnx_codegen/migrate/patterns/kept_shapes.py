"""Whether a new value has the shape and the type of the array that a Variable holds."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import argument, code_of, descendants, number_of
from typed_nnx_codegen.migrate.file import File

SAME: Final = "same"
OPEN: Final = "open"
OTHER: Final = "other"

# Functions and methods that give an array of another shape, type or place than they take.
_CHANGING: Final = frozenset(
    {
        *("append", "astype", "block", "broadcast_to", "column_stack", "concatenate", "delete"),
        *("device_put", "diag", "dstack", "expand_dims", "flatten", "hstack", "insert"),
        *("moveaxis", "pad", "ravel", "repeat", "reshape", "resize", "split", "squeeze"),
        *("stack", "swapaxes", "tile", "transpose", "view", "vstack", "with_sharding_constraint"),
    }
)
# Functions that make an array of a shape that is an argument.
_MAKING: Final = frozenset(
    {
        *("arange", "empty", "eye", "full", "identity", "linspace", "ones", "zeros"),
        *("bernoulli", "categorical", "gumbel", "normal", "randint", "truncated_normal", "uniform"),
    }
)
_REDUCING: Final = frozenset(
    {
        *("all", "any", "argmax", "argmin", "dot", "item", "matmul", "max", "mean", "min"),
        *("prod", "std", "sum", "tolist", "var"),
    }
)
_INDEX_UPDATES: Final = frozenset(
    {"add", "apply", "divide", "max", "min", "mul", "multiply", "power", "set"}
)
_INTEGERS: Final = ("bool", "int", "uint")
_ARRAY_OF: Final = frozenset({"array", "asarray"})


def kind_of(file: File, value: cst.BaseExpression, variable: str) -> str:
    """Say what an expression is beside the array that a Variable holds.

    Args:
        file: The file.
        value: The expression.
        variable: The code of the Variable.

    Returns:
        `SAME` for the shape and type of that array, `OTHER` for others, `OPEN` where nothing tells.
    """
    match value:
        case cst.Attribute(attr=cst.Name(value="value")) if code_of(value.value) == variable:
            return SAME
        case cst.Attribute(attr=cst.Name(value="T" | "mT")):
            return OTHER
        case cst.Subscript():
            return _of_item(file, value, variable)
        case cst.BinaryOperation():
            return _of_operation(file, value, variable)
        case cst.UnaryOperation():
            return kind_of(file, value.expression, variable)
        case cst.IfExp():
            kinds = {kind_of(file, part, variable) for part in (value.body, value.orelse)}
            return OTHER if OTHER in kinds else (OPEN if OPEN in kinds else SAME)
        case cst.Call():
            return _of_call(file, value, variable)
        case _:
            return OPEN


def _of_item(file: File, value: cst.Subscript, variable: str) -> str:
    if code_of(value) == f"{variable}[...]":
        return SAME
    return OTHER if kind_of(file, value.value, variable) == SAME else OPEN


def _of_operation(file: File, value: cst.BinaryOperation, variable: str) -> str:
    kinds = {kind_of(file, part, variable) for part in (value.left, value.right)}
    if isinstance(value.operator, cst.MatrixMultiply):
        return OTHER if SAME in kinds or OTHER in kinds else OPEN
    if SAME in kinds:
        return SAME
    return OTHER if OTHER in kinds else OPEN


def _of_call(file: File, call: cst.Call, variable: str) -> str:
    name = _last_name(file, call)
    if name in _INDEX_UPDATES and _is_index_update(call):
        return SAME
    if name in _CHANGING:
        return OTHER
    if name in _MAKING:
        return SAME if _reads_shape(call, variable) else OTHER
    if name in _ARRAY_OF and argument(call, 1, "dtype") is not None:
        return OTHER
    subjects = [arg.value for arg in call.args[:1]]
    if isinstance(call.func, cst.Attribute):
        subjects.append(call.func.value)
    kinds = {kind_of(file, subject, variable) for subject in subjects}
    if name in _REDUCING and SAME in kinds:
        return OTHER
    return OPEN


def _last_name(file: File, call: cst.Call) -> str:
    """Return the last name of the function or method that is called."""
    public = file.name(call.func)
    if public:
        return public.rpartition(".")[2]
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def _is_index_update(call: cst.Call) -> bool:
    match call.func:
        case cst.Attribute(value=cst.Subscript(value=cst.Attribute(attr=cst.Name(value="at")))):
            return True
        case _:
            return False


def _reads_shape(call: cst.Call, variable: str) -> bool:
    """Whether an array is made of the shape of what the Variable holds."""
    shapes = {f"{variable}.shape", f"{variable}.value.shape", f"{variable}[...].shape"}
    return any(
        isinstance(node, cst.Attribute) and code_of(node) in shapes for node in descendants(call)
    )


# -- how an array was made ----------------------------------------------------------------------


def is_scalar(file: File, made: cst.BaseExpression) -> bool:
    """Whether an expression surely makes an array without axes: ``jnp.array(0)``."""
    if not isinstance(made, cst.Call) or not file.name(made.func).startswith(("jax.", "numpy.")):
        return False
    name = _last_name(file, made)
    first = argument(made, 0, "shape")
    if name in {"zeros", "ones", "full", "empty"}:
        return first is not None and code_of(first.value).strip() in {"()", "[]"}
    content = argument(made, 0, "object") or first
    return content is not None and (name in _ARRAY_OF or _names_type(name)) and _number(content)


def is_integer(file: File, made: cst.BaseExpression) -> bool:
    """Whether an expression surely makes an array of whole numbers: ``jnp.array(0)``."""
    if not isinstance(made, cst.Call) or not file.name(made.func).startswith(("jax.", "numpy.")):
        return False
    name = _last_name(file, made)
    if name.startswith(_INTEGERS):
        return True
    types = [
        node.attr.value
        for arg in made.args
        for node in descendants(arg.value)
        if isinstance(node, cst.Attribute) and _names_type(node.attr.value)
    ]
    if types:
        return all(each.startswith(_INTEGERS) for each in types)
    if any(arg.keyword is not None and arg.keyword.value == "dtype" for arg in made.args):
        return False
    first = argument(made, 0, "object")
    if name == "full":
        first = argument(made, 1, "fill_value")
    elif name not in {*_ARRAY_OF, "arange"}:
        return False
    return first is not None and isinstance(number_of(first.value), int)


def is_whole(file: File, value: cst.BaseExpression) -> bool:
    """Whether an expression surely is a whole number of Python: ``1``, ``len(x)``, ``x.shape[0]``."""
    match value:
        case cst.Integer():
            return True
        case cst.Call(func=cst.Name(value="len" | "int")):
            return True
        case cst.Attribute(attr=cst.Name(value="size" | "ndim")):
            return True
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape"))):
            return True
        case cst.BinaryOperation():
            parts = (value.left, value.right)
            divides = isinstance(value.operator, (cst.Divide, cst.Power))
            return not divides and all(is_whole(file, part) for part in parts)
        case _:
            return is_integer(file, value)


def has_fractions(value: cst.BaseExpression) -> bool:
    """Whether an expression divides or has a number with a point, so that it may be a float."""
    return any(isinstance(node, (cst.Divide, cst.Float)) for node in descendants(value))


def _names_type(name: str) -> bool:
    return name.startswith((*_INTEGERS, "float", "bfloat", "complex")) and name != "bool_"


def _number(arg: cst.Arg) -> bool:
    if isinstance(arg.value, cst.Name):
        return arg.value.value in {"True", "False"}
    return number_of(arg.value) is not None
