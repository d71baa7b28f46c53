"""Runs mypy with each check and inference silent in the file that is named after it.

``off_axes.py`` is checked without ``checks/axes.py``, and so on: one run shows of every part
whether its case file notices that it is missing. mypy sees the plugin that it always sees, so that
it takes what it knows of libraries from the cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from mypy.__main__ import console_entry
from mypy.checker import TypeChecker
from mypy.plugin import AttributeContext, ClassDefContext, FunctionSigContext
from mypy.plugins.dataclasses import dataclass_class_maker_callback
from mypy.types import FunctionLike

from typed_nnx_mypy import hooks, registry
from typed_nnx_mypy.checks import deprecated
from typed_nnx_mypy.inference import dataclasses
from typed_nnx_mypy.reporter import Reporter

# Of a part whose case files are not named after it.
_CASE_FILES = {
    "argnums": ("argnums", "has_aux"),
    "attribute": ("attribute", "variable_value"),
    "dataclasses": ("nnx_dataclass",),  # mypy would take dataclasses.py for the standard module
    "methods": ("given_models",),
    "lost_writes": ("lost_update",),
    "filter_order": ("filter_order", "filter_coverage"),
    "selection": ("selection", "graphdefs"),
    "state_mismatch": ("state_mismatch", "state_missing"),
    "state_access": ("state_access", "state_excluded", "state_key"),
    "static_data": ("static_data", "data_status"),
}


def case_files_of(part: str) -> tuple[str, ...]:
    """Return the names of the case files of a module of the plugin."""
    name = part.rpartition(".")[2]
    return _CASE_FILES.get(name, (name,))


def parts() -> list[str]:
    """Return the modules of the plugin that have a check or an inference."""
    found = {function.__module__ for functions in _registered() for function in functions}
    return sorted({*found, dataclasses.__name__})


def is_off(part: str, module: str) -> bool:
    """Tell whether a module of the plugin is silent in a checked module."""
    return module.removeprefix("off_") in case_files_of(part) and module.startswith("off_")


def silenced(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a check or an inference that finds nothing in the file named after its module."""

    @functools.wraps(function)
    def wrapper(seen: Any) -> Any:
        if is_off(function.__module__, seen.checker.tree.fullname):
            return None
        return function(seen)

    return wrapper


def silence_registered() -> None:
    """Silence all checks and inferences, each in its own file."""
    for functions in _registered():
        functions[:] = map(silenced, functions)


def _registered() -> Iterator[list[Any]]:
    """Yield the lists of checks and inferences, of every kind that there is."""
    for name, value in vars(registry).items():
        if name.isupper():
            yield from value.values() if isinstance(value, dict) else [value]


def silence_hooks() -> None:
    """Silence what no registry has: mypy's hooks of classes, signatures and older attributes."""
    make, signature = dataclasses.make_dataclass, dataclasses.field_signature
    report_attribute = deprecated.report_attribute

    def made(context: ClassDefContext) -> bool:
        is_silent = is_off(make.__module__, context.cls.info.module_name)
        return dataclass_class_maker_callback(context) if is_silent else make(context)

    def signed(context: FunctionSigContext) -> FunctionLike:
        assert isinstance(context.api, TypeChecker)
        is_silent = is_off(signature.__module__, context.api.tree.fullname)
        return context.default_signature if is_silent else signature(context)

    def reported(context: AttributeContext, public: str, checker: Reporter) -> None:
        if not is_off(report_attribute.__module__, checker.tree.fullname):
            report_attribute(context, public, checker)

    hooks.__dict__.update(make_dataclass=made, field_signature=signed, report_attribute=reported)


if __name__ == "__main__":
    silence_registered()
    silence_hooks()
    console_entry()
