"""The variables of a submodule whose class a field holds, where it holds another layer than known.

Linen counts by the name of the class: ``norm=nn.RMSNorm`` makes ``RMSNorm_0`` of what is
``LayerNorm_0`` by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN
from typed_nnx_codegen.migrate.linen.names.site_names import linen_class_name
from typed_nnx_codegen.migrate.linen.plan import Entry, Site

# Layers that one field may hold, since they are constructed and called alike.
_ALIKE: Final = (
    ("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm", "InstanceNorm"),
    ("Dense", "DenseGeneral"),
)


def entries_of_others(sites: Sequence[Site]) -> Iterator[Entry]:
    """Yield where the variables of other layers are, which fields may hold instead."""
    counted = {linen_class_name(one) for site in sites for one in (site, *site.alternatives)}
    for site in sites:
        is_held = site.code.startswith("self.") and site.linen and site.attribute
        if not is_held or site.explicit or site.transforms or site.stacks or site.is_bridged:
            continue
        name = linen_class_name(site)
        family = next((names for names in _ALIKE if name in names), ())
        for other in family:
            if other not in counted:
                linen = site.linen.replace(name, other, 1)
                yield from _entries(f"{LINEN}.{other}", linen, site.attribute)


def _entries(public: str, linen: str, attribute: str) -> Iterator[Entry]:
    layer = find_layer(public)
    if layer is None:
        return
    for one in layer.variables({}):
        collection, _, name = one.linen.partition("/")
        yield Entry(f"{collection}/{linen}/{name}", f"{attribute}.{one.nnx}")
