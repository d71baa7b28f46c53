"""Linen modules within NNX modules: `nnx.bridge.ToNNX(Old(...), rngs=rngs).lazy_init(...)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOTHING
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, public_linen
from typed_nnx_codegen.migrate.linen.plan import Site, given_of
from typed_nnx_codegen.migrate.linen.running.values import Array, Const, Seq, Value
from typed_nnx_codegen.migrate.linen.writing.templates import Templates

# What NNX keeps of a call, and Linen only where its caller asks for it.
_UPDATED = '{name}(("params", "intermediates"))'
_DTYPES = frozenset({"float32", "float16", "bfloat16", "int32", "int8", "uint8", "uint32", "bool_"})


def class_code(site: Site, owner: LinenClass) -> str | None:
    """Return how the Linen class of a submodule is written; None where that is not sure."""
    if isinstance(site.target, LinenClass):
        return site.code or code_of(site.node.func)
    value = owner.analysis.values.get(site.node.func, NOTHING)
    if isinstance(value, External) and public_linen(value.name) == site.target:
        return code_of(site.node.func)
    return site.code or None


def bridged(
    name: str, site: Site, inputs: str | None, rngs: str, refer: Callable[[str], str]
) -> str:
    """Return the code that constructs a Linen submodule of an NNX module.

    Args:
        name: The Linen class.
        site: The submodule.
        inputs: The arguments of a first call; None where they are not known.
        rngs: The random streams.
        refer: Spells public names.
    """
    arguments = [
        f"{key}={one.code}" if one.keyword else str(one.code)
        for key, one in site.given.items()
        if not one.hidden and key != "name" and one.code is not None
    ]
    code = f"{refer('nnx.bridge')}.ToNNX({name}({', '.join(arguments)}), rngs={rngs})"
    return code if inputs is None else f"{code}.lazy_init({inputs})"


def changes_variables(site: Site, updates: Mapping[LinenClass, bool]) -> bool:
    """Whether calls of a submodule may change variables other than parameters."""
    if isinstance(site.target, LinenClass):
        return updates.get(site.target, True)
    layer = find_layer(site.target)
    if layer is None:
        return True
    return any(not one.linen.startswith("params/") for one in layer.variables(given_of(site)))


def mutable(refer: Callable[[str], str]) -> str:
    """Return the argument with which a call keeps what it changes, as NNX does."""
    return f"mutable={_UPDATED.format(name=refer('flax.core.DenyList'))}"


def first_inputs(
    site: Site,
    visible: Callable[[Value], Value],
    templates: Templates,
    refer: Callable[[str], str],
) -> str | None:
    """Return the arguments of a first call of a submodule; None where they are not known.

    Args:
        site: The submodule.
        visible: Takes from a value what cannot be said in the constructor.
        templates: Writes sizes into code.
        refer: Spells public names.
    """
    optional = _optional(site)
    for _, method, values in site.calls:
        if method != "__call__":
            continue
        codes: list[str] = []
        for name, value in values.items():
            code = _zeros(visible(value), templates, refer)
            if code is not None:
                codes.append(code if name.startswith("*") else f"{name}={code}")
            elif name not in optional:
                break
        else:
            return ", ".join(codes)
    return None


def _optional(site: Site) -> set[str]:
    """Return the parameters of a call that have a default."""
    if not isinstance(site.target, LinenClass):
        return set()
    method = site.target.method("__call__")
    if method is None:
        return set()
    return {one.name.value for one in method.parameters() if one.default is not None}


def _zeros(value: Value, templates: Templates, refer: Callable[[str], str]) -> str | None:
    match value:
        case Array(shape=shape, dtype=dtype):
            if any(dim is None for dim in shape.dims):
                return None
            parts = [templates.token(dim) for dim in shape.dims if dim is not None]
            if shape.lead is not None:
                if not shape.lead.argument:
                    return None
                parts.insert(0, f"*{templates.lead_token(shape.lead)}")
            kind = f", {refer(f'jax.numpy.{dtype}')}" if dtype in _DTYPES else ""
            return f"{refer('jax.numpy.zeros')}(({', '.join(parts)},){kind})"
        case Const(value=bool() | int() | float() | str() | None as literal):
            return repr(literal)
        case Seq(items=items):
            codes = [_zeros(item, templates, refer) for item in items]
            if None in codes:
                return None
            return f"({', '.join(str(code) for code in codes)},)" if codes else "()"
    return None
