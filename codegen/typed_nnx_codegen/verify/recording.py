"""Runs the `init` of the examples of a person on shapes alone, and records what Linen calls.

`python -m typed_nnx_codegen.verify.recording FOLDER EXAMPLES.py OLD.py...` writes the record into a
folder, for programs that do not import jax. It imports the files, that is, runs them.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax

from typed_nnx_codegen.migrate.linen.trace.recording import Recorder, Tables
from typed_nnx_codegen.verify.building import linen_model, mapped
from typed_nnx_codegen.verify.comparable import is_array
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.example_files import read_examples
from typed_nnx_codegen.verify.examples import Build, Example
from typed_nnx_codegen.verify.inputs import concrete, keys
from typed_nnx_codegen.verify.reasons import reason_of
from typed_nnx_codegen.verify.sides import Side, import_side, side_of

# The code asks for the value of an array, which a trace has not.
_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


@dataclass
class _Project(Side):
    """Several files, each of which is imported when an example names something of it.

    Attributes:
        homes: The files, by the names that they define.
    """

    homes: dict[str, list[Side]] = field(default_factory=dict)

    def named(self, name: str) -> Any:
        """Return what has a name in one of the files, or a full name anywhere.

        Raises:
            BadUse: Nothing has it, or things in several files have.
        """
        homes = self.homes.get(name.partition(".")[0], [])
        if len(homes) > 1:
            listed = ", ".join(str(one.path) for one in homes)
            raise BadUse(
                f"{name!r} is in several files: {listed}.\n"
                f"  Fix: its full name, Build({homes[0].name + '.' + name!r})"
            )
        return super().named(f"{homes[0].name}.{name}" if homes else name)


def record(files: Sequence[Path], example_file: Path) -> Tables:
    """Run the Linen `init` of every example on shapes alone, and record what it calls.

    Args:
        files: The files whose classes the examples build.
        example_file: The file of the examples.

    Raises:
        BadUse: A file cannot be imported, or has no examples.
    """
    old = import_side(files[0]) if len(files) == 1 else _project(files)
    examples = read_examples(example_file, old)
    shown = [*(path.absolute() for path in files), example_file.absolute()]
    shown += [Path(each) for each in old.search]
    recorder = Recorder()
    for example in examples:
        run = {"name": example.name, "error": ""}
        recorder.tables.runs.append(run)
        try:
            with old.active():
                try:
                    _run(example, old, recorder, jax.eval_shape)
                except _NEEDS_VALUES:
                    _run(example, old, recorder, _with_values)
        # It is the user's code: anything may go wrong, and the other examples go on.
        except Exception as error:  # noqa: BLE001 - the record has the reason
            run["error"] = str(error) if isinstance(error, BadUse) else reason_of(error, shown)
    return recorder.tables


def _project(files: Sequence[Path]) -> _Project:
    sides = [side_of(path) for path in files]
    homes: dict[str, list[Side]] = {}
    for side in sides:
        for name in _defined(side.path):
            homes.setdefault(name, []).append(side)
    search = tuple(dict.fromkeys(each for side in sides for each in side.search))
    own = frozenset(name for side in sides for name in side.own)
    return _Project(sides[0].path, sides[0].name, search, own, homes=homes)


def _defined(path: Path) -> set[str]:
    kinds = (ast.ClassDef, ast.FunctionDef)
    return {one.name for one in ast.parse(path.read_bytes()).body if isinstance(one, kinds)}


def _with_values(function: Callable[..., Any], arrays: Any) -> Any:
    return function(concrete(arrays))


def _run(example: Example, old: Side, recorder: Recorder, evaluate: Callable[..., Any]) -> None:
    def build(given: Build) -> Any:
        return linen_model(given, old)

    model = build(example.build)
    args, kwargs = mapped((example.args, example.kwargs), build, old.named)
    leaves, structure = jax.tree.flatten((args, kwargs))
    places = [index for index, leaf in enumerate(leaves) if is_array(leaf)]
    streams = {"params": jax.random.key(0), **keys(example.rngs, 1)}

    def init(arrays: list[Any]) -> Any:
        given = list(leaves)
        for index, array in zip(places, arrays, strict=True):
            given[index] = array
        args, kwargs = jax.tree.unflatten(structure, given)
        with nn.intercept_methods(recorder.intercept):
            return model.init(streams, *args, method=example.method, **kwargs)

    evaluate(init, [leaves[index] for index in places])
    if recorder.problem:
        raise RuntimeError(f"recording failed: {recorder.problem}")


def main(arguments: Sequence[str]) -> int:
    """Write the record of an example file and the files that it is of.

    Returns:
        The exit status: 0, or 2 where the files cannot be used.
    """
    if len(arguments) < 3:
        usage = "python -m typed_nnx_codegen.verify.recording FOLDER EXAMPLES.py OLD.py..."
        print(f"usage: {usage}", file=sys.stderr)
        return 2
    folder, examples, *files = map(Path, arguments)
    found, problem = Tables(), ""
    try:
        found = record(files, examples)
    except BadUse as error:
        problem = str(error)
    text = json.dumps({**found.as_json(), "problem": problem})
    (folder / "examples.json").write_text(text, encoding="utf-8")
    return 2 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
