"""Cells that are only built for their first carry: it is zeros, and the cells need not be there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.layers import Given, find_layer
from typed_nnx_codegen.migrate.linen.layers.cells import CellLayer
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import Block, Compound, Line, Recorder

_METHOD: Final = "initialize_carry"


def drop_carry_cells(recorder: Recorder, refer: Callable[[str], str]) -> None:
    """Write the first carries of cells that nothing else calls, and leave the cells out.

    Linen counts such a cell when it names others, so this comes after all have their names.

    Args:
        recorder: What was seen of a module.
        refer: Gives the code for a public name.
    """
    plan = recorder.plan
    zeros = refer("jax.numpy.zeros")
    for site in list(plan.sites):
        calls = _carries(site, recorder)
        if not calls:
            continue
        uses = _uses(site, list(calls))
        if uses is None:
            continue
        for call, code in calls.items():
            plan.replacements[call] = code.replace("jnp.zeros", zeros)
            del recorder.edits[call]
        plan.dropped |= uses
        plan.sites.remove(site)
        recorder.block = list(_without(recorder.block, site))


def _carries(site: Site, recorder: Recorder) -> dict[cst.Call, str]:
    """Return the code of the first carries that calls of a cell return; none to leave it."""
    layer = find_layer(site.target) if isinstance(site.target, str) else None
    is_plain = not (site.is_verbatim or site.is_listed or site.transforms or site.loops)
    if not isinstance(layer, CellLayer) or not is_plain or not site.calls:
        return {}
    if any(method != _METHOD for _, method, _ in site.calls):
        return {}
    found: dict[cst.Call, str] = {}
    for call, edits in recorder.edits.items():
        if all(edit.site is not site for edit in edits):
            continue
        shape = _argument(call, 1, "input_shape")
        given = _written(site)
        if shape is None or given is None or len(edits) != 1:
            return {}
        code = layer.first_carry(given, code_of(shape))
        if code is None:
            return {}
        found[call] = code
    return found


def _written(site: Site) -> Mapping[str, Given] | None:
    """Return the arguments of a constructor as they are written; None where some are not."""
    if any(one.hidden or one.node is None for one in site.given.values()):
        return None
    return {
        name: Given(code_of(one.node), one.value, one.keyword)
        for name, one in site.given.items()
        if one.node is not None
    }


def _argument(call: cst.Call, position: int, name: str) -> cst.BaseExpression | None:
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg.value
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    return plain[position] if len(plain) > position else None


def _uses(site: Site, calls: list[cst.Call]) -> set[cst.CSTNode] | None:
    """Return the statement that binds a cell, if any; None where more than the calls read it."""
    receivers = [call.func.value for call in calls if isinstance(call.func, cst.Attribute)]
    if receivers == [site.node]:
        return set()
    if site.method_node is None:
        return None
    for line in descendants(site.method_node):
        match line:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)], value=value)
                ]
            ) if value is site.node:
                named = [
                    one
                    for one in descendants(site.method_node)
                    if isinstance(one, cst.Name) and one.value == target.value
                ]
                others = [one for one in named if one is not target and one not in receivers]
                return None if others else {line}
    return None


def _without(block: Block, site: Site) -> Iterator[Line | Compound]:
    """Yield the lines of a block without the one that builds a cell."""
    for line in block:
        if isinstance(line, Compound):
            line.body = list(_without(line.body, site))
            line.orelse = list(_without(line.orelse, site))
        elif line.site is site:
            continue
        yield line
