"""Which `bridge.Module` is running: a stack, one per thread."""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class RunningModule(Protocol):
    """What the stack knows of a `bridge.Module`."""

    scope: Any

    def is_initializing(self) -> bool:
        """Whether `init` runs."""
        ...


@dataclasses.dataclass
class ModuleStackEntry:
    """A Module that runs.

    Attributes:
        module: The Module.
        in_compact: Whether one of its compact methods runs, so that new submodules get names.
        type_counter: How many submodules of each type were named.
    """

    module: RunningModule
    in_compact: bool
    type_counter: defaultdict[type, int] = dataclasses.field(
        default_factory=lambda: defaultdict(int)
    )

    def new_name(self, cls: type) -> str:
        """Return the name of the next submodule of a type: ``Dense_0``, ``Dense_1``, ..."""
        count = self.type_counter[cls]
        self.type_counter[cls] = count + 1
        return f"{cls.__name__}_{count}"


@dataclasses.dataclass
class ModuleContext(threading.local):
    """The Modules that run, innermost last; None stands for "outside of any"."""

    module_stack: list[ModuleStackEntry | None] = dataclasses.field(default_factory=lambda: [None])


MODULE_CONTEXT = ModuleContext()


def current_context() -> ModuleStackEntry | None:
    """Return the entry of the `bridge.Module` that runs, or None."""
    return MODULE_CONTEXT.module_stack[-1]


def running_module() -> RunningModule | None:
    """Return the `bridge.Module` that runs, or None."""
    entry = current_context()
    return None if entry is None else entry.module


@contextmanager
def running(module: RunningModule, in_compact: bool) -> Iterator[None]:
    """Make a Module the current one for as long as the context lasts."""
    stack = MODULE_CONTEXT.module_stack
    stack.append(ModuleStackEntry(module, in_compact))
    try:
        yield
    finally:
        stack.pop()
