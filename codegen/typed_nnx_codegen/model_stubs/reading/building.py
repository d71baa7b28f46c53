"""One run of mypy over the sources, which leaves what classes say of their attributes."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Final

from mypy.build import BuildResult, process_fresh_modules
from mypy.checker import TypeChecker
from mypy.modulefinder import BuildSource
from mypy.nodes import MypyFile
from mypy.options import Options
from mypy.plugin import ClassDefContext, MethodContext, Plugin, ReportConfigContext
from mypy.types import Type

from typed_nnx_codegen.facts.assigned_types import keep_types
from typed_nnx_codegen.facts.caching import FACTS, digest_of, may_have_models
from typed_nnx_codegen.facts.kinds import is_pytree
from typed_nnx_codegen.facts.probes import HOOKED, insert_class_check
from typed_nnx_codegen.facts.recording import record_marks
from typed_nnx_codegen.model_stubs.models import Problem
from typed_nnx_codegen.mypy_run import CouldNotRun, MypyRun

_CODE: Final = (FACTS, Path(__file__).parent)


def new_options(executable: str | None, cache: Path | None) -> Options:
    """Return mypy's options for reading models; no settings of the user count.

    Args:
        executable: The interpreter whose packages are used; None for the running one.
        cache: Where mypy keeps what it found out.

    Raises:
        ValueError: The interpreter does not run.
    """
    options = Options()
    if executable is not None:
        options.python_executable, options.python_version = executable, _version_of(executable)
    options.cache_dir = os.devnull if cache is None else str(cache)
    options.incremental = cache is not None
    options.check_untyped_defs = True
    # Otherwise mypy writes the cache before it checks methods, and so before types are kept.
    options.local_partial_types = False
    options.follow_imports = "silent"  # only the sources have bodies that matter
    options.ignore_missing_imports = True
    return options


def _version_of(executable: str) -> tuple[int, int]:
    question = [executable, "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        answer = subprocess.run(question, check=True, capture_output=True, text=True).stdout
        major, minor = map(int, answer.split())
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise ValueError(
            f"python: {executable} does not run ({error}); expected an interpreter.\n"
            "  Fix: pass the path of the Python that your code runs with"
        ) from error
    return major, minor


class _Observer(Plugin):
    """Writes down what classes say of their attributes, which mypy then keeps in its cache."""

    def __init__(self, options: Options, modules: Container[str]) -> None:
        super().__init__(options)
        self._watched = modules
        self._version = digest_of(*_CODE)
        self._checkers: dict[str, TypeChecker] = {}

    def report_config_data(self, ctx: ReportConfigContext) -> str | None:
        """Return what is written down depends on: this code and, for what is read, the source.

        mypy itself takes a file for unchanged that was written again within a second.
        """
        if not may_have_models(ctx):
            return None
        source = digest_of(Path(ctx.path)) if ctx.id in self._watched else ""
        return f"{self._version} {source}"

    def get_base_class_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """Claim every class with a base: which of them are Pytrees is known by their MRO."""
        return self._on_class

    def _on_class(self, context: ClassDefContext) -> None:
        if is_pytree(context.cls.info):
            record_marks(context)
            if context.cls.info.module_name in self._watched:
                insert_class_check(context.cls)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Claim the checks that were put into classes: they lead to the types of expressions."""
        return self._on_check if fullname == HOOKED else None

    def _on_check(self, context: MethodContext) -> Type:
        assert isinstance(context.api, TypeChecker)
        self._checkers[context.api.tree.fullname] = context.api
        return context.default_return_type

    def get_additional_indirect_deps(self, file: MypyFile) -> set[str]:
        """Keep the types in a file; mypy calls it when it has checked the file, before it writes."""
        checker = self._checkers.pop(file.fullname, None)
        if checker is not None:
            keep_types(file, checker.lookup_type_or_none)
        return set()


def modules_of(
    sources: Sequence[BuildSource], runtime: str, options: Options
) -> tuple[dict[str, MypyFile], tuple[Problem, ...]]:
    """Run mypy over sources, and again without the files that it cannot read.

    Returns:
        All modules, none where mypy fails in a way that nothing helps against, and what went wrong.
    """
    watched = frozenset(each.module for each in sources)
    followed = rules(runtime, {module.partition(".")[0] for module in watched})
    run = MypyRun(sources)

    def prepare() -> tuple[Options, list[_Observer]]:
        fresh = options.apply_changes({"per_module_options": dict(followed)})
        return fresh, [_Observer(fresh, watched)]

    modules, problems = dict[str, MypyFile](), list[Problem]()
    try:
        modules = run.build(prepare, _all_modules)
    except CouldNotRun as error:
        problems.append(Problem("", 1, f"mypy failed: {error}"))
    broken = (Problem(each.file, each.line, each.message) for each in run.left_out.values())
    return modules, (*broken, *problems)


def _all_modules(result: BuildResult) -> dict[str, MypyFile]:
    """Return all modules, also those that mypy had no need for, since nothing they use changed."""
    manager, graph = result.manager, result.graph
    gc.disable()  # all that is made here stays
    try:
        for number in manager.top_order:
            missing = [m for m in manager.scc_by_id[number].mod_ids if m not in manager.modules]
            if missing:
                process_fresh_modules(graph, sorted(missing), manager)
    finally:
        gc.enable()
    return manager.modules


# -- what mypy follows ------------------------------------------------------------------------

# Those modules of libraries that say something about attributes of models: jax imports half of its
# dependencies for displays and compilers. Following all of it, mypy needs four times as long when its
# cache is empty, for the same types of attributes.

# With everything below them; what is imported from them is Any.
_LEFT_OUT = (
    "IPython",
    "PIL",
    "absl",
    "etils",
    "jax._src",
    "jax.experimental",
    "jax.export",
    "jax.extend",
    "jax.interpreters",
    "matplotlib",
    "numpy.distutils",
    "numpy.f2py",
    "numpy.testing",
    "orbax",
    "rich",
    "scipy",
    "sklearn",
    "tensorstore",
    "treescope",
    "typed_nnx.bridge",
)

# Of the above: where arrays, random keys, initializers and activations come from.
_FOLLOWED = (
    "jax._src",
    "jax._src.api",
    "jax._src.array",
    "jax._src.basearray",
    "jax._src.lax",
    "jax._src.lax.control_flow",
    "jax._src.lax.convolution",
    "jax._src.lax.lax",
    "jax._src.lax.slicing",
    "jax._src.mesh",
    "jax._src.named_sharding",
    "jax._src.nn",
    "jax._src.nn.functions",
    "jax._src.nn.initializers",
    "jax._src.numpy",
    "jax._src.numpy.array",
    "jax._src.numpy.array_creation",
    "jax._src.numpy.lax_numpy",
    "jax._src.numpy.reductions",
    "jax._src.numpy.ufuncs",
    "jax._src.partition_spec",
    "jax._src.random",
    "jax._src.random.*",
    "jax._src.stages",
    "jax._src.tree",
    "jax._src.tree_util",
    "jax._src.typing",
    "jax._src.util",
)

_OTHER_RUNTIME = {
    "typed_nnx": ("flax", "optax"),
    "flax.nnx": ("flax.linen", "flax.training", "flax.nnx.bridge", "optax", "typed_nnx"),
}


def rules(runtime: str, own: Container[str] = ()) -> dict[str, dict[str, object]]:
    """Return mypy's options per module for models of a runtime.

    Args:
        runtime: The package that the models are made with.
        own: The packages that are read, which are followed in any case.
    """
    found: dict[str, dict[str, object]] = {}
    for name in (*_LEFT_OUT, *_OTHER_RUNTIME.get(runtime, ())):
        if name.partition(".")[0] in own:
            continue
        skipped = {"follow_imports": "skip", "follow_imports_for_stubs": True}
        found |= {name: skipped, f"{name}.*": skipped}
    found |= {name: {"follow_imports": "silent"} for name in _FOLLOWED}
    return found
