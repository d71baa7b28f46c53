"""Random programs of ten files on typed_nnx, and random edits of them.

What they hold is what the plugin looks up in other files: classes with attributes, bases, functions
that make models or States, and code that splits them; beside it errors of all kinds, which come
and go. Each program is a value; an edit returns another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

NAMES: Final = ("alpha", "beta", "gamma", "delta")
CLASSES: Final = tuple(f"{kind}{number}" for number in range(4) for kind in ("Model", "Data"))
"""`Model0` and `Data0` are in ``part0.py``, and so on; those of the last are in a stub."""

_VALUES: Final = {
    "linear": "nnx.Linear(2, 2, rngs=rngs)",
    "norm": "nnx.BatchNorm(2, rngs=rngs)",
    "param": "nnx.Param(jnp.ones(2))",
    "array": "jnp.ones(2)",
    "size": "3",
    "list": "nnx.List([nnx.Linear(2, 2, rngs=rngs)])",
    "plain": "[nnx.Linear(2, 2, rngs=rngs)]",
    "made": "functions.untyped(rngs)",
    "marked": "nnx.static(jnp.ones(2))",
}
_TYPES: Final = {
    "linear": "nnx.Linear",
    "norm": "nnx.BatchNorm",
    "param": "nnx.Param[jax.Array]",
    "array": "jax.Array",
    "size": "int",
    "list": "nnx.List[nnx.Linear]",
    "plain": "list[nnx.Linear]",
    "made": "nnx.Linear",
    "marked": "nnx.Static[jax.Array]",
}
KINDS: Final = (*_VALUES, *CLASSES)

# A file imports itself too, so that a class is named in one way everywhere.
_HEADER: Final = """\
from __future__ import annotations
import functools
import jax
import jax.numpy as jnp
import optax
import typed_nnx as nnx
import functions, part0, part1, part2, part3, use0, use1, use2
"""

# What code does with a class. `{model}` is a class, `{name}` and `{other}` are attributes. At the top of
# a file mypy cannot put off what it does not know yet, and it does not check functions again that use a file
# which is gone: what is revealed beside a State shows where.
USES: Final = (
    """
def apply{n}(model: {model}) -> None:
    state = nnx.state(model{filter})
    state.{name}
    state["{other}"]
    reveal_type(state)
""",
    """
def apply{n}(model: {model}) -> None:
    def inner() -> None:
        graphdef, state = nnx.split(model)
        state.{name}
        reveal_type(state)
        nnx.merge(graphdef, state)

    inner()
""",
    """
def apply{n}(model: {model}):
    reveal_type(model)

    def inner():
        _, first, rest = nnx.split(model, nnx.Param, ...)
        first.{name}
        rest.{other}

        def deepest():
            nnx.update(model, first)

        return deepest

    return inner()
""",
    """
model{n} = {model}(nnx.Rngs(0))
state{n} = nnx.state(model{n}{filter})
model{n}.{name}, state{n}.{name}
reveal_type((model{n}.{other}, nnx.state(model{n}).{other}))
""",
    """
def loss{n}(model: {model}, x: jax.Array) -> jax.Array:
    return x.sum()

def apply{n}(model: {model}, x: jax.Array) -> None:
    reveal_type(model)
    grads = nnx.grad(loss{n})(model, x)
    grads.{name}
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    optimizer.update(model, nnx.state(model{filter}))
""",
    """
def loss{n}(model: {model}, x: jax.Array) -> tuple[jax.Array, int]:
    return x.sum(), 1

gradient{n} = functools.partial(nnx.grad, has_aux=True)
def apply{n}(model: {model}, x: jax.Array) -> None:
    reveal_type(model)
    grads, aux = gradient{n}(loss{n})(model, x)
    grads.{name}
    reveal_type(functools.partial(nnx.grad, argnums=0)(lambda m: 1.0))
""",
    """
@functools.partial(nnx.jit, static_argnums=1)
def step{n}(model: {model}, size: int) -> jax.Array:
    reveal_type(model)
    nnx.state(model).{name}
    return jnp.ones(size)

def apply{n}(model: {model}) -> None:
    reveal_type(model)
    model.{other} = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    step{n}(model, 3)
""",
    """
def loss{n}(model: {model}) -> float:
    return 1.0

gradient{n} = functools.partial(nnx.grad, loss{n})
decorate{n} = functools.partial(nnx.grad, argnums=(0, 1))

@use0.decorate{n}
def apply{n}(model: {model}, other: {model}) -> float:
    return 1.0

again{n} = use1.gradient{n}
model{n} = functions.typed(nnx.Rngs(0))
reveal_type((use2.again{n}, model{n}.{name}, use2.again{n}()(model{n}).{name}))
""",
    """
def apply{n}(rngs: nnx.Rngs) -> None:
    state = functions.params(functions.typed(rngs))
    state.{name}
    functions.params(functions.untyped(rngs)).{name}
    nnx.update({model}(rngs), state)
    reveal_type((functions.typed(rngs), {model}(rngs)))
""",
    """
class Trainer{n}(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.model = {model}(rngs)
        self.{name} = None

    def step(self) -> None:
        self.{name} = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
        reveal_type(self.model)
        nnx.state(self).model.{other}
        nnx.state(self.model).{name}
""",
    """
def apply{n}(model: {model}) -> None:
    @jax.jit
    def step(x: jax.Array) -> jax.Array:
        model.{name} = x
        return x

    for each in [nnx.state(model{filter})]:
        reveal_type(each.{other})
""",
)
FILTERS: Final = ("", ", nnx.Param", ", nnx.BatchStat", ", nnx.Not(nnx.Param)")
ERRORS: Final = (
    "",
    "wrong: int = 'text'\n",
    "missing_name\n",
    "import no_such_module\n",
    "def failing() -> None:\n    def inner() -> int:\n        return 'text'\n    inner() + 'a'\n",
    "from part0 import no_such_name\n",
    "def broken(:\n",
)


@dataclass(frozen=True)
class Class:
    """A class of a program.

    Attributes:
        attributes: Kinds of attributes, by name.
        base: Its base, an earlier class; empty for none.
        is_open: Whether it also makes attributes of which no name is written.
        is_there: Whether it is in its file at all.
    """

    attributes: dict[str, str]
    base: str = ""
    is_open: bool = False
    is_there: bool = True


@dataclass(frozen=True)
class Use:
    """What code does with a class: one of `USES`, and what is put into it."""

    form: int
    model: str
    name: str
    other: str
    filter: str


@dataclass(frozen=True)
class Program:
    """Ten files.

    Attributes:
        classes: The classes, by name.
        uses: What the files ``use0.py`` and so on do.
        errors: An error in the file of a name: of `ERRORS`.
        made: The class that functions in ``functions.py`` make.
        absent: Files that are not there.
    """

    classes: dict[str, Class]
    uses: dict[str, list[Use]]
    errors: dict[str, str] = field(default_factory=dict[str, str])
    made: str = CLASSES[0]
    absent: frozenset[str] = frozenset()

    def files(self) -> dict[str, str]:
        """Return the files by their names, without those that are absent."""
        found = {_file_of(each): "" for each in CLASSES}
        for name in CLASSES:
            found[_file_of(name)] += self._text_of(name)
        found["functions.py"] = self._functions()
        for name, uses in self.uses.items():
            found[name] = "".join(
                USES[use.form].format(
                    n=number, model=f"{_module_of(use.model)}.{use.model}", **_slots(use)
                )
                for number, use in enumerate(uses)
            )
        return {
            name: _HEADER + self.errors.get(name, "") + text
            for name, text in found.items()
            if name not in self.absent
        }

    def _functions(self) -> str:
        made = f"{_module_of(self.made)}.{self.made}"
        return f"""
def typed(rngs: nnx.Rngs) -> {made}:
    return {made}(rngs)

def untyped(rngs: nnx.Rngs):
    return {made}(rngs)

def params(model: {made}):
    return nnx.state(model, nnx.Param)
"""

    def _text_of(self, name: str) -> str:
        of = self.classes[name]
        if not of.is_there:
            return ""
        base = f"{_module_of(of.base)}.{of.base}" if of.base else "nnx.Module"
        if name.startswith("Data"):
            base = base if of.base else "nnx.Pytree"
            fields = [
                f"    {each}: {_type(kind)} = nnx.data()\n" for each, kind in of.attributes.items()
            ]
            return f"\n@nnx.dataclass\nclass {name}({base}):\n" + ("".join(fields) or "    pass\n")
        if _file_of(name).endswith(".pyi"):
            fields = [f"    {each}: {_type(kind)}\n" for each, kind in of.attributes.items()]
            head = "    def __init__(self, rngs: nnx.Rngs) -> None: ...\n"
            return f"\nclass {name}({base}):\n{''.join(fields)}{head}"
        lines = [f"        self.{each} = {_value(kind)}\n" for each, kind in of.attributes.items()]
        opening = "        setattr(self, f'name{1}', 1)\n" if of.is_open else ""
        above = (
            "        super().__init__(rngs)\n" if of.base.startswith("Model") else "        pass\n"
        )
        return (
            f"\nclass {name}({base}):\n    def __init__(self, rngs: nnx.Rngs) -> None:\n"
            f"{above}{''.join(lines)}{opening}"
        )


def first_program(random: Random) -> Program:
    """Return a program to begin with."""
    classes = {name: Class(_attributes(random)) for name in CLASSES}
    uses = {f"use{n}.py": [_use(random) for _ in range(3)] for n in range(5)}
    return Program(classes, uses)


def edited(edits: int, seed: int) -> Iterator[tuple[str, Program]]:
    """Yield a program and what comes of it by edits, each with what the edit does.

    Args:
        edits: How many.
        seed: Decides the program and its edits.
    """
    random = Random(seed)
    programs = [first_program(random)]
    yield "the start", programs[0]
    for _ in range(edits):
        if random.random() < 0.1:
            said, program = "undone", random.choice(programs[-5:])
        else:
            said, program = edit(programs[-1], random)
        programs.append(program)
        yield said, program


def edit(program: Program, random: Random) -> tuple[str, Program]:
    """Return what an edit does, and the program after it."""
    what = random.choice(_EDITS)
    return what(program, random)


def _edit_attribute(program: Program, random: Random) -> tuple[str, Program]:
    name = random.choice(CLASSES)
    attributes = dict(program.classes[name].attributes)
    key = random.choice(NAMES)
    if key in attributes and random.random() < 0.4:
        del attributes[key]
    else:
        attributes[key] = random.choice(KINDS)
    said = f"{name}.{key} is {attributes.get(key, 'gone')}"
    return said, _with_class(program, name, attributes=attributes)


def _edit_class(program: Program, random: Random) -> tuple[str, Program]:
    name = random.choice(CLASSES)
    of = program.classes[name]
    match random.randrange(3):
        case 0:
            return f"{name} opens or closes", _with_class(program, name, is_open=not of.is_open)
        case 1:
            there = not of.is_there
            return f"{name} comes or goes: {there}", _with_class(program, name, is_there=there)
        case _:
            kind = name[:-1]
            bases = ["", *(each for each in CLASSES if each < name and each.startswith(kind))]
            base = random.choice(bases)
            return f"{name} has the base {base}", _with_class(program, name, base=base)


def _edit_use(program: Program, random: Random) -> tuple[str, Program]:
    name = random.choice(sorted(program.uses))
    uses = list(program.uses[name])
    at = random.randrange(len(uses))
    uses[at] = _use(random)
    return f"{name} has another use {at}", replace(program, uses={**program.uses, name: uses})


def _edit_error(program: Program, random: Random) -> tuple[str, Program]:
    broken = [name for name, error in program.errors.items() if error]
    name = random.choice(broken or sorted(program.files()) or ["use0.py"])
    error = "" if name in broken else random.choice(ERRORS)
    return f"{name} has the error {error!r}", replace(
        program, errors={**program.errors, name: error}
    )


def _edit_made(program: Program, random: Random) -> tuple[str, Program]:
    made = random.choice(CLASSES)
    return f"functions make {made}", replace(program, made=made)


def _edit_file(program: Program, random: Random) -> tuple[str, Program]:
    name = random.choice(["functions.py", *program.uses, *map(_file_of, CLASSES)])
    return f"{name} comes or goes", replace(program, absent=program.absent ^ {name})


_EDITS: Final = (
    *(_edit_attribute,) * 6,
    *(_edit_class,) * 3,
    *(_edit_use,) * 3,
    *(_edit_error,) * 4,
    _edit_made,
    _edit_file,
)


def _with_class(program: Program, name: str, **changes: object) -> Program:
    changed = replace(program.classes[name], **changes)  # type: ignore[arg-type]  # of several types
    return replace(program, classes={**program.classes, name: changed})


def _attributes(random: Random) -> dict[str, str]:
    return {name: random.choice(KINDS) for name in NAMES if random.random() < 0.7}


def _use(random: Random) -> Use:
    return Use(
        random.randrange(len(USES)),
        random.choice(CLASSES),
        random.choice(NAMES),
        random.choice(NAMES),
        random.choice(FILTERS),
    )


def _slots(use: Use) -> dict[str, str]:
    return {"name": use.name, "other": use.other, "filter": use.filter}


def _module_of(name: str) -> str:
    return f"part{name[-1]}"


def _file_of(name: str) -> str:
    return f"part{name[-1]}.pyi" if name[-1] == "3" else f"part{name[-1]}.py"


def _value(kind: str) -> str:
    return _VALUES.get(kind) or f"{_module_of(kind)}.{kind}(rngs)"


def _type(kind: str) -> str:
    return _TYPES.get(kind) or f"{_module_of(kind)}.{kind}"
