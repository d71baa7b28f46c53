"""All stubs that are generated: what the families declare."""

from __future__ import annotations

import importlib
import pkgutil

from typed_nnx_codegen.stubgen import families
from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.errors import StubError


def all_stubs() -> tuple[ModuleStub, ...]:
    """Return the stubs of every family, sorted by module.

    Raises:
        StubError: Two families declare the same module.
    """
    found: dict[str, ModuleStub] = {}
    for info in sorted(pkgutil.iter_modules(families.__path__), key=lambda info: info.name):
        family = importlib.import_module(f"{families.__name__}.{info.name}")
        for stub in getattr(family, "STUBS", ()):
            if stub.module in found:
                raise StubError(stub.module, "two families declare it", "declare it in one of them")
            found[stub.module] = stub
    return tuple(found[name] for name in sorted(found))
