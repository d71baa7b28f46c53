"""``nnx-metric-name``: an attribute of a `MultiMetric` that is none of its metrics."""

from __future__ import annotations

from mypy.nodes import CallExpr, MemberExpr, NameExpr, RefExpr, Var
from mypy.types import Instance, Type

from typed_nnx_mypy.call import StateAccess
from typed_nnx_mypy.errorcodes import METRIC_NAME
from typed_nnx_mypy.models.bindings import values_of
from typed_nnx_mypy.names import is_named
from typed_nnx_mypy.registry import infers_access
from typed_nnx_mypy.syntax.assigned import Value, file_of


@infers_access
def metric_is_known(access: StateAccess) -> Type | None:
    """Report ``metrics.name`` where all that `metrics` may be is made without that name."""
    node, found, checker = access.node, access.receiver, access.checker
    if not isinstance(node, MemberExpr) or not isinstance(found, Instance) or access.is_lvalue:
        return None
    variable = node.expr.node if isinstance(node.expr, NameExpr) else None
    is_argument = isinstance(variable, Var) and variable.is_argument
    if found.type.name != "MultiMetric" or is_argument:
        return None
    name, file = node.name, file_of(checker)
    made = [_metrics(each) for each in values_of(node.expr, checker)]
    known = {each for names in made if names is not None for each in names}
    if not made or None in made or name in known or found.type.get(name) is not None:
        return None
    if not (name in file.of_attribute or name in file.keys or checker.is_expected_to_fail(node)):
        names = ", ".join(f"`{each}`" for each in sorted(known)) or "none"
        access.report(
            METRIC_NAME,
            f"MultiMetric: it has no method and no metric `{name}`; its metrics are {names}. "
            f"Fix: one of these, or nnx.MultiMetric({name}=...)",
        )
    return None


def _metrics(value: Value) -> list[str] | None:
    """Return the names of the metrics of ``nnx.MultiMetric(...)``; None of anything else."""
    call = value.inner()
    if call.items or not isinstance(call.value, CallExpr):
        return None
    callee = call.value.callee
    if not isinstance(callee, RefExpr) or not is_named(callee.fullname, "MultiMetric"):
        return None
    names = [name for name in call.value.arg_names if name is not None]
    return names if len(names) == len(call.value.args) else None
