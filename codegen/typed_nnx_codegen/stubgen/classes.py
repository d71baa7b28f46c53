"""Classes in stubs: their attributes and the signatures of their methods."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
import libcst.matchers as m

from typed_nnx_codegen.stubgen.errors import StubError
from typed_nnx_codegen.stubgen.functions import decorator_name, function_stub, is_overload
from typed_nnx_codegen.stubgen.statements import (
    ELLIPSIS,
    assigned_name,
    code_of,
    small,
    unconditional,
)


def class_stub(definition: cst.ClassDef, module: str) -> cst.ClassDef:
    """Return a class without the bodies of its methods.

    Args:
        definition: The class.
        module: The module it is in, for errors.

    Raises:
        StubError: A public attribute is assigned in a method and has no annotation.
    """
    statements = list(unconditional(definition.body.body))
    kept: list[cst.BaseStatement] = []
    declared: set[str] = set()
    overloaded: set[str] = set()
    keeps_defaults = _keeps_defaults(definition)
    for statement in statements:
        if isinstance(statement, cst.FunctionDef):
            name = statement.name.value
            if is_overload(statement):
                overloaded.add(name)
            elif name in overloaded:
                continue
            declared.add(name)
            kept.append(function_stub(statement))
        elif isinstance(statement, cst.ClassDef):
            kept.append(class_stub(statement, module))
        else:
            attribute = _attribute(statement, keeps_defaults)
            if attribute is not None:
                declared.add(assigned_name(statement) or "")
                kept.append(attribute)
    found = {n: t for n, t in _assigned(definition, module) if n not in declared}
    attributes = [cst.parse_statement(f"{name}: {type_}\n") for name, type_ in found.items()]
    body = [*attributes, *kept] or [cst.SimpleStatementLine([ELLIPSIS])]
    return definition.with_changes(body=cst.IndentedBlock(body), leading_lines=())


def _keeps_defaults(definition: cst.ClassDef) -> bool:
    """Whether an attribute with a value is an argument with a default of the constructor."""
    is_tuple = any(m.matches(base.value, m.Name("NamedTuple")) for base in definition.bases)
    return is_tuple or any(decorator_name(d) == "dataclass" for d in definition.decorators)


def _attribute(statement: cst.BaseStatement, keeps_defaults: bool) -> cst.BaseStatement | None:
    """Return the stub of a statement in the body of a class; None for what is of no interest."""
    inner, name = small(statement), assigned_name(statement)
    if name is None or name == "__slots__":
        return None
    if isinstance(inner, cst.AnnAssign):
        annotation = code_of(inner.annotation.annotation).strip()
        default = " = ..." if keeps_defaults and inner.value is not None else ""
        return cst.parse_statement(f"{name}: {annotation}{default}\n")
    assert isinstance(inner, cst.Assign)
    return cst.parse_statement(f"{name} = {code_of(inner.value).strip()}\n")


def _assigned(definition: cst.ClassDef, module: str) -> Iterator[tuple[str, str]]:
    """Yield name and type of the attributes that methods assign.

    The type is that of the annotation, or of the parameter that is assigned; of what is private it
    may be anything.
    """
    found: dict[str, str] = {}
    is_private = definition.name.value.startswith("_")
    methods = [n for n in definition.body.body if isinstance(n, cst.FunctionDef)]
    for method in methods:
        for node in m.findall(method.body, _ANNOTATED):
            assert isinstance(node, cst.AnnAssign)
            found[_attribute_name(node.target)] = code_of(node.annotation.annotation).strip()
    for method in methods:
        types = _parameter_types(method)
        for node in m.findall(method.body, _PLAIN):
            assert isinstance(node, cst.Assign)
            name = _attribute_name(node.targets[0].target)
            if name in found:
                continue
            type_ = types.get(node.value.value) if isinstance(node.value, cst.Name) else None
            if type_ is None and not (is_private or name.startswith("_")):
                if _is_declared(definition, name):
                    continue
                raise StubError(
                    f"{module}, class {definition.name.value}",
                    f"the attribute {name!r} is assigned without an annotation",
                    f"write `self.{name}: <type> = ...` in {method.name.value}",
                )
            found[name] = type_ or "Any"
    yield from found.items()


_SELF = m.Attribute(value=m.Name("self"), attr=m.Name())
_ANNOTATED = m.AnnAssign(target=_SELF)
_PLAIN = m.Assign(targets=[m.AssignTarget(target=_SELF)])


def _attribute_name(target: cst.BaseExpression) -> str:
    assert isinstance(target, cst.Attribute)
    return target.attr.value


def _parameter_types(method: cst.FunctionDef) -> dict[str, str]:
    parameters = method.params
    every = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return {
        found.name.value: code_of(found.annotation.annotation).strip()
        for found in every
        if found.annotation is not None
    }


def _is_declared(definition: cst.ClassDef, name: str) -> bool:
    return any(assigned_name(s) == name for s in unconditional(definition.body.body))
