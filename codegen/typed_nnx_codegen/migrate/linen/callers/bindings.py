"""Which function binds a name that callers read."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.callers.places import Places
from typed_nnx_codegen.migrate.linen.names.bound_names import own_names


def binder_of(name: cst.Name, places: Places) -> cst.CSTNode | None:
    """Return the function whose parameter or variable a name is; None for names of the module."""
    below: cst.CSTNode = name
    for around in places.around(name):
        if isinstance(around, (cst.FunctionDef, cst.Lambda)):
            # Decorators, defaults and the name itself are code of what is around.
            is_inside = below in (around.body, around.params) and not _is_default(name, places)
            if is_inside and name.value in own_names(around):
                return around
        below = around
    return None


def _is_default(name: cst.Name, places: Places) -> bool:
    below: cst.CSTNode = name
    for around in places.around(name):
        if isinstance(around, cst.Param):
            return below is not around.name
        if isinstance(around, cst.BaseStatement):
            return False
        below = around
    return False


def is_variable(node: cst.Name, places: Places) -> bool:
    """Whether a name is read or bound, not the name of a keyword or an attribute."""
    parent = places.parent(node)
    if isinstance(parent, (cst.Arg, cst.Attribute)):
        return parent.value is node
    return True


def variables_in(root: cst.CSTNode, name: str, places: Places) -> list[cst.Name]:
    """Return where a name is read or bound below a node."""
    return [
        node
        for node in descendants(root)
        if isinstance(node, cst.Name)
        and node.value == name
        and node in places
        and is_variable(node, places)
    ]


def same_variable(
    name: str, home: cst.CSTNode | None, tree: cst.Module, places: Places
) -> list[cst.Name]:
    """Return where a variable is read or bound.

    Args:
        name: Its name.
        home: The function that binds it; None for the module.
        tree: The file.
        places: Where the nodes of the file stand.
    """
    found = variables_in(home if home is not None else tree, name, places)
    return [node for node in found if binder_of(node, places) is home]
