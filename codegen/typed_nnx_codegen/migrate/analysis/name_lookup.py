"""Questions about public names: whether a runtime has one, and whether it is an older one."""

from __future__ import annotations

from functools import cache

from typed_nnx_codegen.migrate.analysis.nnx_names import APART, DEPRECATED, MODULES, NAMES


def has_name(runtime: str, public: str) -> bool:
    """Whether a runtime offers a name without a warning.

    Args:
        runtime: ``typed_nnx`` or ``flax.nnx``.
        public: The name below the package: ``Linear``, ``graph.split``, ``nn.linear.Linear``; or a
            module or an attribute that is one.
    """
    if public in NAMES[runtime] or public in MODULES[runtime]:
        return True
    module, _, name = public.rpartition(".")
    return name in _names(runtime, _module(runtime, module))


def has_module(runtime: str, module: str) -> bool:
    """Whether ``import`` finds a module of that name below the package of a runtime.

    Some attributes are modules of another name: ``nnx.metrics`` is, and there is no
    ``import flax.nnx.metrics``.
    """
    return module in NAMES[runtime]


def is_deprecated(runtime: str, public: str) -> bool:
    """Whether a runtime offers a name of the package with a warning."""
    return public in DEPRECATED[runtime].split()


def missing_names(runtime: str, module: str) -> frozenset[str]:
    """Return what flax offers in a module (``""`` is the package) that a runtime does not."""
    return _names("flax.nnx", module) - _names(runtime, module)


def canonical(public: str) -> str:
    """Return the shortest public name of the same object: ``Linear`` for ``nn.linear.Linear``.

    Names that neither runtime has stay as they are.
    """
    module, _, name = public.rpartition(".")
    if not module:
        return public
    for runtime in NAMES:
        real = f"{_module(runtime, module)}.{name}"
        is_there = name in _names(runtime, _module(runtime, module))
        if is_there and name in _names(runtime, "") and real not in APART[runtime].split():
            return name
    return public


def _module(runtime: str, name: str) -> str:
    """Return the name of the module that an attribute of the package stands for."""
    first, dot, rest = name.partition(".")
    return MODULES[runtime].get(first, first) + dot + rest


@cache
def _names(runtime: str, module: str) -> frozenset[str]:
    return frozenset(NAMES[runtime].get(module, "").split())
