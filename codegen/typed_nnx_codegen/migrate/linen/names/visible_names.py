"""Which names of methods and files can be read in the constructor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.linen.builders.borrowed_names import is_same_name
from typed_nnx_codegen.migrate.linen.running.frames import Frame

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.running.executor import Executor


def is_visible(executor: Executor, home: str, frame: Frame, code: str = "") -> bool:
    """Whether names of a home can be read in the constructor where it is written now.

    Args:
        executor: What goes through the methods.
        home: The home.
        frame: The frame.
        code: What is read, where it is one name or attributes of it.
    """
    recorder = frame.recorder
    if home in ("", recorder.plan.cls.home) or home in (
        f"loop{number}" for number in recorder.loops
    ):
        return True
    name = code.partition(".")[0]
    there = next((one for one in executor.classes.analyses if str(one.path) == home), None)
    if there is None or not name.isidentifier():
        return False
    return is_same_name(name, there, recorder.plan.cls.analysis)


def is_setup_local(node: cst.Name, frame: Frame) -> bool:
    """Whether a name is a local of `setup`, which is one of the constructor as well."""
    return frame.verbatim and frame.records and node.value in frame.names
