"""Run a program on the objects of a world and describe all that a user can see afterwards."""

from __future__ import annotations

import dataclasses
import functools
import typing as tp

import jax
import jax.numpy as jnp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.graph.conftest import CHECKS
from tests.graph.descriptions import Graph, Node, Value
from tests.graph.oracle import is_node, is_variable, objects_by_path, walk
from tests.graph.worlds import World
from tests.support.examples import share
from tests.transforms.programs import Machine, Step

PASSINGS = ("arguments", "keywords", "dict", "tuple", "closure", "closure and argument", "partial")
Transform = tp.Callable[[tp.Callable], tp.Callable]
Seen = tuple[str, tp.Any]


@dataclasses.dataclass(frozen=True)
class Scenario:
    """Objects, a program to call with them, and what is done to them between the calls.

    Attributes:
        graph: the objects; node 0 is the first argument.
        other: the second argument, which may share objects with the first.
        passing: how the function comes by its arguments.
        body: the program that the function runs.
        between: the program that runs, untransformed, after each call but the last.
        calls: how often the function is called.
    """

    graph: Graph
    other: Value
    passing: str
    body: tuple[Step, ...]
    between: tuple[Step, ...] = ()
    calls: int = 1


def budget(examples: int) -> settings:
    """Return settings with few examples: each of them compiles something."""
    return full_budget(share(examples))


def full_budget(examples: int) -> settings:
    """Return settings with so many examples in every run."""
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        phases=[Phase.explicit, Phase.generate, Phase.target, Phase.shrink],
        suppress_health_check=CHECKS,
        database=None,
    )


def explore(
    examples: int, check: tp.Callable[..., None], *strategies: st.SearchStrategy[tp.Any]
) -> None:
    """Check a law for many examples, other ones each time.

    Args:
        examples: How many.
        check: The law.
        *strategies: What draws its arguments.
    """

    # A function of its own: hypothesis takes settings for a function only once.
    @given(st.tuples(*strategies))
    @settings(full_budget(examples), derandomize=False)
    def law(drawn: tuple[tp.Any, ...]) -> None:
        check(*drawn)

    law()


def eagerly(function: tp.Callable) -> tp.Callable:
    """Stand in for a transform: call the function as it is."""
    return function


def twice(transform: Transform) -> Transform:
    """Return the transform applied to its own result."""
    return lambda function: transform(transform(function))


class Play:
    """One world with a program: calls it, transformed or not, and keeps what a user can see."""

    def __init__(
        self,
        nnx: tp.Any,
        scenario: Scenario,
        nested: tp.Mapping[str, Transform],
        roots: list[tp.Any] | None = None,
    ) -> None:
        self.nnx = nnx
        self.scenario = scenario
        self.nested = nested
        self.world = World(nnx, scenario.graph)
        built = [self.world.value(Node(0)), self.world.value(scenario.other)]
        self.roots = built if roots is None else roots
        self.held = objects(self.roots)
        self.trail: list[str] = []

    def machine(self, roots: tp.Sequence[tp.Any], x: jax.Array) -> Machine:
        """Return a machine that works on `roots`."""
        machine = Machine(self.nnx, self.world.classes, roots, x)
        machine.transforms = self.nested
        machine.trail = self.trail
        return machine

    def run(self, model: tp.Any, other: tp.Any, x: jax.Array) -> tp.Any:
        """Run the program: the body of the function that is transformed."""
        return self.machine([model, other], x).run(self.scenario.body)

    def call(self, transform: Transform) -> tp.Callable[[jax.Array], tp.Any]:
        """Return a function of `x` that calls the transformed program with its arguments."""
        run, (model, other) = self.run, self.roots
        match self.scenario.passing:
            case "keywords":
                function = transform(lambda x, *, model, other: run(model, other, x))
                return lambda x: function(x, model=model, other=other)
            case "dict":
                function = transform(lambda roots, x: run(roots["model"], roots["other"], x))
                return lambda x: function({"model": model, "other": other}, x)
            case "tuple":
                function = transform(lambda roots, x: run(roots[0], roots[1], x))
                return lambda x: function((model, other), x)
            case "closure":
                return transform(lambda x: run(model, other, x))
            case "closure and argument":
                function = transform(lambda other, x: run(model, other, x))
                return lambda x: function(other, x)
            case "partial":
                function = transform(functools.partial(run, model))
                return lambda x: function(other, x)
        function = transform(lambda model, other, x: run(model, other, x))
        return lambda x: function(model, other, x)

    def see(self, result: tp.Any) -> Seen:
        """Describe the arguments, the result and all objects that were there before the call.

        An object met again is described by its path: so the description tells which of the old
        objects are still in place, and which of the returned objects are old ones.
        """
        return "ok", walk([self.roots, result, self.held])

    def attempt(self, function: tp.Callable[[], tp.Any], *, restores: bool = True) -> Seen:
        """Call a function; return ("ok", result) or ("error", class of the exception).

        Args:
            function: What to call.
            restores: Whether an exception must leave the objects as they were before the call.
        """
        before, arrays = self.see(None), raw_values(self.roots)
        try:
            return "ok", function()
        except Exception as error:  # noqa: BLE001 - any error is compared by its class
            if restores:
                assert self.see(None) == before, "an exception must leave the objects alone"
                now = raw_values(self.roots)
                assert all(a is b for a, b in zip(arrays, now, strict=True))
            return "error", type(error).__name__

    def play(self, transform: Transform, *, restores: bool = True) -> list[Seen]:
        """Call as often as the scenario says; return what is seen after each call."""
        function = self.call(transform)
        seen = []
        for number in range(self.scenario.calls):
            x = jnp.asarray([1.0 + number, 2.0])
            kind, result = self.attempt(functools.partial(function, x), restores=restores)
            seen.append(self.see(result) if kind == "ok" else (kind, result))
            if kind == "error":
                break
            self.held += [x for x in objects([result]) if x not in Identities(self.held)]
            if number + 1 < self.scenario.calls:
                seen.append(self.change())
                if seen[-1][0] == "error":
                    break
        return seen

    def change(self) -> Seen:
        """Run the program for between the calls, untransformed."""
        machine = self.machine(self.roots, jnp.asarray([3.0, 4.0]))
        machine.trail = []
        try:
            result = machine.run(self.scenario.between)
        except Exception as error:  # noqa: BLE001 - any error is compared by its class
            return "error", type(error).__name__
        return self.see(result)


def agree(found: list[Seen], expected: list[Seen]) -> None:
    """Assert that two plays were seen alike; the message shows where they part."""
    assert [kind for kind, _ in found] == [kind for kind, _ in expected], (found, expected)
    for number, ((kind, one), (_, two)) in enumerate(zip(found, expected, strict=True)):
        if kind == "ok" and one != two:
            lost = [entry for entry in two if entry not in one]
            new = [entry for entry in one if entry not in two]
            raise AssertionError(f"after {number} steps\nexpected: {lost}\nfound:    {new}")
        assert one == two, f"the error is {one}, not {two}"


class Identities:
    """A set of objects that are compared by identity."""

    def __init__(self, items: tp.Iterable[tp.Any]) -> None:
        self.ids = {id(item) for item in items}

    def __contains__(self, item: tp.Any) -> bool:
        return id(item) in self.ids


def objects(roots: tp.Any) -> list[tp.Any]:
    """Return the nodes and Variables that can be reached, in canonical order."""
    return [x for x in objects_by_path(roots).values() if is_node(x) or is_variable(x)]


def raw_values(roots: tp.Any) -> list[tp.Any]:
    """Return the very arrays that the Variables and attributes hold."""
    found = objects_by_path(roots).values()
    return [x.get_raw_value() if is_variable(x) else x for x in found if not is_node(x)]
