"""Keywords of calls: which a call has, and giving them other names."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import External, Instance, ProjectClass
from typed_nnx_codegen.migrate.file import File


def keywords_of(call: cst.Call) -> frozenset[str]:
    """Return the keywords that a call has."""
    return frozenset(arg.keyword.value for arg in call.args if arg.keyword is not None)


def renamed_keywords(call: cst.Call, names: Mapping[str, str]) -> cst.Call:
    """Return a call with other names for its keywords; the same call where it has none of them."""
    if not keywords_of(call) & set(names):
        return call
    return call.with_changes(args=[_renamed(arg, names) for arg in call.args])


def _renamed(arg: cst.Arg, names: Mapping[str, str]) -> cst.Arg:
    if arg.keyword is None or arg.keyword.value not in names:
        return arg
    return arg.with_changes(keyword=arg.keyword.with_changes(value=names[arg.keyword.value]))


def makes(file: File, call: cst.Call, *names: str) -> bool:
    """Whether a call surely makes an object of an NNX class by calling the class itself.

    A class of the project that takes arguments of its own does not count.

    Args:
        file: The file.
        call: The call.
        names: The NNX classes.
    """
    cls = file.value(call.func)
    made = file.value(call)
    if not isinstance(made, Instance) or file.is_a(call, *names) is not True:
        return False
    if isinstance(cls, ProjectClass):
        return not any("__init__" in base.methods for base in _classes(cls))
    return isinstance(cls, External)


def _classes(cls: ProjectClass) -> list[ProjectClass]:
    found = [cls]
    for base in cls.bases:
        if isinstance(base, ProjectClass):
            found += _classes(base)
    return found
