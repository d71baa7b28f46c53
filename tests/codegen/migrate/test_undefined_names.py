"""`undefined_names` finds what ruff's F821 finds, in handwritten scopes, random ones and real files."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.codegen.migrate.linen.corpus_cases import all_files
from tests.support.processes import run_process
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.undefined_names import (
    defined_names,
    imported_names,
    newly_undefined,
    undefined_names,
)

_PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"
SCOPES = {
    "a function reads a name that comes later": "def f():\n    return later\n\nlater = 1\n",
    "a module reads a name that comes later": "print(later)\nlater = 1\n",
    "the default of a parameter": (
        "class A:\n    rate = 1\n    def f(self, x=rate, y=missing): ...\n"
    ),
    "a field that is only annotated": "class A:\n    rate: int\n    def f(self, x=rate): ...\n",
    "a method does not see its class": (
        "class A:\n    rate = 1\n    def f(self):\n        return rate\n"
    ),
    "a comprehension does not see its class": (
        "class A:\n    n = 1\n    a = [n for _ in range(n)]\n"
    ),
    "a comprehension has its own names": "a = [i for i in range(3)]\nprint(i)\n",
    "comprehensions in comprehensions": (
        "a = [[i * j for j in range(i)] for i in range(3) if i < k]\n"
    ),
    "a dict comprehension": "a = {k: v for k, v in b.items()}\n",
    "a lambda": "f = lambda x, y=z, *a, **k: (x, y, a, k, q)\n",
    "a lambda that comes before its name": "f = lambda: later\nlater = 1\n",
    "a walrus in a comprehension": "a = [(y := x) for x in range(3)]\nprint(y)\n",
    "a walrus in a condition": (
        "def f(x):\n    if (n := len(x)) > 1:\n        return n\n    return m\n"
    ),
    "global": "def f():\n    global x\n    x = 1\n\ndef g():\n    return x\n",
    "nonlocal": (
        "def f():\n"
        "    x = 1\n"
        "    def g():\n"
        "        nonlocal x\n"
        "        x = 2\n"
        "        return x, y\n"
        "    return g\n"
    ),
    "a name of a function is not one of the module": "def f():\n    x = 1\n\nprint(x)\n",
    "except as": "try:\n    pass\nexcept (ValueError, Missing) as error:\n    print(error)\n",
    "except NameError": "try:\n    unicode\nexcept NameError:\n    unicode = str\n",
    "with and for": (
        "with open('a') as (a, *b):\n    for c, d in b:\n        print(a, b, c, d, e)\n"
    ),
    "match": (
        "match [1, 2]:\n"
        "    case [x, *rest] if x > y:\n"
        "        print(x, rest)\n"
        "    case {'a': a, **more} | A(more=more, a=a):\n"
        "        print(more)\n"
        "    case other:\n"
        "        print(other)\n"
    ),
    "imports": "import a.b.c\nimport d.e as f\nfrom g import h as i\nprint(a.b, f, i, b, d, h)\n",
    "a star import": "from a import *\nprint(b)\n",
    "annotations": "def f(x: A, *a: B, y: C = 1, **k: D) -> E:\n    z: F = 1\n    return z\n",
    "annotations that are text": (
        "class B:\n    x: 'list[A | B]'\n    def f(self, other: 'B', c: 'C') -> 'typing.Any': ...\n"
    ),
    "annotations of the future": (
        "from __future__ import annotations\n\ndef f(a: A) -> C: ...\n\nclass A: ...\n"
    ),
    "texts that are no types": (
        "from typing import Annotated, Literal\n"
        "x: Literal['a', 'b']\n"
        "y: Annotated['A', 'b c', 'd']\n"
    ),
    "a class reads itself": (
        "class A:\n    child = A\n    def f(self):\n        return A, __class__\n"
    ),
    "names of modules and classes": (
        "print(__name__, __file__, __doc__)\nclass A:\n    print(__module__, __qualname__)\n"
    ),
    "decorators and bases": (
        "@a\n@b.c(d)\nclass E(F, metaclass=G):\n    @h\n    async def i(self): ...\n"
    ),
    "an assignment to itself": "x = x + 1\ny += 1\nz: int = z\n",
    "a generator that is an argument": "print(sum(x for x in y), x)\n",
}
NEWER = {
    "type parameters of a function": "def f[T: Bound, *A, **P](x: T) -> U:\n    return T\n",
    "type parameters of a class": (
        "class A[T](B[T]):\n    x: T\n    def f(self, x: T) -> 'T': ...\n\nprint(T)\n"
    ),
    "a type alias": "type A[T] = list[T] | B | Missing\nclass B: ...\n",
}


def _of_ruff(folder: Path) -> dict[Path, set[str]]:
    """Return the names that ruff calls undefined, by file."""
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--target-version", _PYTHON]
    command = [sys.executable, "-m", "ruff", "check", "--select", "F821", *options]
    done = run_process(
        [*command, "--output-format", "json", str(folder)], capture_output=True, text=True
    )
    found: dict[Path, set[str]] = {path: set() for path in folder.glob("*.py")}
    for one in json.loads(done.stdout):
        found[Path(one["filename"])].add(one["message"].split("`")[1])
    return found


def _same_as_ruff(texts: list[str], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"m{number}.py").write_text(text)
    expected = _of_ruff(folder)
    for number, text in enumerate(texts):
        names = {one.name for one in undefined_names(text)}
        assert names == expected[folder / f"m{number}.py"], text


def test_names_in_handwritten_scopes_are_those_of_ruff(tmp_path: Path) -> None:
    newer = NEWER.values() if sys.version_info >= (3, 12) else ()
    _same_as_ruff([*SCOPES.values(), *newer], tmp_path)


_NAMES = st.sampled_from("abc")
_READS = st.recursive(
    _NAMES,
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("[{} for {} in {} if {}]".format, inner, _NAMES, inner, inner),
        st.builds("(lambda {}={}: {})".format, _NAMES, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=4,
)
_SIMPLE = st.one_of(
    st.builds("{} = {}".format, _NAMES, _READS),
    st.builds("{}: {} = {}".format, _NAMES, _READS, _READS),
    st.builds("print({})".format, _READS),
    st.builds("import {}".format, _NAMES),
    st.builds("import x as {}".format, _NAMES),
)


def _block(head: str, *body: str) -> str:
    return f"{head}\n" + textwrap.indent("\n".join(body), "    ")


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{}\n{}".format, inner, inner),
        st.builds(
            lambda name, arg, default, body: _block(f"def {name}({arg}={default}):", body),
            _NAMES,
            _NAMES,
            _READS,
            inner,
        ),
        st.builds(
            lambda name, base, body: _block(f"class {name}({base}):", body), _NAMES, _READS, inner
        ),
        st.builds(
            lambda name, read, body: _block(f"for {name} in {read}:", body), _NAMES, _READS, inner
        ),
        st.builds(lambda read, body: _block(f"if {read}:", body), _READS, inner),
    )


@pytest.mark.thorough
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=20)
@given(texts=st.lists(st.recursive(_SIMPLE, _blocks, max_leaves=5), min_size=5, max_size=10))
def test_names_in_random_scopes_are_those_of_ruff(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    _same_as_ruff(texts, tmp_path_factory.mktemp("scopes"))


@pytest.mark.slow
def test_names_in_the_migrated_corpus_are_those_of_ruff(tmp_path: Path) -> None:
    files = all_files()
    results = migrate_linen(files, [files[0].parent], Options())

    _same_as_ruff([one.before for one in results], tmp_path / "before")
    _same_as_ruff([one.after for one in results], tmp_path / "after")
    assert not any(newly_undefined(one.before, one.after) for one in results)


def test_each_name_has_the_line_that_reads_it() -> None:
    found = undefined_names("import a\n\n\ndef f(x):\n    return [a, b,\n        c]\n")

    assert [(one.name, one.line) for one in found] == [("b", 5), ("c", 6)]


def test_only_names_that_the_old_text_had_defined_are_new() -> None:
    before, after = "import a\nprint(a, b)\n", "print(b, a)\n"

    assert [(one.name, one.line) for one in newly_undefined(before, after)] == [("a", 1)]
    assert newly_undefined(before, before) == ()


def test_a_name_in_all_is_read() -> None:
    before = "from a import B, C\n\n__all__ = ['B', 'C']\n"

    assert [one.name for one in newly_undefined(before, before.replace("B, C", "B"))] == ["C"]


def test_a_deleted_name_counts_as_defined() -> None:
    assert undefined_names("a = 1\ndel a\nprint(a)\n") == ()


def test_others_can_import_the_names_at_the_top_level_of_a_module() -> None:
    text = "import a.b\nfrom c import d as e\n\nclass F:\n    g = 1\n\ndef h(i):\n    j = i\n\nif F:\n    k = 1\n"

    names = defined_names(text)

    assert names is not None
    assert set(names) == {"a", "e", "F", "h", "k"}
    assert defined_names("from a import *\n") is None


def test_a_module_imports_names_from_others() -> None:
    text = """
        import a.b
        import c as d
        from . import e
        from ..f import g as h

        print(a.b.i, d.j, e.k, h, x.y)
    """

    assert set(imported_names(textwrap.dedent(text), "top.inner.module", is_package=False)) == {
        *(("a.b", "i"), ("c", "j"), ("top.inner", "e"), ("top.inner.e", "k"), ("top.f", "g")),
    }
    assert set(imported_names("from .a import b", "top", is_package=True)) == {("top.a", "b")}
