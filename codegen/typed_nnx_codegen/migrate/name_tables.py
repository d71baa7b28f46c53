"""Write ``analysis/nnx_names.py``: the public names of flax.nnx and of typed_nnx, by module.

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
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import flax
import flax.nnx

import typed_nnx
import typed_nnx.migrated  # an attribute of the package once something has imported it
from typed_nnx_codegen.generated_file import write_or_check
from typed_nnx_codegen.migrate.analysis.nnx_classes import CLASSES, FUNCTIONS

COMMAND = "python -m typed_nnx_codegen.migrate.name_tables --write"
TARGET = Path(__file__).parent / "analysis" / "nnx_names.py"

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

_LINE_LENGTH = 100

_NO_NAMES = (ModuleType, typing.TypeVar, typing.ParamSpec)

_HEADER = '''\
"""The public names of flax.nnx and of typed_nnx, by module.

Written by ``{command}`` from flax {version}. Do not edit.
"""

from __future__ import annotations

from typing import Final

'''

_DOCS = {
    "NAMES": "The names of each module, which is named below the package; the package itself is empty.",
    "DEPRECATED": "The names of the package that warn when they are looked up.",
    "MODULES": "Attributes of the package that are modules of another name, or ours alone.",
    "APART": "Names of modules that the package has too, where the objects are not the same.",
}


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


def deprecated(runtime: str) -> list[str]:
    """Return the names of a package that it gives when asked, and does not show."""
    package = RUNTIMES[runtime]
    candidates = {*CLASSES, *FUNCTIONS}.difference(vars(package))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(name for name in candidates if hasattr(package, name))


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


def render() -> str:
    """Return the text of the generated module, formatted as ruff formats it."""
    listed = {
        runtime: {module: " ".join(names(runtime, module)) for module in modules(runtime)}
        for runtime in RUNTIMES
    }
    return _HEADER.format(command=COMMAND, version=flax.__version__) + "\n".join(
        [
            _table("NAMES", listed),
            _table("MODULES", {each: attributes_that_are_modules(each) for each in RUNTIMES}),
            _table("DEPRECATED", {each: " ".join(deprecated(each)) for each in RUNTIMES}),
            _table("APART", {each: " ".join(apart(each)) for each in RUNTIMES}),
        ]
    )


def _table(title: str, values: Mapping[str, str | Mapping[str, str]]) -> str:
    is_nested = not all(isinstance(value, str) for value in values.values())
    kind = "dict[str, dict[str, str]]" if is_nested else "dict[str, str]"
    entries = "".join(_entry(key, value, 4) for key, value in values.items())
    return f'{title}: Final[{kind}] = {{\n{entries}}}\n"""{_DOCS[title]}"""\n'


def _entry(key: str, value: str | Mapping[str, str], indent: int) -> str:
    margin = " " * indent
    if not isinstance(value, str):
        entries = "".join(_entry(name, each, indent + 4) for name, each in value.items())
        return f'{margin}"{key}": {{\n{entries}{margin}}},\n'
    line = f'{margin}"{key}": "{value}",\n'
    if len(line) <= _LINE_LENGTH + 1:
        return line
    # Each line but the last ends with the space that keeps its words from the next one's.
    wrapped = textwrap.wrap(value, _LINE_LENGTH - indent - 7)
    lines = "".join(f'{margin}    "{each} "\n' for each in wrapped[:-1])
    return f'{margin}"{key}": (\n{lines}{margin}    "{wrapped[-1]}"\n{margin}),\n'


def main(arguments: list[str] | None = None) -> int:
    """Write the file or say whether it is current; return the exit status."""
    return write_or_check(TARGET, render(), f"flax {flax.__version__}", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
