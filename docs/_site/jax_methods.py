"""Gives the methods that are declared by a function of jax the parameters of that function."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

import griffe
import jax
import jax.numpy as jnp

from docs._site.griffe_objects import functions_in

_DECLARED: Final = re.compile(r"_(method|sampler|initializer)\((jax[\w.]*)\.(\w+)\)")
_HELP: Final = {
    "method": "`{path}` of the value.",
    "sampler": "Draw with `{path}` and the next key.",
    "initializer": "Return `{path}`, taking the next key at each call.",
}
_RESULTS: Final = {"sampler": "Array", "initializer": "KeylessInitializer"}


class JaxMethods(griffe.Extension):
    """Fills in what ``@_method(jax.Array.sum)`` and the like say."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Look at all functions of a package that has been read."""
        del kwargs
        for function in functions_in(pkg):
            for decorator in function.decorators:
                text = str(decorator.value)
                found = _DECLARED.fullmatch(text)
                if found is not None:
                    _fill(function, *found.groups())
                elif text.startswith("_attribute(") and function.parent is not None:
                    attribute = griffe.Attribute(function.name, parent=function.parent)
                    attribute.docstring = function.docstring
                    attribute.labels.add("property")
                    function.parent.members[function.name] = attribute


def _fill(function: griffe.Function, kind: str, module: str, name: str) -> None:
    function.docstring = griffe.Docstring(
        _HELP[kind].format(path=f"{module}.{name}"), parent=function
    )
    signature = _signature(module, name)
    if signature is None:
        function.returns = None
        return
    parameters = list(signature.parameters.values())
    own = [function.parameters[0]]  # self
    for each in parameters[kind != "initializer" :]:  # in place of self or the key
        default = None if each.default is each.empty else repr(each.default)
        annotation = None if each.annotation is each.empty else _public(each.annotation)
        parameter_kind = griffe.ParameterKind(each.kind.description)
        own.append(
            griffe.Parameter(each.name, annotation=annotation, kind=parameter_kind, default=default)
        )
    function.parameters = griffe.Parameters(*own)
    is_empty = signature.return_annotation is signature.empty
    function.returns = _RESULTS.get(
        kind, None if is_empty else _public(signature.return_annotation)
    )


def _public(annotation: object) -> str:
    """Return an annotation of jax without the names of private modules and classes."""
    text = re.sub(r"\b(\w+\.)+(?=[A-Z])", "", str(annotation))
    return re.sub(r"\bP\b", "PartitionSpec", text.replace("ArrayImpl", "Array"))


def _signature(module: str, name: str) -> inspect.Signature | None:
    """Return the signature of a function of jax, or None for one of C."""
    holder: Any = type(jnp.zeros(())) if module == "jax.Array" else jax
    for part in () if module == "jax.Array" else module.split(".")[1:]:
        holder = getattr(holder, part)
    try:
        return inspect.signature(getattr(holder, name))
    except ValueError:
        return None
