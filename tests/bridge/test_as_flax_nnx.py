"""`install_as_flax_nnx`: code that imports flax.nnx runs on typed_nnx, in processes without flax's own."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.processes import run_process


def printed(program: str, folder: Path | None = None) -> list[str]:
    """Run a program in a process of its own and return the lines that it prints."""
    done = run_process([sys.executable, "-c", textwrap.dedent(program)], cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# A package of somebody else: one module takes names of flax.nnx, another takes a class from it.
LAYERS = """
import jax.numpy as jnp
from flax import nnx
from flax.nnx.nn.linear import Linear
class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = Linear(3, 3, rngs=rngs)
    def __call__(self, x):
        return nnx.relu(self.linear(x))
"""
MODELS = """
from other.layers import Block
def build(rngs):
    return Block(rngs)
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "__init__.py").touch()
    (tmp_path / "other" / "layers.py").write_text(LAYERS)
    (tmp_path / "other" / "models.py").write_text(MODELS)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("before", ["", "import flax", "import flax.nnx", "import flax.linen"])
def test_each_way_to_import_flax_nnx_gives_typed_nnx(before: str) -> None:
    assert printed(f"""
        {before}
        import typed_nnx as nnx
        nnx.install_as_flax_nnx()
        import flax.nnx
        from flax import nnx as second
        from flax.nnx import Linear, bridge
        from flax.nnx.nn.attention import MultiHeadAttention
        from flax.nnx.transforms.iteration import StateAxes
        import flax.nnx.training.metrics as metrics
        print(flax.nnx is second is nnx)
        print(Linear is nnx.Linear, MultiHeadAttention is nnx.MultiHeadAttention)
        print(StateAxes is nnx.StateAxes, metrics is nnx.metrics, bridge is nnx.bridge)
        print(__import__("flax.linen").linen.__name__, flax.core.__name__, flax.struct.__name__)
    """) == ["True", "True True", "True True True", "flax.linen flax.core flax.struct"]


@pytest.mark.thorough
def test_the_error_of_trace_levels_is_what_flax_errors_names() -> None:
    assert printed("""
        import flax.errors, jax
        theirs = flax.errors.TraceContextError
        import typed_nnx
        with typed_nnx.install_as_flax_nnx():
            from flax import nnx
            param, rngs = nnx.Param(1.0), nnx.Rngs(0)
            leaked = []
            def change(x):
                param[...] = x
            def leak(x):
                leaked.append(nnx.Rngs(1))
            jax.jit(leak)(1.0)
            for call in (lambda: jax.jit(change)(1.0), lambda: leaked[0].params()):
                try:
                    call()
                except flax.errors.TraceContextError as error:
                    print(type(error).__name__)
        print(flax.errors.TraceContextError is theirs)
    """) == ["TraceLevelError", "TraceLevelError", "True"]


@pytest.mark.thorough
def test_no_module_of_ours_is_loaded_twice_or_gets_another_name() -> None:
    assert printed("""
        import importlib, sys, typed_nnx
        import flax.linen, pkgutil
        names = [info.name for info in pkgutil.walk_packages(typed_nnx.__path__, "typed_nnx.")]
        names.remove("typed_nnx.bridge._declared")  # for type checkers only
        specs = {name: importlib.import_module(name).__spec__ for name in names}
        typed_nnx.install_as_flax_nnx()
        for name in names:
            theirs = "flax.nnx" + name.removeprefix("typed_nnx")
            assert importlib.import_module(theirs) is sys.modules[name], name
            assert sys.modules[name].__spec__ is specs[name], name
        print(len(names) > 100)
    """) == ["True"]


@pytest.mark.thorough
def test_what_has_no_part_in_the_engine_is_flax_s_own_and_the_engine_is_not_there() -> None:
    assert printed("""
        import typed_nnx as nnx
        nnx.install_as_flax_nnx()
        from flax.nnx import reprlib
        from flax.nnx.deprecations import deprecated
        print(reprlib.__name__, deprecated.__module__)
        try:
            import flax.nnx.extract
        except ModuleNotFoundError as error:
            print(error)
    """) == ["flax.nnx.reprlib flax.nnx.deprecations", "No module named 'flax.nnx.extract'"]


@pytest.mark.thorough
def test_leaving_the_context_undoes_everything(other: Path) -> None:
    assert printed(
        """
        import sys, flax.nnx, typed_nnx as nnx
        before, ours = dict(sys.modules), set(vars(nnx))
        with nnx.install_as_flax_nnx():
            import other.models, flax.nnx.reprlib, flax.experimental
            print(issubclass(other.layers.Block, nnx.Module), flax.nnx is nnx)
        real = flax.nnx
        print(real is before["flax.nnx"], set(vars(nnx)) == ours)
        print([name for name in before if sys.modules.get(name) is not before[name]])
        print(sorted(name for name in sys.modules if name.startswith("other")))
        print(all(not name.startswith("flax.nnx") or name in before for name in sys.modules))
        import other.models
        print(issubclass(other.models.Block, real.Module), type(other.models.build(real.Rngs(0))))
        """,
        other,
    ) == ["True True", "True True", "[]", "[]", "True", "True <class 'other.layers.Block'>"]


@pytest.mark.thorough
def test_a_second_call_changes_nothing_and_does_not_undo_the_first() -> None:
    assert printed("""
        import sys, typed_nnx as nnx
        first = nnx.install_as_flax_nnx()
        finders = list(sys.meta_path)
        with nnx.install_as_flax_nnx() as second:
            print(sys.meta_path == finders)
        second.undo()
        import flax.nnx
        print(flax.nnx is nnx)
        first.undo()
        first.undo()
        import flax.nnx
        print(flax.nnx is nnx)
    """) == ["True", "True", "False"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("use", "phrase"),
    [
        ("from flax import nnx as theirs", "the module __main__ imports it"),
        ("from flax.nnx import Linear", "the module __main__ imports it"),
        ("import flax.nnx; step = flax.nnx.jit(len)", "the module __main__ imports it"),
        ("import flax.nnx; kept = [flax.nnx.Param(1)]", "1 of its objects are alive: Param"),
        (
            "import flax.nnx; kept = [type('Net', (flax.nnx.Module,), {'__module__': 'app'})]",
            "app.Net is a subclass of one of its classes",
        ),
        ("import other.models", "the module other.layers imports it"),
    ],
)
def test_what_uses_flax_nnx_already_is_named(other: Path, use: str, phrase: str) -> None:
    lines = printed(
        f"""
        import sys, typed_nnx as nnx
        {use}
        before, finders = dict(sys.modules), list(sys.meta_path)
        try:
            nnx.install_as_flax_nnx()
        except nnx.errors.FlaxNnxInUseError as error:
            print(error)
        print(before == sys.modules, sys.meta_path == finders)
        """,
        other,
    )
    assert phrase in [line.strip() for line in lines]
    assert lines[-1] == "True True"


@pytest.mark.thorough
@pytest.mark.parametrize("transform", ["jit", "remat"])
def test_our_own_modules_are_no_guests_of_our_transforms(other: Path, transform: str) -> None:
    assert printed(
        f"""
        import jax.numpy as jnp, typed_nnx
        typed_nnx.install_as_flax_nnx()
        from flax import nnx
        class Count(nnx.Module):
            def __init__(self):
                self.n = nnx.Variable(jnp.array(0))
        count = Count()
        @nnx.{transform}
        def step(count):
            count.n[...] += 1
            count.more = nnx.Param(jnp.ones(2))
        step(count)
        print(int(count.n[...]), count.more.shape)
        """,
        other,
    ) == ["1 (2,)"]


@pytest.mark.thorough
def test_linen_and_nnx_of_one_program_work_together() -> None:
    assert printed("""
        import jax, jax.numpy as jnp, typed_nnx
        typed_nnx.install_as_flax_nnx()
        from flax import linen, nnx
        from flax.nnx import bridge
        x = jnp.ones((1, 3))
        model = bridge.lazy_init(bridge.ToNNX(linen.Dense(2), rngs=nnx.Rngs(0)), x)
        wrapped = bridge.to_linen(nnx.Linear, 3, 2)
        variables = wrapped.init(jax.random.key(0), x)
        print(nnx.jit(lambda m, x: m(x))(model, x).shape, wrapped.apply(variables, x).shape)
        print(type(model).__module__.split(".")[0], isinstance(wrapped, linen.Module))
    """) == ["(1, 2) (1, 2)", "typed_nnx True"]


@pytest.mark.thorough
def test_threads_that_import_at_once_get_one_module() -> None:
    assert printed("""
        import importlib, sys, threading, typed_nnx as nnx
        sys.setswitchinterval(1e-6)
        found = []
        def work():
            nnx.install_as_flax_nnx()
            found.append(importlib.import_module("flax.nnx.nn.linear"))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(found), {id(each) for each in found} == {id(nnx.nn.linear)})
    """) == ["8 True"]


@pytest.mark.thorough
@pytest.mark.parametrize("after", [True, False])
def test_flags_of_flax_s_config_are_followed_in_every_thread(after: bool) -> None:
    first = "import flax.nnx" if after else "import flax"
    assert printed(f"""
        import threading, typed_nnx as nnx
        alias = nnx.install_as_flax_nnx()
        {first}
        settings = nnx.use_eager_sharding, nnx.set_graph_mode, nnx.set_graph_updates
        def show():
            print([setting.current_value() for setting in settings], nnx.using_eager_sharding())
        with nnx.use_eager_sharding(True):
            pass
        flax.config.update("flax_always_shard_variable", False)
        flax.config.update("nnx_graph_updates", False)
        import flax.nnx
        show()
        thread = threading.Thread(target=show)
        thread.start()
        thread.join()
        print(nnx.Param(1.0, out_sharding=("a",)).get_metadata("eager_sharding"))
        with nnx.use_eager_sharding(True), nnx.set_graph_updates(True):
            show()
        with flax.config.temp_flip_flag("always_shard_variable", True):
            show()
        alias.undo()
        flax.config.update("nnx_graph_mode", False)
        show()
    """) == [
        "[False, True, False] False",
        "[False, True, False] False",
        "False",
        "[True, True, True] True",
        "[True, True, False] True",
        "[True, True, True] True",
    ]
