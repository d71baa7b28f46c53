"""``nnx-plain-container``: a built-in container with data as an attribute that is not marked."""

from __future__ import annotations

from mypy import nodes
from mypy.nodes import AssignmentStmt, Expression
from mypy.types import Instance, ProperType

from typed_nnx_mypy.assignments import begins_empty
from typed_nnx_mypy.call import AttributeCheck, Call, ClassCheck
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.errorcodes import PLAIN_CONTAINER
from typed_nnx_mypy.models.fields import depend_on
from typed_nnx_mypy.models.history import (
    Place,
    is_deleted,
    is_filled,
    may_be_data_before,
    values_of,
)
from typed_nnx_mypy.models.kinds import (
    data_in,
    holds_data,
    is_plain_container,
    is_pytree,
    is_searched_state,
    is_set,
    kind_of,
)
from typed_nnx_mypy.models.marks import is_stored_as_given, marks_of, marks_on, self_name_of
from typed_nnx_mypy.models.values import (
    container_parts,
    first_data,
    mark_in_call,
    may_be_marked,
    value_holds_data,
)
from typed_nnx_mypy.registry import on_attribute, on_call, on_class
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.targets import is_attribute


@on_attribute
def container_is_marked(check: AttributeCheck) -> None:
    """Report a list, tuple, dict or set with data that is assigned without a mark."""
    depend_on(check.owner, check.checker)
    if not is_stored_as_given(check.owner) or marks_on(check.owner, check.name):
        return
    for assigned in values_of(check):
        if assigned.value is not None and not mark_in_call(assigned.value):
            _assigned(check, assigned.statement, assigned.value)
    if check.is_at_end:
        _at_end(check)


def _assigned(check: AttributeCheck, statement: AssignmentStmt, value: Expression) -> None:
    checker = check.checker
    found = checker.type_of(value)
    is_state = isinstance(found, Instance) and is_searched_state(found.type)
    if not is_state and not is_plain_container(found):
        return
    if value_holds_data(value, checker) is not True and not _type_holds(found):
        return
    if any(isinstance(each, nodes.CallExpr) and mark_in_call(each) for each in descendants(value)):
        return  # that is what `nnx-misplaced-mark` is about
    place = Place(check.owner, check.name, check.function, statement, checker)
    if may_be_marked(value, checker) or may_be_data_before(place):
        return
    _report(checker, check.name, _text(value, found, check), found, statement)


@on_call("split", "split_state")
def unpacked_state_is_marked(call: Call) -> None:
    """Report ``self.graph, self.state = nnx.split(...)``."""
    node, checker = call.expression, call.checker
    statement = checker.parent(node) if node is not None else None
    owner = checker.current_class
    function = checker.function_around(node) if node is not None else None
    if (
        owner is None
        or not is_pytree(owner)
        or not is_stored_as_given(owner)
        or not isinstance(statement, AssignmentStmt)
        or not isinstance(function, nodes.FuncDef)
    ):
        return
    for target in statement.lvalues:
        # The first that `nnx.split` returns is the GraphDef, which is static.
        items = target.items if isinstance(target, nodes.TupleExpr | nodes.ListExpr) else []
        for each in items[1 if call.name == "split" else 0 :]:
            if (
                isinstance(each, nodes.MemberExpr)
                and is_attribute(each, self_name_of(function), each.name)
                and not marks_on(owner, each.name)
                and not may_be_data_before(Place(owner, each.name, function, statement, checker))
            ):
                _report(checker, each.name, "State", None, each)


def _at_end(check: AttributeCheck) -> None:
    """Report a container that was empty when it was assigned and has been filled since."""
    value = check.statement.rvalue
    if not begins_empty(value) or isinstance(value, nodes.NameExpr):
        return
    if may_be_marked(value, check.checker):
        return  # as `ModuleList()`, which is an alias of list here and of nnx.List elsewhere
    if not is_plain_container(check.type) or not _type_holds(check.type):
        return
    if is_filled(check.owner, check.name) and not is_deleted(check.owner, check.name):
        _report(check.checker, check.name, data_in(check.type), check.type, check.statement)


def _type_holds(found: ProperType) -> bool:
    if is_set(found):
        # The runtimes do not look into a set, so they lose what it holds without a word.
        assert isinstance(found, Instance)
        return bool(found.args) and kind_of(found.args[0]) is not None
    return holds_data(found) is True


def _text(value: Expression, found: ProperType, check: AttributeCheck) -> str:
    if holds_data(found) or is_set(found):
        return data_in(found)
    part = next(
        (each for inner in container_parts(value) if (each := first_data(inner, check.checker))),
        value,
    )
    kind = "dict" if isinstance(value, nodes.DictExpr) else "container"
    return f"{kind} with {data_in(check.checker.type_of(part))}"


def _report(
    checker: Checker, name: str, text: str, found: ProperType | None, context: nodes.Context
) -> None:
    checker.report(
        PLAIN_CONTAINER,
        f"`{name}` is assigned a {text}, which is static without a mark, so its data is in "
        f"no State. Fix: {_fix(found)}",
        context,
    )


def _fix(found: ProperType | None) -> str:
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
