"""A file that is named alone: what it imports from its own project is read, and not changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import run
from tests.support.processes import run_process
from typed_nnx_codegen.migrate.linen.session import calling_files, deriving_files

BLOCKS = """import flax.linen as nn


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))
"""
MODEL = """import flax.linen as nn
{imports}


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Block(4)(x))
"""
IMPORTS = ["from .blocks import Block", "from net.blocks import Block"]
# The same numbers before and after, although the block is a module of Linen still.
SCRIPT = """
import jax, jax.numpy as jnp, numpy as np, typed_nnx as nnx
from pathlib import Path
from net.model import Model as Old
from net.moved import Model
from typed_nnx_codegen.migrate.weights import load

x = jnp.arange(10.0).reshape(2, 5)
variables = Old().init(jax.random.key(0), x)
model = Model(in_shape=x.shape, rngs=nnx.Rngs(1))
load(variables, model, "net/moved.migration.json")
np.testing.assert_allclose(model(x), Old().apply(variables, x), rtol=1e-6)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "blocks.py").write_text(BLOCKS)
    return folder


@pytest.mark.parametrize("imports", IMPORTS)
def test_a_module_of_a_file_that_is_not_named_gives_sizes_and_a_marker(
    project: Path, imports: str
) -> None:
    model = project / "model.py"
    model.write_text(MODEL.format(imports=imports))
    run(model, "--write", "--allow-dirty")
    after = model.read_text()
    assert "self.dense_0 = nnx.Linear(4, 3, rngs=rngs)" in after
    assert "TN208: `Block` is still a module of Linen: migrate blocks.py together" in after
    assert (project / "blocks.py").read_text() == BLOCKS


@pytest.mark.parametrize("imports", IMPORTS)
def test_files_that_are_named_together_need_no_marker(project: Path, imports: str) -> None:
    model = project / "model.py"
    model.write_text(MODEL.format(imports=imports))
    result = run(model, str(project / "blocks.py"), "--write", "--allow-dirty")
    assert result.exit_code == 0
    assert "TODO" not in model.read_text()


@pytest.mark.thorough
@pytest.mark.parametrize("imports", IMPORTS)
def test_a_module_of_a_file_that_is_not_named_is_held_in_a_bridge(
    project: Path, imports: str
) -> None:
    model = project / "model.py"
    model.write_text(MODEL.format(imports=imports))
    result = run(model, "-o", str(project / "moved.py"), "--gradual")
    assert result.exit_code == 0, result.output
    run_process([sys.executable, "-c", SCRIPT], cwd=project.parent, check=True)


@pytest.mark.parametrize("imports", ["import os", "import jax"])
def test_a_module_without_jax_is_not_read(project: Path, imports: str) -> None:
    (project / "sizes.py").write_text(f"{imports}\n\n\ndef same(x):\n    return x\n")
    model = project / "model.py"
    model.write_text(
        MODEL.format(imports="from .sizes import same").replace("Block(4)(x)", "same(x)")
    )
    run(model, "--write", "--allow-dirty")
    assert ("nnx.Linear(in_features, 3" in model.read_text()) == (imports == "import jax")


def test_scripts_read_their_neighbours(tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS)
    script = tmp_path / "train.py"
    script.write_text(MODEL.format(imports="from blocks import Block"))
    run(script, "--write", "--allow-dirty")
    assert "TN208: `Block` is still a module of Linen" in script.read_text()


@pytest.mark.parametrize("named", [["model.py"], ["model.py", "features.py"]])
def test_functions_with_jax_alone_tell_the_sizes_that_they_give(
    project: Path, named: list[str]
) -> None:
    (project / "features.py").write_text(
        "import jax.numpy as jnp\n\n\n"
        "def doubled(x):\n    return jnp.concatenate([x, x - jnp.mean(x)], axis=-1)\n"
    )
    imports = "from .features import doubled"
    model = project / "model.py"
    model.write_text(MODEL.format(imports=imports).replace("Block(4)(x)", "doubled(x)"))

    run("--write", *(project / name for name in named))

    assert "nnx.Linear(2 * in_features, 3, rngs=rngs)" in model.read_text()


def test_files_that_inherit_from_linen_modules_are_found_by_the_names_of_classes(
    project: Path,
) -> None:
    (project / "blocks.py").write_text(
        f"{BLOCKS}\n\nBase = nn.Module\n\n\nclass Output(dict):\n    pass\n"
    )
    files = {
        "wide.py": "from .blocks import Block as B\n\n\nclass Wide(B):\n    width: int = 8\n",
        "wider.py": "from net.wide import Wide\n\n\nclass Wider(\n    Wide,\n):\n    pass\n",
        "plain.py": "from .blocks import Base\n\n\nclass Plain(Base):\n    pass\n",
        "output.py": "from .blocks import Output\n\n\nclass Loss(Output):\n    pass\n",
        "alone.py": "class Block:\n    pass\n\n\nclass Other(Block):\n    pass\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
    found, modules = deriving_files([project / name for name in files], [project / "blocks.py"])
    assert [path.name for path in found] == ["wide.py", "plain.py", "wider.py"]
    assert modules >= {"Block", "Base", "Wide", "Wider", "Plain"}


def test_files_that_use_linen_modules_are_found_by_what_they_import(project: Path) -> None:
    sources = [project / "blocks.py", project / "training.py"]
    (project / "blocks.py").write_text(BLOCKS)
    (project / "training.py").write_text(
        "import jax\nfrom flax import struct\n\n\nclass Model(struct.PyTreeNode):\n"
        "    def run(self, x):\n        return self.apply_fn.apply(self.params, x)\n"
    )
    (project / "__init__.py").write_text("from .blocks import Block\n")
    files = {
        "builds.py": "from .blocks import Block\n\nmodel = Block(4)\n",
        "makes.py": "import net.blocks as b\n\n\ndef make(n):\n    return b.Block(n)\n",
        "runs.py": "import jax\nfrom net import makes\n\nmakes.make(4).init(0, 0)\n",
        "state.py": "import jax\nfrom .training import Model\n\n\ndef run(s):\n    s.apply_fn.apply(s)\n",
        "reads.py": "from .blocks import Block\n\nRATE = 0.1\n".replace("Block", "SIZE"),
        "other.py": "from other import Block\n\nmodel = Block(4)\n",
        "exported.py": "import net\n\nmodel = net.Block(4)\n",
        "torch_like.py": "import torch.nn as nn\n\n\ndef fill(m):\n    m.apply(nn.init.zeros_)\n",
        "torn.py": "from .blocks import Block(\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
    silent = [project / name for name in ("__init__.py", *files)]
    found = calling_files(silent, sources, {"Block"})
    names = sorted(path.name for path in found)
    assert names == ["__init__.py", "builds.py", "exported.py", "makes.py", "runs.py", "state.py"]


def test_a_caller_without_a_word_of_flax_is_rewritten(project: Path) -> None:
    (project / "blocks.py").write_text(BLOCKS)
    caller = project / "caller.py"
    caller.write_text(
        "import jax\nimport jax.numpy as jnp\n\nfrom .blocks import Block\n\n\n"
        "def outputs():\n    x = jnp.ones((2, 3))\n    block = Block(4)\n"
        "    variables = block.init(jax.random.key(0), x)\n"
        "    return block.apply(variables, x)\n"
    )
    unrelated = project / "unrelated.py"
    unrelated.write_text("from .blocks import Block\n\nNAMES = ['Block', Block.__name__]\n")
    text = unrelated.read_text()

    run("--write", project)

    assert "Block(4, in_features=x.shape[-1], rngs=nnx.Rngs(jax.random.key(0)))" in (
        caller.read_text()
    )
    assert unrelated.read_text() == text
