"""The modules of a library and the public names that each offers for import."""

from __future__ import annotations

import importlib
import pkgutil
import typing
from types import ModuleType
from typing import Any

from flax import nnx as flax_nnx

# Packages whose names are defined elsewhere: what they hold is there to be used under their name.
GATHERING = frozenset({"", "bridge", "compat"})

# Modules that offer functions of jax under their own name.
OFFERS_JAX = frozenset({"nn.initializers", "nn.activations"})

# Values that do not know where they were defined: constants and aliases of types.
CONSTANTS = {
    "filterlib": ("Filter", "Predicate"),
    "graphlib": ("Key", "PathParts"),
    "nn.initializers": ("Initializer",),
    "rnglib": ("StreamBackup",),
    "spmd": ("PARTITION_NAME",),
    "traversals": ("empty_node",),
}


_TYPE_VARIABLES = (typing.TypeVar, typing.ParamSpec)


def modules_of_flax() -> dict[str, ModuleType]:
    """Map the name below ``flax.nnx`` (``""`` is the package itself) to each of its modules."""
    found = {"": flax_nnx}
    for info in pkgutil.walk_packages(flax_nnx.__path__, "flax.nnx."):
        found[info.name.removeprefix("flax.nnx.")] = importlib.import_module(info.name)
    return found


def attributes_that_are_modules() -> dict[str, str]:
    """Map each module that ``flax.nnx`` has as an attribute to its name below ``flax.nnx``."""
    return {
        attribute: value.__name__.removeprefix("flax.nnx.")
        for attribute, value in vars(flax_nnx).items()
        if isinstance(value, ModuleType) and value.__name__.startswith("flax.nnx.")
    }


def our_module(module: str) -> ModuleType | None:
    """Return our module of that name below the package; None if there is none."""
    name = f"typed_nnx.{module}".rstrip(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return None


def public_names(name: str, module: ModuleType) -> dict[str, Any]:
    """Return what a module of flax offers: what it defines and takes, or all if it is there to gather."""
    return {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_")
        and not isinstance(value, ModuleType)
        and _offered(name, module, key, value)
    }


def _offered(name: str, module: ModuleType, key: str, value: Any) -> bool:
    owner = str(getattr(value, "__module__", ""))
    if key in CONSTANTS.get(name, ()) or name in GATHERING:
        return True
    if name in OFFERS_JAX and owner.startswith("jax"):
        return True
    if vars(flax_nnx).get(key) is value:  # its modules offer what they take from each other, too
        return owner.startswith("flax.")
    return owner == module.__name__ and (callable(value) or isinstance(value, _TYPE_VARIABLES))
