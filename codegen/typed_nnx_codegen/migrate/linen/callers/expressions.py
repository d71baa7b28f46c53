"""Models that callers build of several modules, or of one layer: each is planned as a module of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted, is_name, parts_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass, Method
from typed_nnx_codegen.migrate.linen.domain.code import written_with

# The sizes that helpers take from the arguments of a function without a signature.
_OF_FIRST = frozenset({"in_features", "in_shape"})


def as_module(call: cst.Call, called: LinenClass | None, analysis: Analysis) -> LinenClass | None:
    """Return a module that builds what an expression builds, and calls it.

    Args:
        call: The expression.
        called: The module whose object it gives; None for a layer.
        analysis: The file.

    Returns:
        The module; None where it cannot be called so.
    """
    found = called.method("__call__") if called is not None else None
    if called is not None and found is None:
        return None
    params = found.node.params if found is not None else _ONE_INPUT
    if isinstance(params.star_arg, cst.Param) or params.star_kwarg is not None:
        return None
    positional = [*params.posonly_params, *params.params][1:]
    args = [cst.Arg(cst.Name(one.name.value)) for one in positional]
    args += [
        cst.Arg(cst.Name(one.name.value), cst.Name(one.name.value)) for one in params.kwonly_params
    ]
    returned = cst.SimpleStatementLine([cst.Return(cst.Call(call, args))])
    method = cst.FunctionDef(cst.Name("__call__"), params, cst.IndentedBlock([returned]))
    node = cst.ClassDef(cst.Name(dotted(call.func).rpartition(".")[2]), cst.IndentedBlock([method]))
    cls = LinenClass(node.name.value, node, analysis)
    cls.own_methods["__call__"] = Method("__call__", method, cls, (f"{LINEN}.compact",))
    return cls


_ONE_INPUT = cst.Parameters([cst.Param(cst.Name("self")), cst.Param(cst.Name("inputs"))])


def is_certain(plan: ClassPlan, modules: Iterable[cst.CSTNode]) -> bool:
    """Whether nothing of a model is left to a person.

    Args:
        plan: The plan of the model.
        modules: The expressions in it that give modules: it has to build them all.
    """
    is_sized = all(one.argument or one.default for one in plan.lifted)
    sites = {site.node for site in plan.sites}
    return is_sized and not plan.stays and not plan.marks and sites.issuperset(modules)


def waits_for_first(plan: ClassPlan) -> bool:
    """Whether the first argument of a call tells all sizes that a model waits for."""
    return all(one.name in _OF_FIRST for one in plan.lifted)


def evaluated_in(call: cst.Call) -> Iterator[cst.CSTNode]:
    """Yield the nodes in the arguments of a call that are evaluated with it."""
    waiting: list[cst.CSTNode] = list(call.args)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, cst.Lambda):
            waiting += parts_of(node)


def expression_of(constructor: cst.FunctionDef) -> cst.BaseExpression | None:
    """Return the model that a constructor builds last, with all that it is built of in its place.

    Args:
        constructor: The constructor of a module that `as_module` returned.

    Returns:
        The expression; None where one does not do.
    """
    values: dict[str, cst.BaseExpression] = {}
    last = ""
    for statement in constructor.body.body:
        match statement:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[
                            cst.AssignTarget(
                                target=cst.Attribute(
                                    value=cst.Name(value="self"), attr=cst.Name(value=last)
                                )
                            )
                        ],
                        value=value,
                    )
                ]
            ):
                parts = _attributes(value, values)
                values[last] = written_with(
                    value,
                    {node: values.pop(name) for node, name in parts.items() if name in values},
                )
            case _:
                return None
    # What is read twice, or never, has no place in the expression.
    is_whole = values.keys() == {last} and not _names_self(values[last])
    return values[last] if is_whole else None


def _attributes(node: cst.CSTNode, known: Mapping[str, object]) -> dict[cst.CSTNode, str]:
    return {
        below: below.attr.value
        for below in descendants(node)
        if isinstance(below, cst.Attribute)
        and is_name(below.value, "self")
        and below.attr.value in known
    }


def _names_self(node: cst.CSTNode) -> bool:
    return any(is_name(below, "self") for below in descendants(node))
