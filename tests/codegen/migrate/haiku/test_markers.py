"""What of Haiku has no counterpart gets a marker, or stays as it is; nothing is silently wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.haiku.comparing import migrated
from typed_nnx_codegen.migrate.command import migrate
from typed_nnx_codegen.migrate.haiku.translation import migrate_haiku
from typed_nnx_codegen.migrate.options import Options

HEAD = "import haiku as hk\nimport jax\nimport jax.numpy as jnp\n\n\n"


def run(tmp_path: Path, text: str) -> tuple[str, list[tuple[int, str, str]]]:
    """Return the migrated file, and what is left to a person."""
    file = tmp_path / "file.py"
    file.write_text(HEAD + text)
    result = migrated(file)
    compile(result.after, "file.py", "exec")
    left = [(one.line, one.code, one.message) for one in result.findings if one.kind == "decide"]
    return result.after, left


def test_a_function_of_haiku_without_counterpart_stays_below_a_marker(tmp_path: Path) -> None:
    after, left = run(
        tmp_path,
        "class Net(hk.Module):\n"
        "    def __call__(self, x):\n"
        "        y = hk.Linear(x.shape[-1])(x)\n"
        "        with_scan = hk.scan(lambda c, a: (c, a), y, x)\n"
        "        return y, with_scan\n",
    )
    assert left == [(9, "TN203", "`hk.scan` is not migrated")]
    assert (
        "        # TODO[typed-nnx] TN203: `hk.scan` is not migrated\n        with_scan = hk.scan("
        in after
    )
    assert "import haiku as hk" in after
    assert "nnx.Linear(in_features,in_features," in "".join(after.split())


def test_a_constructor_of_another_kind_keeps_the_class_and_what_it_is_used_with(
    tmp_path: Path,
) -> None:
    text = (
        "class Inner(hk.Module):\n"
        "    def __call__(self, x):\n"
        "        return hk.Linear(3)(x)\n"
        "\n\n"
        "class Outer(hk.Module):\n"
        "    def __init__(self, **kwargs):\n"
        "        super().__init__(**kwargs)\n"
        "\n"
        "    def __call__(self, x):\n"
        "        return Inner()(x)\n"
        "\n\n"
        "class Other(hk.Module):\n"
        "    def __call__(self, x):\n"
        "        return hk.Linear(3)(x)\n"
    )
    after, left = run(tmp_path, text)
    assert [(line, code) for line, code, _ in left] == [(6, "TN208"), (11, "TN208")]
    assert "class Inner(hk.Module)" in after
    assert "class Outer(hk.Module)" in after
    assert "class Other(nnx.Module)" in after
    assert after.count("TODO[typed-nnx] TN208") == 2


def test_a_subclass_with_a_constructor_stays(tmp_path: Path) -> None:
    _, left = run(
        tmp_path,
        "class Base(hk.Module):\n"
        "    def __init__(self, size, name=None):\n"
        "        super().__init__(name=name)\n"
        "        self.size = size\n"
        "\n\n"
        "class Small(Base):\n"
        "    def __init__(self, name=None):\n"
        "        super().__init__(3, name=name)\n",
    )
    assert {code for _, code, _ in left} == {"TN208"}
    assert "derives from another module" in left[1][2]


def test_a_function_that_is_not_seen_is_left_to_a_person(tmp_path: Path) -> None:
    after, left = run(
        tmp_path,
        "class Net(hk.Module):\n"
        "    def __call__(self, x):\n"
        "        return hk.Linear(3)(x)\n"
        "\n\n"
        "def make(width):\n"
        "    return hk.transform(lambda x: Net()(x) * width)\n",
    )
    assert [(line, code) for line, code, _ in left] == [(12, "TN205")]
    assert "write a module whose `__call__` is the function" in left[0][2]
    assert "# TODO[typed-nnx] TN205" in after


def test_another_file_that_transforms_a_module_gets_a_marker(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        HEAD + "class Net(hk.Module):\n    def __call__(self, x):\n        return hk.Linear(3)(x)\n"
    )
    (tmp_path / "agent.py").write_text(
        "import haiku as hk\nimport jax\nfrom net import Net\n\n\n"
        "class Agent:\n"
        "    def __init__(self, scale):\n"
        "        self.params: hk.Params = {}\n"
        "        self.net = hk.transform(lambda x: Net()(x) * scale)\n"
    )
    files = [tmp_path / "agent.py", tmp_path / "net.py"]
    agent, net = migrate_haiku(files, [tmp_path], Options())
    assert "class Net(nnx.Module)" in net.after
    assert [(one.line, one.code) for one in agent.findings] == [(9, "TN205")]
    assert "        # TODO[typed-nnx] TN205" in agent.after
    assert "flax" not in agent.after


def test_a_layer_without_a_row_stays_below_a_marker(tmp_path: Path) -> None:
    after, left = run(
        tmp_path,
        "class Net(hk.Module):\n    def __call__(self, x):\n        return hk.SpectralNorm()(x)\n",
    )
    assert (8, "TN203", "`hk.SpectralNorm` is not migrated. Write it by hand.") in left
    assert "TODO[typed-nnx]" in after


@pytest.mark.parametrize(
    "call",
    [
        'hk.Conv2D(3, 3, data_format="NCHW")(x)',
        "hk.LayerNorm(slice(1, None), True, True)(x)",
        "hk.BatchNorm(True, True, 0.9, axis=[0])(x, True)",
        "hk.Conv1D(3, 3, padding=hk.pad.causal)(x)",
        "hk.get_parameter('w', [3], init=hk.initializers.Identity())",
        "hk.max_pool(x, (1, 2, 2, 3), 2, 'SAME')",
        "hk.dropout(jax.random.key(0), 0.1, x)",
    ],
)
def test_a_setting_that_nnx_does_not_have_is_marked(call: str, tmp_path: Path) -> None:
    _, left = run(
        tmp_path, f"class Net(hk.Module):\n    def __call__(self, x):\n        return {call}\n"
    )
    assert "TN203" in {code for _, code, _ in left}


def test_other_imports_of_haiku_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(
        "from haiku import Linear, Module as Base, nets\n\n\n"
        "class Net(Base):\n"
        "    def __call__(self, x):\n"
        "        return nets.MLP([3, 4])(Linear(3)(x))\n"
    )
    after = migrated(file).after
    assert "nnx.Linear(in_features,3,kernel_init=haiku_kernel,rngs=rngs)" in "".join(after.split())
    assert "HaikuMLP(3, [3, 4], rngs=rngs)" in after


def test_code_for_flax_has_the_layers_in_it(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    text = "class Net(hk.Module):\n    def __call__(self, x):\n        return hk.GRU(3)(x, x)\n"
    file.write_text(HEAD + text + "\n\nnet = hk.transform(lambda x: Net()(x))\n")
    (found,) = migrate_haiku([file], [tmp_path], Options(target="flax.nnx"))
    assert "typed_nnx" not in found.after
    names: dict[str, object] = {}
    exec(compile(found.after, "file.py", "exec"), names)
    assert {"HaikuGRU", "haiku_transform", "Net"} <= names.keys()


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "modules.py"
    file.write_text((Path(__file__).parent / "programs" / "modules.py").read_text())
    first = CliRunner().invoke(migrate, ["--haiku", str(file), "--write", "--allow-dirty"])
    assert first.exit_code == 0, first.output
    assert "import haiku" not in file.read_text()
    second = CliRunner().invoke(migrate, ["--haiku", str(file), "--check"])
    assert second.exit_code == 0, second.output
    assert file.with_suffix(".migration.json").is_file()


@pytest.mark.parametrize("option", [["--gradual"], ["--verify"], ["--trace", "x.json"]])
def test_what_is_for_linen_alone_is_refused(option: list[str], tmp_path: Path) -> None:
    found = CliRunner().invoke(migrate, ["--haiku", str(tmp_path), *option])
    assert found.exit_code == 2
    assert f"leave out {option[0]} or --haiku" in found.output
