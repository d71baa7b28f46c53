"""Random Linen modules: what is migrated without a marker computes what it computed.

`python -m tests.codegen.migrate.linen.test_random_modules 100 20` goes through twenty more files.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import jax
import pytest

from tests.codegen.migrate.linen.corpus_cases import as_users_run
from tests.codegen.migrate.linen.random_modules.modules import RandomModules, head
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.weight_map import map_path
from typed_nnx_codegen.migrate.weights.class_maps import class_maps
from typed_nnx_codegen.verify.building import linen_model
from typed_nnx_codegen.verify.differences import Tolerance
from typed_nnx_codegen.verify.example_files import read_examples
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.running import Verifier
from typed_nnx_codegen.verify.sides import Side, import_side

_MODULES = 10
_EXAMPLES = """
from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(30.0)).reshape(2, 3, 5)
EXAMPLES = [
"""


def _file(seed: int, folder: Path) -> Path:
    """Return a file of random modules, with examples."""
    drawn = RandomModules(seed)
    modules = [drawn.module(f"Random{number}") for number in range(_MODULES)]
    examples = [
        f'    Example(Build("{one.name}"{", " if build else ""}{build}), X, mutable=("stats",)),'
        for one in modules
        for build in one.builds
    ]
    file = folder / f"random_{seed}.py"
    parts = [head(), *(one.text for one in modules)]
    file.write_text("\n\n".join(parts) + _EXAMPLES + "\n".join(examples) + "\n]\n")
    return file


def _runs(example: Example, side: Side) -> bool:
    """Whether Linen itself builds and calls a model; errors of Linen are of any class."""
    try:
        with side.active():
            model = linen_model(example.build, side)
            jax.eval_shape(lambda: model.init(jax.random.key(0), *example.args))
    except Exception:  # noqa: BLE001 - what Linen refuses proves nothing
        return False
    return True


def _problems(seed: int, folder: Path) -> tuple[dict[str, str], int]:
    """Return what differs in a file of random modules, and how many examples were compared."""
    file = _file(seed, folder)
    (result,) = migrate_linen([file], [file], Options("typed_nnx"))
    new = folder / "migrated" / file.name
    new.parent.mkdir()
    new.write_text(result.after)
    map_path(new).write_text(json.dumps(result.map))
    (again,) = migrate_linen([new], [new], Options("typed_nnx"))
    found = {} if again.after == result.after else {"a second run": "changes the file"}
    left = {plan.cls.name for plan in result.plans if plan.marks or plan.stays}
    old = import_side(file)
    verifier = Verifier(
        old, import_side(new, old), class_maps([map_path(new)]), file, Tolerance(1e-5, 1e-5)
    )
    with as_users_run():
        chosen = [
            one
            for one in read_examples(file, old)
            if one.build.class_name not in left and _runs(one, old)
        ]
        compared = [verifier.verified(one) for one in chosen]
    for one in compared:
        if not one.is_equal:
            found[one.name] = one.error or str([*map(str, one.differing)] or one.extra)
    return found, len(compared)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_a_random_module_without_a_marker_computes_what_it_computed(
    seed: int, tmp_path: Path
) -> None:
    found, compared = _problems(seed, tmp_path)

    assert found == {}
    assert compared >= _MODULES // 2


def _main(first: int, count: int) -> None:
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            print(seed, *_problems(seed, Path(folder)), flush=True)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
