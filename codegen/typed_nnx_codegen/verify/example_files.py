"""Reading an example file. This is the one step that runs what the user wrote in it."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import NoneType

from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.examples import Build, Example
from typed_nnx_codegen.verify.reasons import reason_of
from typed_nnx_codegen.verify.sides import Side

_FIX = (
    'Fix: EXAMPLES = [Example(Build("MLP", features=(8, 4)), jnp.ones((2, 5)))], with\n'
    "    from typed_nnx_codegen.verify.examples import Build, Example"
)

# What is short enough for a name.
_PLAIN = (bool, int, float, str, NoneType)


def read_examples(path: Path, old: Side) -> list[Example]:
    """Run an example file and return its examples, each with a name of its own.

    Args:
        path: The file.
        old: The side whose modules the file imports.

    Raises:
        BadUse: There is no such file, running it fails, or it has no examples.
    """
    path = path.absolute()
    if not path.is_file():
        raise BadUse(f"{path}: there is no such file.\n  Fix: --example with a Python file")
    before = list(sys.path)
    with old.active():
        sys.path.insert(0, str(path.parent))
        try:
            found = runpy.run_path(str(path), run_name="examples").get("EXAMPLES")
        # It is the user's code: anything may go wrong.
        except Exception as error:
            raise BadUse(f"{path}: running it failed: {reason_of(error, [path])}") from error
        finally:
            sys.path[:] = before
    return checked(found, path)


def checked(found: object, path: Path) -> list[Example]:
    """Return the `EXAMPLES` of a file, each with a name of its own.

    Args:
        found: What the file calls `EXAMPLES`.
        path: The file.

    Raises:
        BadUse: They are no examples, or there are none.
    """
    if not isinstance(found, list | tuple) or not found:
        shown = "no EXAMPLES" if not found else f"EXAMPLES of type {type(found).__name__}"
        raise BadUse(f"{path}: it has {shown}.\n  {_FIX}")
    for index, each in enumerate(found):
        if not isinstance(each, Example) or not isinstance(each.build, Build):
            raise BadUse(f"{path}: EXAMPLES[{index}] is {type(each).__name__}.\n  {_FIX}")
    return _named(found)


def _named(examples: Sequence[Example]) -> list[Example]:
    first: dict[str, Example] = {}
    taken: set[str] = set()
    for example in examples:
        base = example.name
        if not base:
            base = example.build.class_name
            base = " ".join([base, *_differing(first.setdefault(base, example), example)])
        name, number = base, 2
        while name in taken:
            name, number = f"{base} {number}", number + 1
        taken.add(name)
        example.name = name
    return list(examples)


def _differing(first: Example, other: Example) -> list[str]:
    """Return the plain keywords of an example that the first one of its class does not have."""
    mine, theirs = ({**one.build.fields, **one.kwargs} for one in (other, first))
    plain = {key: value for key, value in mine.items() if isinstance(value, _PLAIN)}
    missing = object()
    return [
        f"{key}={value!r}"
        for key, value in plain.items()
        if not (isinstance(them := theirs.get(key, missing), _PLAIN) and them == value)
    ]
