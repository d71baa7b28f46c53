"""Which modules have a generated stub."""

from __future__ import annotations

from tests.support.type_checkers import REPOSITORY

STUBS = REPOSITORY / "stubs" / "typed_nnx-stubs"
PATHS = sorted(STUBS.rglob("*.pyi"))


def module_of(path_in_package: str) -> str:
    """Return the name of the module whose stub has the given path.

    >>> module_of("_graph/pop.pyi"), module_of("nn/__init__.pyi")
    ('typed_nnx._graph.pop', 'typed_nnx.nn')
    """
    name = path_in_package.removesuffix(".pyi").replace("/", ".")
    return f"typed_nnx.{name}".removesuffix(".__init__")


MODULES = {module_of(path.relative_to(STUBS).as_posix()): path for path in PATHS}
