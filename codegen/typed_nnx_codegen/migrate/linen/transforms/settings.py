"""Settings of transforms as code, where they are needed: in the constructor, in methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.plan import Bound
from typed_nnx_codegen.migrate.linen.running.values import NONE, Code, Const, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.transforms.lifts import Lift, Unsupported, is_broadcast

Spelled = Callable[[Bound], str]

_TOKEN: Final = re.compile(r"__(dim|lead|site)\d+__")


def in_method(bound: Bound, *, is_here: bool) -> str:
    """Return a setting as it is written in a method.

    Args:
        bound: The setting.
        is_here: Whether the transform is written in the method that is called, so that the names
            in it are those of the call.

    Raises:
        Unsupported: Nothing that the method can see says it.
    """
    code = bound.code
    if code is not None and not _TOKEN.search(code) and (not is_here or _is_global(code)):
        return code
    if is_here and bound.node is not None:
        return code_of(bound.node)
    raise Unsupported("a setting of this transform cannot be said where it is called")


def _is_global(code: str) -> bool:
    """Whether an expression names nothing but attributes of the object, modules and literals."""
    return bool(re.fullmatch(r"[\w.]+|[\w.]*\{.*\}", code)) and (
        "." in code or code in ("None", "True", "False") or code.isdigit() or code[:1] == "{"
    )


def axes_of(lift: Lift, count: int) -> list[Value]:
    """Return the axes of the arguments that a transform maps over, one by one."""
    value = lift.value("in_axes", Const(0))
    if isinstance(value, Seq):
        if len(value.items) < count:
            raise Unsupported(f"`in_axes` of `nn.{lift.kind}` are fewer than the arguments")
        return list(value.items[:count])
    return [value] * count


def axis_code(value: Value, lift: Lift, setting: str, spelled: Spelled) -> str:
    """Return the axes of an argument, or of the results, as code.

    Raises:
        Unsupported: They are not known.
    """
    if is_broadcast(value):
        return "None"
    match value:
        case Const(value=int() as axis):
            return str(axis)
        case Seq(items=items):
            inner = ", ".join(axis_code(one, lift, setting, spelled) for one in items)
            return f"({inner},)" if len(items) == 1 else f"({inner})"
        case Table(items=table):
            inner = ", ".join(
                f"{key!r}: {axis_code(one, lift, setting, spelled)}" for key, one in table.items()
            )
            return f"{{{inner}}}"
        case Code() if lift.given[setting].value == value:
            return spelled(lift.given[setting])
    raise Unsupported(f"`{setting}` of `nn.{lift.kind}` is not known")


def size_setting(lift: Lift) -> Bound | None:
    """Return the setting that says how many steps or members there are."""
    name = "axis_size" if lift.kind == "vmap" else "length"
    bound = lift.given.get(name)
    return None if bound is None or bound.value == NONE else bound


def static_code(lift: Lift, closed: Sequence[int], spelled: Spelled) -> str:
    """Return `static_argnums` where some arguments are no arguments any more.

    Args:
        lift: The transform.
        closed: The positions that are gone; the module is 0.
        spelled: Writes settings.
    """
    bound = lift.given["static_argnums"]
    if not closed:
        return spelled(bound)
    match bound.value:
        case Const(value=int() as number):
            numbers = [number]
        case Seq(items=items) if all(
            isinstance(one, Const) and isinstance(one.value, int) for one in items
        ):
            found = [one.value for one in items if isinstance(one, Const)]
            numbers = [number for number in found if isinstance(number, int)]
        case _:
            raise Unsupported("`static_argnums` is not known")
    left = [
        number - sum(one < number for one in closed) for number in numbers if number not in closed
    ]
    return repr(tuple(left))
