"""Which names of methods and files can be read in the constructor."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.linen.builders.borrowed_names import is_same_name
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.references import ModuleValue
from typed_nnx_codegen.migrate.linen.running.values import Value


def is_visible(analyses: Iterable[Analysis], home: str, frame: Frame, code: str = "") -> bool:
    """Whether names of a home can be read in the constructor where it is written now.

    Args:
        analyses: The files of the project.
        home: The home.
        frame: The frame.
        code: What is read, where it is one name or attributes of it.
    """
    recorder = frame.recorder
    name = code.partition(".")[0]
    if home and name in {one.name for one in recorder.plan.cls.fields()}:
        return False  # in the constructor it is the parameter
    if home in ("", recorder.plan.cls.home) or home in (
        f"loop{number}" for number in recorder.loops
    ):
        return True
    there = next((one for one in analyses if str(one.path) == home), None)
    if there is None or not name.isidentifier():
        return False
    return is_same_name(name, there, recorder.plan.cls.analysis)


def is_setup_local(node: cst.Name, frame: Frame) -> bool:
    """Whether a name is a local of `setup`, which is one of the constructor as well."""
    return frame.verbatim and frame.records and node.value in frame.names


def is_own_item(node: cst.Subscript, value: Value | None, frame: Frame) -> bool:
    """Whether a subscript is a submodule in a list that `setup` has built before: `self.blocks[k]`."""
    match node.value:
        case cst.Attribute(value=cst.Name(value="self" as name)):
            owner = frame.lookup(name)
            is_own = owner is not None and owner is frame.recorder.instance and frame.records
            return is_own and isinstance(value, ModuleValue) and value.site.is_verbatim
    return False


def read_of_parameter(node: cst.CSTNode, frame: Frame) -> str:
    """Return the code of a parameter that `setup` made before, for the first value of another one.

    Empty for any other expression.
    """
    recorder = frame.recorder
    match node:
        case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=attribute)):
            is_own = frame.verbatim and frame.lookup(owner) is recorder.instance
            if is_own and recorder.params.get(attribute, False):
                return f"self.{attribute}[...]"
    return ""
