"""``nnx-plain-container``: a built-in container with data as an attribute that is not marked."""

from __future__ import annotations

from mypy import nodes
from mypy.nodes import Expression
from mypy.types import Instance, ProperType, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.fields import depend_on
from typed_nnx_codegen.facts.kinds import (
    data_in,
    holds_data,
    is_plain_container,
    is_searched_state,
    is_set,
    kind_of,
)
from typed_nnx_codegen.facts.marks import is_stored_as_given, marks_of, marks_on
from typed_nnx_codegen.facts.values import first_data, mark_in_call, may_be_marked, value_holds_data
from typed_nnx_mypy.call import AttributeCheck, ClassCheck
from typed_nnx_mypy.errorcodes import PLAIN_CONTAINER
from typed_nnx_mypy.models.history import is_deleted, is_filled, may_be_data_before
from typed_nnx_mypy.registry import at_end, on_attribute, on_class


@on_attribute
def container_is_marked(check: AttributeCheck) -> None:
    """Report a list, tuple, dict or set with data that is assigned without a mark."""
    owner, checker, value = check.owner, check.checker, check.assigned.value
    depend_on(owner, checker)
    if value is None or not is_stored_as_given(owner) or marks_on(owner, check.name):
        return
    found = check.assigned.type(checker)
    is_empty = isinstance(value, nodes.ListExpr | nodes.DictExpr) and not value.items
    if found is None or is_empty or not _loses_data(check.value, found, checker):
        return
    if any(isinstance(each, nodes.CallExpr) and mark_in_call(each) for each in descendants(value)):
        return  # that is what `nnx-misplaced-mark` is about
    if not may_be_marked(value, checker) and not may_be_data_before(check):
        at = check.statement if check.value is not None else check.assigned.owner
        _report(check, _text(value, found, check), found, at or check.statement)


def _loses_data(value: Expression | None, found: ProperType, checker: Checker) -> bool:
    """Tell whether a value is static without a mark, and surely holds data."""
    is_state = isinstance(found, Instance) and is_searched_state(found.type)
    if value is None:
        return is_state  # unpacked, as of ``self.graph, self.state = nnx.split(...)``
    return (is_state or is_plain_container(found)) and (
        value_holds_data(value, checker) is True or _type_holds(found)
    )


@at_end
def filled_container_is_marked(check: AttributeCheck) -> None:
    """Report a container that was empty when it was assigned and has been filled since."""
    owner, name, value = check.owner, check.name, check.value
    symbol = owner.get(name)
    held = symbol.node if symbol is not None else None
    if value is None or not is_stored_as_given(owner) or marks_on(owner, name):
        return
    if not isinstance(held, nodes.Var) or held.type is None or may_be_marked(value, check.checker):
        return  # as `ModuleList()`, which is an alias of list here and of nnx.List elsewhere
    found = get_proper_type(held.type)
    if not is_plain_container(found) or not _type_holds(found) or may_be_data_before(check):
        return
    if is_filled(owner, name) and not is_deleted(owner, name):
        _report(check, data_in(found), found, check.statement)


def _type_holds(found: ProperType) -> bool:
    if is_set(found):
        # The runtimes do not look into a set, so they lose what it holds without a word.
        assert isinstance(found, Instance)
        return bool(found.args) and kind_of(found.args[0]) is not None
    return holds_data(found) is True


def _text(value: Expression, found: ProperType, check: AttributeCheck) -> str:
    if holds_data(found) or is_set(found):
        return data_in(found)
    part = first_data(value, check.checker) or value
    kind = "dict" if isinstance(value, nodes.DictExpr) else "container"
    return f"{kind} with {data_in(check.checker.type_of(part))}"


def _report(check: AttributeCheck, text: str, found: ProperType, at: nodes.Context) -> None:
    check.report(
        PLAIN_CONTAINER,
        f"`{check.name}` is assigned a {text}, which is static without a mark, so its data is in "
        f"no State. Fix: {_fix(found)}",
        at,
    )


def _fix(found: ProperType) -> str:
    name = found.type.name if isinstance(found, Instance) else "tuple"
    if name == "list":
        return "assign `nnx.List(...)` or `nnx.data(...)`"
    if name in ("dict", "OrderedDict", "defaultdict"):
        return "assign `nnx.Dict(...)` or `nnx.data(...)`"
    if name in ("set", "frozenset"):
        return "assign `nnx.List(...)`: sets have no order, so they cannot be data"
    return "assign `nnx.data(...)`"


@on_class
def field_is_marked(check: ClassCheck) -> None:
    """Report a dataclass field that is a container with data and says nothing of it."""
    owner = check.owner
    marks = marks_of(owner)
    options = owner.metadata.get("dataclass")
    # A frozen dataclass sets its fields without the runtimes.
    if marks is None or options is None or options.get("frozen") or not is_stored_as_given(owner):
        return
    for name, found, statement in check.fields():
        if name not in marks.attributes or marks_on(owner, name):
            continue
        if not is_plain_container(found) or not _type_holds(found):
            continue
        check.report(
            PLAIN_CONTAINER,
            f"`{name}` is a {data_in(found)}, which is static without a mark, so it must not hold "
            f"data. Fix: write `{name}: ... = nnx.data()`",
            statement,
        )
