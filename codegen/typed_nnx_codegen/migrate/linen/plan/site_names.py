"""Questions about submodules and the names that code gives them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import Site, given_of
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    Grown,
    Headed,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.domain.values import Const, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.layers import find_layer

_PREFIXES: Final = {
    "partitioning.remat": "Core_remat_static",
    "remat": "Checkpoint",
    "checkpoint": "Checkpoint",
    "jit": "Jit",
    "vmap": "Vmap",
    "scan": "Scan",
    "remat_scan": "Remat_scan",
}


def snake_case(name: str) -> str:
    """Return a class name as the name of an attribute: `ResNetBlock` is `res_net_block`."""
    text = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


def plural(name: str) -> str:
    """Return a name for several submodules: `convs` of `conv`, `dense_layers` of `dense`."""
    if name.rpartition("_")[2] in _ADJECTIVES:
        return f"{name}_layers"
    if name.endswith(("s", "x", "z", "ch", "sh")):
        return name if name.endswith("s") and not name.endswith("ss") else f"{name}es"
    is_ies = name.endswith("y") and name[-2:-1] not in "aeiou"
    return f"{name[:-1]}ies" if is_ies else f"{name}s"


_ADJECTIVES: Final = frozenset({"dense", "linear", "general"})


def linen_class_name(site: Site) -> str:
    """Return the name of the class as Linen counts by it: with the transforms around it."""
    around = [getattr(one, "name", "") for one in site.transforms]
    if isinstance(site.target, LinenClass):
        around += site.target.decorators
    prefix = "".join(
        _PREFIXES.get(name.removeprefix(f"{LINEN}."), _PREFIXES.get(name.rpartition(".")[2], ""))
        for name in around
        if name.startswith(LINEN)
    )
    return prefix + site.class_name


def index_of(target: str, header: str) -> str:
    """Return the target of a loop that counts from zero; empty where none does."""
    try:
        targets, values = cst.parse_expression(target), cst.parse_expression(header)
    except cst.ParserSyntaxError:
        return ""
    items = [one.value for one in targets.elements] if isinstance(targets, cst.Tuple) else []
    match values:
        case cst.Call(func=cst.Name(value="range"), args=[cst.Arg(star="")]):
            return code_of(targets)
        case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(star="")]) if items:
            return code_of(items[0])
        case cst.Call(func=cst.Name(value="zip"), args=args) if len(args) == len(items):
            found = (
                index_of(code_of(a), code_of(b.value)) for a, b in zip(items, args, strict=True)
            )
            return next((name for name in found if name), "")
    return ""


def are_texts(code: str) -> bool:
    """Whether code is a literal list of texts."""
    try:
        items: object = ast.literal_eval(code)
    except (SyntaxError, ValueError):
        return False
    return isinstance(items, (tuple, list)) and all(isinstance(item, str) for item in items)


def is_text(
    node: cst.BaseExpression, site: Site, cls: LinenClass, headers: Mapping[int, tuple[str, str]]
) -> bool:
    """Whether an expression is a field that holds a text, or goes over texts.

    Args:
        node: The expression.
        site: The submodule that it names.
        cls: The module.
        headers: The target of each loop of its constructor, and what it goes over.
    """
    match node:
        case cst.Name(value=name):
            around = [headers.get(number, ("", "")) for number in site.loops]
            return any(target == name and are_texts(header) for target, header in around)
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return any(
                one.name == name and code_of(one.annotation.annotation) == "str"
                for one in cls.fields()
            )
    return False


def name_argument(node: cst.Call) -> cst.BaseExpression | None:
    """Return the expression for the name that a submodule is given."""
    return next(
        (one.value for one in node.args if one.keyword and one.keyword.value == "name"), None
    )


def computed(node: cst.Call) -> str:
    """Return the expression in the name that a submodule is given, where there is one."""
    name = name_argument(node)
    return "" if name is None else computed_in(name)


def computed_in(name: cst.BaseExpression) -> str:
    """Return the one expression that is computed in a name; empty where there is none."""
    match name:
        case cst.FormattedString(parts=parts):
            found = [one for one in parts if isinstance(one, cst.FormattedStringExpression)]
            return code_of(found[0].expression) if len(found) == 1 else ""
        case cst.Call(func=cst.Name(value="str"), args=[one]):
            return code_of(one.value)
    return ""


def sites_in(value: Value) -> list[Site]:
    """Return the submodules that a value holds."""
    match value:
        case ModuleValue(site=site):
            return [site]
        case Seq(items=items) | Choice(options=items):
            return [site for item in items for site in sites_in(item)]
        case Table(items=table):
            return [site for item in table.values() for site in sites_in(item)]
        case Repeated(element=element):
            return sites_in(element)
    return []


def is_even(value: Repeated) -> bool:
    """Whether each iteration of a loop makes just one submodule of a list."""
    if isinstance(value, Grown | Headed):
        return False
    loops = [site.loops[-1:] for site in sites_in(value)]
    return len(set(loops)) == len(loops)


def are_alike(one: Site, other: Site) -> bool:
    """Whether two submodules are of one class and made with the same settings."""
    given = [
        {name: bound.code for name, bound in site.given.items() if name != "name"}
        for site in (one, other)
    ]
    is_same = one.target == other.target and one.transforms == other.transforms
    return is_same and given[0] == given[1] and None not in given[0].values()


def is_stateless(site: Site) -> bool:
    """Whether a submodule has no variables, so that its name does not matter."""
    if isinstance(site.target, LinenClass):
        return False
    layer = find_layer(site.target)
    return layer is not None and not layer.variables(given_of(site))


def varies(site: Site) -> bool:
    """Whether the arguments of a submodule differ from one iteration of a loop to the next."""
    return any(
        not isinstance(bound.value, Const) and bound.code is not None and "self." not in bound.code
        for bound in site.given.values()
    )
