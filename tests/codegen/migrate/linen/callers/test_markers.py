"""What callers do that is not migrated gets a marker."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options

MODULES = """
import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import traverse_util


class MLP(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.LayerNorm()(x))

    @nn.nowrap
    def halved(self):
        return self.width // 2


class Wrapper(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return self.inner(x)


"""

MARKED = {
    "modules in a table": """
MODELS = {"mlp": MLP}


def make(name):
    return list(MODELS.values())
""",
    "modules in a list": """
def make():
    return [cls() for cls in [MLP]]
""",
    "captured intermediates": """
def hidden(variables, x):
    return MLP(4).apply(variables, x, capture_intermediates=True)
""",
    "a module that a class which is none builds and calls": """
class Operations:
    def apply(self, x, width):
        return MLP(width=width)(x)


class User(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Operations().apply(x, 4)
""",
    "layers that nothing here calls": """
def layers():
    return [nn.Dense(3), nn.Dense(4)]
""",
    "an attribute of a layer": """
def features(key, x):
    layer = nn.Dense(3)
    return layer.init(key, x), layer.features
""",
    "a layer that a function gets, and is called in a loop": """
def run(key, x, depth):
    model = nn.Sequential([nn.Dense(3) for _ in range(depth)])
    return model.init(key, x)
""",
    "a module in a field, whose inputs have an unknown size": """
class Odd(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(jnp.nonzero(x)[0])


def wrapped(key, x):
    return Wrapper(inner=Odd()).init(key, x)
""",
    "a module in two fields": """
class Tied(nn.Module):
    first: nn.Module
    second: nn.Module

    def __call__(self, x):
        return self.second(self.first(x))


def tied(key, x):
    layer = MLP(5)
    return Tied(layer, layer).init(key, x)
""",
    "a model that waits for the size of another argument than the first": """
class Both(nn.Module):
    inner: nn.Module

    @nn.compact
    def __call__(self, x, y):
        return self.inner(x) + nn.Dense(3)(y)


def both():
    return Both(MLP(3))
""",
    "specifications of parameters": """
def specs(key, x):
    return nn.get_partition_spec(jax.eval_shape(MLP(4).init, key, x))
""",
    "the functions of linen": """
def run(variables, x):
    return nn.apply(lambda module, x: module(x), MLP(4))(variables, x)
""",
}

# For flax.nnx: the helpers of typed_nnx name variables as Linen did.
NAMES = {
    "a name of a submodule in a path": """
def kernel(params):
    return params["MLP_0"]["Dense_0"]["kernel"]
""",
    "a numbered name of a submodule in a path": """
class Stack(nn.Module):
    def setup(self):
        self.layers = [MLP() for _ in range(2)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def first(params):
    return params["layers_0"]
""",
    "numbered names that a program fills in": """
class Blocks(nn.Module):
    def setup(self):
        self.blocks = [MLP() for _ in range(2)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def is_last(path, number):
    return f"blocks_{number - 1}" in path
""",
    "a name that a program fills in with a percent sign": """
def kernel(params, number):
    return params["Dense_%d" % number]["kernel"]
""",
    "a name that the module makes of an expression": """
class Embedded(nn.Module):
    columns: tuple[str, ...]

    @nn.compact
    def __call__(self, x):
        parts = [nn.Embed(4, 2, name=f"emb_{name}")(x) for name in self.columns]
        return sum(parts)


def shops(params):
    return params["emb_shop"]["embedding"]
""",
    "a name of a submodule in a mask": """
def mask(params):
    return jax.tree_util.tree_map_with_path(lambda path, _: "LayerNorm" not in str(path), params)
""",
    "a text that is in other names of submodules than before": """
class Attending(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, name="head")(nn.MultiHeadDotProductAttention(2)(x))


def heads(params):
    return jax.tree_util.tree_map_with_path(lambda path, _: "head" in str(path), params)
""",
    "texts that are in other names of submodules than before": """
def decays(params):
    flat = traverse_util.flatten_dict(params, sep="/")
    return {path: not any(one in path for one in ("bias", "norm")) for path in flat}
""",
}


@pytest.mark.parametrize(
    ("code", "target"),
    [
        *((one, "typed_nnx") for one in MARKED.values()),
        *((one, "flax.nnx") for one in NAMES.values()),
    ],
    ids=[*MARKED, *NAMES],
)
def test_what_is_not_migrated_gets_a_marker(
    code: str, target: Literal["typed_nnx", "flax.nnx"], tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(MODULES + code)

    (result,) = migrate_linen([path], [path], Options(target))

    _, _, callers = result.after.partition("class Wrapper")
    assert "# TODO[typed-nnx] TN20" in callers
    assert not result.error


@pytest.mark.parametrize(
    "code",
    [
        'NAMES = {"kernel": 1, "MLP": 2, "dense": 3}',
        '__all__ = ["MLP", "LayerNorm"]',
        'def told(p):\n    print(f"Dense_0 and Dense_{p} have moved")',
    ],
)
def test_a_string_that_names_no_submodule_gets_no_marker(code: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(MODULES + code)

    (result,) = migrate_linen([path], [path], Options("flax.nnx"))

    assert "TODO[typed-nnx]" not in result.after.partition("class Wrapper")[2]


def test_a_text_that_is_in_the_same_names_as_before_gets_no_marker(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        MODULES
        + "def decays(params):\n"
        + "    flat = traverse_util.flatten_dict(params, sep='/')\n"
        + "    return {path: not path.endswith('bias') and 'scale' not in path for path in flat}\n"
    )

    (result,) = migrate_linen([path], [path], Options("flax.nnx"))

    assert "TODO[typed-nnx]" not in result.after.partition("class Wrapper")[2]


def test_a_class_from_a_table_in_place_gets_no_marker(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        MODULES + "def make(name):\n    cls = {'mlp': MLP}[name]\n    return cls(width=4)\n"
    )

    (result,) = migrate_linen([path], [path], Options())

    assert "TODO[typed-nnx]" not in result.after.partition("class Wrapper")[2]


def test_a_file_without_modules_of_its_own_is_rewritten_too(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODULES)
    script = tmp_path / "script.py"
    script.write_text(
        "import jax\nfrom models import MLP\n\n"
        "def run(x):\n"
        "    model = MLP(4)\n"
        "    variables = model.init(jax.random.key(0), x)\n"
        "    return model.apply(variables, x)\n"
    )
    paths = [tmp_path / "models.py", script]

    results = migrate_linen(paths, [tmp_path], Options())

    after = next(one.after for one in results if one.path == script)
    assert "model = MLP(4, in_features=x.shape[-1], rngs=nnx.Rngs(jax.random.key(0)))" in after
    assert "return model(x)" in after


def test_a_function_that_a_file_without_flax_passes_on_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "__init__.py").write_text("from models.layers import passed_on\n")
    layers = folder / "layers.py"
    layers.write_text(
        "import flax.linen as nn\n\n\n"
        "def passed_on(width, x):\n    return nn.Dense(width)(x)\n\n\n"
        "def inner(width, x):\n    return nn.Dense(width)(x)\n\n\n"
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        return inner(5, passed_on(4, x))\n"
    )

    (result,) = migrate_linen([layers], [tmp_path], Options())

    assert "\ndef passed_on(" in result.after
    assert "\ndef inner(" not in result.after
