"""`typed-nnx verify` finds what a migration changed, and nothing where it changed nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.codegen.verify.verifying import HEAD, PAIRS, Run, run, run_files
from tests.support.processes import run_process

_COMMAND = (sys.executable, "-c", "from typed_nnx_codegen.cli import main; main()", "verify")


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["typed_nnx", "flax.nnx"])
def test_models_that_were_migrated_by_hand_are_equal(tmp_path: Path, runtime: str) -> None:
    text = (PAIRS / "nnx_models.py").read_text()
    if runtime == "flax.nnx":
        text = text.replace("import typed_nnx as nnx", "from flax import nnx")
    new = tmp_path / "nnx_models.py"
    new.write_text(text)
    maps = PAIRS / "nnx_models.migration.json"
    old, calls, report = PAIRS / "linen_models.py", PAIRS / "model_examples.py", tmp_path / "r.json"

    done = run_process(
        [*_COMMAND, old, new, "--example", calls, "--map", maps, "--json", report], timeout=900
    )

    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(report.read_text())
    assert said["equal"]
    assert len(said["examples"]) == 20
    assert all(each["items"] for each in said["examples"])


@pytest.mark.thorough
def test_equal_models_are_said_to_be_equal(tmp_path: Path) -> None:
    done = run(tmp_path, 'Example(Build("MLP", features=(8, 4)), ROWS)')

    assert done.status == 0, done.output
    kinds = {item["kind"] for item in done.examples["MLP"]["items"]}
    assert kinds == {"outputs", "gradients"}
    paths = {item["path"] for item in done.examples["MLP"]["items"]}
    assert {"params/Dense_0/bias", "params/head/kernel", "input 0"} <= paths
    assert "1 of 1 examples are equal" in done.output


def test_a_bias_that_is_zero_at_first_hides_no_mistake(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("MLP", features=(4,)), ROWS)',
        ("return self.head(x)", "return x @ self.head.kernel[...]"),
    )

    assert done.status == 1
    assert "outputs" in done.differing("MLP").values()


@pytest.mark.thorough
def test_a_model_that_ignores_its_mode_is_found(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("ByMode"), ROWS)',
        ("use_running_average=self.use_running_average)", "use_running_average=False)"),
    )

    assert done.status == 1
    assert "outputs" in done.differing("ByMode").values()


def test_weights_that_were_swapped_are_found(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("Encoder"), {"image": ROWS})',
        map_changes=(
            ('"params/Dense_0": "mean"', '"params/Dense_0": "spread"'),
            ('"params/Dense_1": "spread"', '"params/Dense_1": "mean"'),
        ),
    )

    assert done.status == 1
    assert {".mean", ".spread"} <= done.differing("Encoder").keys()


@pytest.mark.thorough
def test_a_gradient_that_differs_alone_is_found(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("MLP", features=(8, 4)), ROWS)',
        ("self.head(x)", "self.head(jax.lax.stop_gradient(x))"),
    )

    assert done.status == 1
    assert set(done.differing("MLP").values()) == {"gradients"}


@pytest.mark.thorough
def test_statistics_that_are_updated_otherwise_are_found(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("ConvNet", 3), IMAGES, train=True, mutable="batch_stats")',
        ("momentum=0.9", "momentum=0.99"),
    )

    assert done.status == 1
    assert done.differing("ConvNet") == {
        "batch_stats/BatchNorm_0/mean": "collections",
        "batch_stats/BatchNorm_0/var": "collections",
    }


def test_a_variable_that_changes_though_linens_is_not_mutable_is_found(tmp_path: Path) -> None:
    done = run(tmp_path, 'Example(Build("Scaled"), ROWS)')

    assert done.status == 1
    assert done.differing("Scaled") == {"counters/calls": "collections"}
    assert "Linen's is not mutable" in done.output


def test_a_linen_variable_that_goes_nowhere_is_a_difference(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("Noisy"), ROWS, deterministic=True)',
        (
            "nnx.Linear(in_features, 8, rngs=rngs)",
            "nnx.Linear(in_features, 8, use_bias=False, rngs=rngs)",
        ),
    )

    assert done.status == 1
    assert "params/Dense_0/bias float32[8]" in done.output


def test_only_what_is_drawn_may_differ(tmp_path: Path) -> None:
    example = 'Example(Build("Noisy"), ROWS, rngs="dropout")'
    kept = '"dropped": self.dropout(hidden, deterministic=deterministic)'

    right = run(tmp_path, example)
    wrong = run(tmp_path, example, ('"hidden": hidden', '"hidden": hidden + 0.01'))
    shape = run(tmp_path, example, (kept, '"dropped": hidden[:1]'))

    states = {item["path"]: item["state"] for item in right.examples["Noisy"]["items"]}
    assert right.status == 0, right.output
    assert states["['hidden']"] == "equal"
    assert states["['dropped']"] == "random"
    assert "['hidden']" in wrong.differing("Noisy")
    assert "['dropped']" in shape.differing("Noisy")


def test_a_branch_that_linen_did_not_take_may_have_variables_of_its_own(tmp_path: Path) -> None:
    example = 'Example(Build("Branches"), ROWS)'

    right = run(tmp_path, example)
    wrong = run(tmp_path, example, ("if extra:", "if True:"))

    assert right.status == 0, right.output
    assert "2 not in Linen" in right.output
    assert "sometimes.kernel, not in Linen" in wrong.differing("Branches")


def test_an_example_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("MLP", (4,)), ROWS), Example(Build("Branches"), ROWS), '
        'Example(Build("Branches"), ROWS, no=1, name="wrong call")',
        ("return self.head(x)", 'raise ValueError("not today")'),
    )

    assert done.status == 1
    assert "ValueError: not today" in done.examples["MLP"]["error"]
    assert "new_models.py:" in done.examples["MLP"]["error"]
    assert done.examples["Branches"]["equal"]
    assert "the Linen side failed: TypeError" in done.examples["wrong call"]["error"]
    assert "Traceback" not in done.output


@pytest.mark.thorough
def test_modules_in_fields_get_their_widths_from_the_calls(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("Wrapper", Build("MLP", (3, 2)), [Build("flax.linen.Dense", 3)]), ROWS)',
    )

    assert done.status == 0, done.output


def test_what_a_function_leaves_to_its_caller_comes_from_the_map_and_the_calls(
    tmp_path: Path,
) -> None:
    made = "def small() -> MLP:\n    return MLP((3, 2))\n"
    waiting = "def small():\n    return functools.partial(MLP, (3, 2))\n"
    for side, function in (("linen", made), ("nnx", waiting)):
        text = (PAIRS / f"{side}_models.py").read_text()
        text = text.replace("import dataclasses\n", "import dataclasses\nimport functools\n")
        (tmp_path / f"{side}_models.py").write_text(f"{text}\n\n{function}")
    done = run_files(
        tmp_path,
        tmp_path / "linen_models.py",
        tmp_path / "nnx_models.py",
        f'{HEAD}\nEXAMPLES = [Example(Build("small"), ROWS)]',
        ("--map", str(PAIRS / "nnx_models.migration.json")),
    )

    assert done.status == 0, done.output


def test_a_width_that_no_call_tells_may_be_any_or_given(tmp_path: Path) -> None:
    old = (
        (PAIRS / "linen_models.py")
        .read_text()
        .replace(
            "class Wrapper(nn.Module):\n    inner",
            "class Wrapper(nn.Module):\n"
            "    @nn.compact\n    def first_only(self, x):\n        return nn.Dense(7)(x)\n\n    inner",
        )
    )
    new = (
        (PAIRS / "nnx_models.py")
        .read_text()
        .replace(
            "        self.others = nnx.List(others)\n",
            "        self.others = nnx.List(others)\n\n"
            "    def first_only(self, x):\n        return self.first(x)\n",
        )
    )
    (tmp_path / "old_models.py").write_text(old)
    (tmp_path / "new_models.py").write_text(new)
    maps = PAIRS / "nnx_models.migration.json"

    def verified(inner: str) -> Run:
        text = f'{HEAD}\nEXAMPLES = [Example(Build("Wrapper", {inner}), ROWS, method="first_only")]'
        return run_files(
            tmp_path,
            tmp_path / "old_models.py",
            tmp_path / "new_models.py",
            text,
            ("--map", str(maps)),
        )

    unknown = verified('Build("MLP", (3,))')
    given = verified('Build("MLP", (3,), lifted={"in_features": 7})')

    assert unknown.status == 0, unknown.output
    assert "the example does not tell in_features" in " ".join(unknown.output.split())
    assert given.status == 0, given.output
    assert "in_features" not in given.output


def test_a_width_that_a_call_should_tell_is_never_replaced(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("MLP", (3,)), ROWS)',
        map_changes=(
            (
                '{"name": "in_features", "expr": "x.shape[-1]"}',
                '{"name": "in_features", "expr": "x.shape[7]"}',
            ),
        ),
    )

    assert done.status == 1
    assert "MLP: in_features = x.shape[7] has no value" in done.output


def test_a_keyword_that_the_map_leaves_to_the_caller_is_asked_of_the_example(
    tmp_path: Path,
) -> None:
    without = (('"lifted": [{"name": "in_features", "expr": "x.shape[-1]"}],', ""),)
    missing = run(tmp_path, 'Example(Build("MLP", (3,)), ROWS)', map_changes=without)
    given = run(
        tmp_path,
        'Example(Build("MLP", (3,), lifted={"in_features": ROWS.shape[-1]}), ROWS)',
        map_changes=without,
    )

    assert missing.status == 1
    assert "MLP: neither the map nor the example tells in_features" in missing.output
    assert "Fix: Build('MLP', ..., lifted={'in_features': ...})" in missing.output
    assert given.status == 0, given.output


def test_a_module_in_a_field_may_be_called_inside_a_transform(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("Wrapper", Build("MLP", (3,))), ROWS)',
        old_changes=(
            (
                "x = self.inner(nn.Dense(7)(x))",
                "x = nn.remat(lambda module, y: module(y))(self.inner, nn.Dense(7)(x))",
            ),
        ),
    )

    assert done.status == 0, done.output


def test_a_sequence_of_library_layers_is_built(tmp_path: Path) -> None:
    layers = 'Build("flax.linen.Sequential", [Build("MLP", (3,)), jax.nn.relu])'

    done = run(tmp_path, f'Example(Build("Wrapper", {layers}), ROWS)')

    assert done.status == 0, done.output


def test_every_layer_that_the_codemod_migrates_can_be_built(tmp_path: Path) -> None:
    done = run(tmp_path, 'Example(Build("Wrapper", Build("flax.linen.PReLU")), ROWS)')

    assert done.status == 0


def test_a_library_layer_that_is_not_known_is_told(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        'Example(Build("Wrapper", Build("flax.linen.ConvLocal", features=3, kernel_size=(1,))), ROWS)',
    )

    assert done.status == 1
    assert "flax.linen.ConvLocal: its NNX layer is not known" in done.output


WRONG_USE = {
    "no examples": ("", (), "EXAMPLES"),
    "an example of another type": ("3", (), r"EXAMPLES[0] is int"),
    "an error in the example file": ("undefined", (), "NameError: name 'undefined'"),
    "a class that no example has": (
        'Example(Build("MLP", (4,)), ROWS)',
        ("--only", "Nope"),
        "Fix: one of ['MLP']",
    ),
    "a map that is not there": (
        'Example(Build("MLP", (4,)), ROWS)',
        ("--map", "none.json"),
        "none.json: the map cannot be read",
    ),
}


@pytest.mark.parametrize("name", WRONG_USE)
def test_wrong_use_is_told_without_a_traceback(tmp_path: Path, name: str) -> None:
    examples, options, message = WRONG_USE[name]

    done = run(tmp_path, examples, options=options)

    assert done.status == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_class_that_the_file_does_not_have_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, 'Example(Build("Nope"), ROWS)')

    assert done.status == 1
    assert "nothing there is named 'Nope'" in done.output


def test_a_file_that_cannot_be_imported_is_told_with_its_line(tmp_path: Path) -> None:
    done = run(tmp_path, "", ("import jax\n", "import jax\nimport no_such_module_anywhere\n"))

    assert done.status == 2
    assert "No module named 'no_such_module_anywhere'" in done.output
    assert "new_models.py:10" in done.output


def test_a_map_beside_the_file_is_needed(tmp_path: Path) -> None:
    for name in ("old.py", "new.py"):
        (tmp_path / name).write_text("import flax.linen as nn\n")

    done = run_files(
        tmp_path,
        tmp_path / "old.py",
        tmp_path / "new.py",
        HEAD + "EXAMPLES = [Example(Build('A'))]",
    )

    assert done.status == 2
    assert "new.migration.json: there is no map" in done.output


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = run_files(tmp_path, tmp_path / "none.py", tmp_path / "new.py", "")

    assert done.status == 2
    assert "none.py: there is no such file" in done.output


@pytest.mark.parametrize(("change", "status"), [("+ 0.001", 0), ("+ 0.3", 1)])
def test_what_linen_computes_with_16_bits_may_be_some_steps_of_them_apart(
    tmp_path: Path, change: str, status: int
) -> None:
    old = tmp_path / "old.py"
    old.write_text(
        "import flax.linen as nn\nimport jax.numpy as jnp\n\n\n"
        "class Half(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        y = nn.Dense(3, dtype=jnp.bfloat16)(x)\n        return y.astype(jnp.float32)\n"
    )
    new = tmp_path / "new.py"
    new.write_text(
        "import jax.numpy as jnp\nimport typed_nnx as nnx\n\n\n"
        "class Half(nnx.Module):\n    def __init__(self, *, in_features, rngs):\n"
        "        self.dense = nnx.Linear(in_features, 3, dtype=jnp.bfloat16, rngs=rngs)\n\n"
        "    def __call__(self, x):\n"
        f"        return self.dense(x).astype(jnp.float32) {change}\n"
    )
    maps = tmp_path / "map.json"
    entry = {
        "lifted": [{"name": "in_features", "expr": "x.shape[-1]"}],
        "variables": {"params/Dense_0": "dense"},
    }
    maps.write_text(json.dumps({"version": 1, "classes": {"Half": entry}}))

    text = f'{HEAD}\nEXAMPLES = [Example(Build("Half"), ROWS)]'
    done = run_files(tmp_path, old, new, text, ("--map", str(maps)))

    assert done.status == status, done.output
    assert "Linen computes with bfloat16" in " ".join(done.output.split())


def test_examples_of_one_class_are_named_by_what_sets_them_apart(tmp_path: Path) -> None:
    calls = (
        'Example(Build("ConvNet", 3), IMAGES), Example(Build("ConvNet", 3), IMAGES, train=True),'
        'Example(Build("ConvNet", 3), IMAGES + 1), Example(Build("ConvNet", 3), IMAGES, name="mine")'
    )
    found = run(tmp_path, calls).examples
    assert list(found) == ["ConvNet", "ConvNet train=True", "ConvNet 2", "mine"]
