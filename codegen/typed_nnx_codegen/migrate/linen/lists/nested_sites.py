"""Submodules in lists that are constructed within the arguments of another submodule."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.plan import Site


def consume_within(sites: Sequence[Site]) -> None:
    """Let what stands for a submodule take those within its arguments off their lists, too.

    In ``nn.SpectralNorm(nn.Dense(4))`` methods only have the outer submodule, so that the list of
    the inner one would be one behind where others are taken from it.

    Args:
        sites: The submodules, with their names.
    """
    listed = [site for site in sites if site.is_listed and not site.is_verbatim]
    around = {site: _outermost(site, sites) for site in listed}
    mixed = {
        _list_of(site)
        for site in listed
        if any(_list_of(other) == _list_of(site) and around[other] is None for other in listed)
    }
    found: dict[Site, list[Site]] = {}
    for site in listed:
        outer = around[site]
        if outer is not None and _list_of(site) in mixed:
            found.setdefault(outer, []).append(site)
    for outer, inner in found.items():
        taken = ", ".join(site.reference for site in inner)
        outer.reference = f"({taken}, {outer.reference})[-1]"


def _list_of(site: Site) -> str:
    return site.attribute.partition(".")[0]


def _outermost(site: Site, sites: Sequence[Site]) -> Site | None:
    found: Site | None = None
    for other in sites:
        if other.node is site.node or other.is_verbatim:
            continue
        if any(site.node in _below(arg) for arg in other.node.args):
            is_wider = found is None or found.node in set(descendants(other.node))
            found = other if is_wider else found
    return found


def _below(node: cst.CSTNode) -> set[cst.CSTNode]:
    return set(descendants(node))
