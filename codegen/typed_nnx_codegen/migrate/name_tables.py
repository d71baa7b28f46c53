"""Write ``analysis/nnx_names.txt``: the public names of flax.nnx and of typed_nnx, by module.

Run ``python -m typed_nnx_codegen.migrate.name_tables --write`` after an update of flax or when
typed_nnx gets a new name, and ``--check`` to learn whether the file is current. Names come from the
modules as they are installed.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import sys
import textwrap
import typing
import warnings
from collections.abc import Container, Mapping
from types import ModuleType

import flax
import flax.nnx

import typed_nnx
import typed_nnx.migrated  # an attribute of the package once something has imported it
from typed_nnx_codegen.generated_file import write_or_check
from typed_nnx_codegen.migrate.analysis.name_lookup import SIGNS, TABLE

COMMAND = "python -m typed_nnx_codegen.migrate.name_tables --write"
Rows = Mapping[str, set[str]]
RUNTIMES = {"flax.nnx": flax.nnx, "typed_nnx": typed_nnx}

# Values that do not say where they were defined: constants and aliases of types.
_CONSTANTS = {
    "filterlib": ("Filter", "Predicate"),
    "graph": ("Key", "PathParts"),
    "graphlib": ("Key", "PathParts"),
    "nn.initializers": ("Initializer",),
    "rnglib": ("StreamBackup",),
    "spmd": ("PARTITION_NAME",),
    "traversals": ("empty_node",),
}

# Modules that offer functions of jax under their own name.
_OFFERS_JAX = frozenset({"nn.initializers", "nn.activations"})

# What the package has for its own source.
_OF_THE_SOURCE = frozenset({"TYPE_CHECKING"})

_NO_NAMES = (ModuleType, typing.TypeVar, typing.ParamSpec)

_WIDTH = 100

_HEADER = """\
# The public names of flax.nnx and of typed_nnx, by module.
# Written by `{command}` from flax {version}. Do not edit.
# A - stands before what flax.nnx alone has, a + before what typed_nnx alone has.
# modules: attributes of the package that are modules of another name, or ours alone.
# apart: names of modules that the package has too, where the objects are not the same.
"""


@functools.cache
def modules(runtime: str) -> dict[str, ModuleType]:
    """Map each public module of a runtime, named below its package, to itself.

    Of our modules only those that flax has: what is ours alone, no older program imports.
    """
    package = RUNTIMES[runtime]
    found = {"": package}
    for info in pkgutil.walk_packages(flax.nnx.__path__, "flax.nnx."):
        name = info.name.removeprefix("flax.nnx.")
        if importlib.util.find_spec(f"{runtime}.{name}") is not None:
            found[name] = importlib.import_module(f"{runtime}.{name}")
    return found


def names(runtime: str, module: str) -> list[str]:
    """Return the names that a module of a runtime offers, modules aside.

    Of our modules only those that flax's has, and all of the package. What our modules import for
    themselves is no reason to write the file anew.
    """
    own = modules(runtime)[module]
    source = own if not module else modules("flax.nnx")[module]
    owner = runtime if not module else "flax.nnx"
    offered = [
        name for name, value in vars(source).items() if _is_offered(owner, module, name, value)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(name for name in offered if hasattr(own, name))


def _is_offered(runtime: str, module: str, name: str, value: object) -> bool:
    if name.startswith("_") or name in _OF_THE_SOURCE or isinstance(value, _NO_NAMES):
        return False
    if not module or name in _CONSTANTS.get(module, ()) or isinstance(value, functools.partial):
        return True
    owner = str(getattr(value, "__module__", ""))
    if module in _OFFERS_JAX and owner.startswith("jax"):
        return True
    return owner.startswith(runtime) and callable(value)


def attributes_that_are_modules(runtime: str) -> dict[str, str]:
    """Map the attributes of a package that are modules of another name, or ours alone, to their name."""
    found = {
        attribute: value.__name__.removeprefix(f"{runtime}.")
        for attribute, value in sorted(vars(RUNTIMES[runtime]).items())
        if isinstance(value, ModuleType) and value.__name__.startswith(f"{runtime}.")
    }
    known = modules(runtime)
    return {
        attribute: name
        for attribute, name in found.items()
        if attribute != name or not (name in known or name.startswith("_"))
    }


def apart(runtime: str) -> list[str]:
    """Return the dotted names whose last part the package has too, for another object."""
    package = vars(RUNTIMES[runtime])
    return sorted(
        f"{module}.{name}"
        for module, value in modules(runtime).items()
        for name in names(runtime, module)
        if module and name in package and package[name] is not getattr(value, name)
    )


def rows(runtime: str) -> dict[str, set[str]]:
    """Return the rows of the table for a runtime."""
    attributes = attributes_that_are_modules(runtime).items()
    return {
        **{f"nnx.{module}".rstrip("."): set(names(runtime, module)) for module in modules(runtime)},
        "modules": {f"{attribute}={name}" for attribute, name in attributes},
        "apart": set(apart(runtime)),
    }


def render() -> str:
    """Return the text of the table."""
    flax_rows, our_rows = map(rows, SIGNS)
    lines = [
        textwrap.fill(
            " ".join(
                [f"{_marked(title, flax_rows, our_rows)}:", *_merged(title, flax_rows, our_rows)]
            ),
            _WIDTH,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for title in flax_rows
    ]
    head = _HEADER.format(command=COMMAND, version=flax.__version__)
    return head + "\n".join(lines) + "\n"


def _merged(title: str, theirs: Rows, ours: Rows) -> list[str]:
    """Return the names of a row of both runtimes."""
    both = theirs[title], ours.get(title, set())
    return [_marked(name, *both) for name in sorted(both[0] | both[1])]


def _marked(name: str, theirs: Container[str], ours: Container[str]) -> str:
    """Return a name with the sign of the one runtime that has it."""
    return name if name in theirs and name in ours else f"{'-' if name in theirs else '+'}{name}"


def main(arguments: list[str] | None = None) -> int:
    """Write the file or say whether it is current; return the exit status."""
    return write_or_check(TABLE, render(), f"flax {flax.__version__}", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
