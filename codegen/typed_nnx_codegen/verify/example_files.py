"""Reading an example file. This is the one step that runs what the user wrote in it."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.examples import Build, Example
from typed_nnx_codegen.verify.reasons import reason_of
from typed_nnx_codegen.verify.sides import Side

_FIX = (
    'Fix: EXAMPLES = [Example(Build("MLP", features=(8, 4)), jnp.ones((2, 5)))], with\n'
    "    from typed_nnx_codegen.verify.examples import Build, Example"
)


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
    if not isinstance(found, list | tuple) or not found:
        shown = "no EXAMPLES" if not found else f"EXAMPLES of type {type(found).__name__}"
        raise BadUse(f"{path}: it has {shown}.\n  {_FIX}")
    for index, each in enumerate(found):
        if not isinstance(each, Example) or not isinstance(each.build, Build):
            raise BadUse(f"{path}: EXAMPLES[{index}] is {type(each).__name__}.\n  {_FIX}")
    return _named(found)


def _named(examples: Sequence[Example]) -> list[Example]:
    taken: set[str] = set()
    for example in examples:
        base = example.name or example.build.class_name
        name, number = base, 2
        while name in taken:
            name, number = f"{base} {number}", number + 1
        taken.add(name)
        example.name = name
    return list(examples)
