"""The steps of a program that change structure, make objects, return them, fail, or nest."""

from __future__ import annotations

import dataclasses
import typing as tp

import jax

from tests.transforms.programs import Machine, Step, may_put, pick, put, small

FAILURES = ("custom", "missing attribute", "missing item", "bad shape")


class StopProgramError(Exception):
    """What the step `Fail` raises."""


@dataclasses.dataclass(frozen=True)
class Attach(Step):
    """Add an attribute, item or element with a new value (or put it over an old one)."""

    node: int
    name: str
    kind: str

    def take(self, m: Machine) -> bool:
        """Attach it."""
        node = m.node(self.node)
        if node is None:
            return False
        child = m.fresh(self.kind)
        if not may_put(node, self.name, child):
            return False
        put(node, self.name, child)
        return True


@dataclasses.dataclass(frozen=True)
class Delete(Step):
    """Delete an attribute, item or element."""

    slot: int

    def take(self, m: Machine) -> bool:
        """Delete it."""
        found = m.slot(self.slot)
        if found is None:
            return False
        node, key, _ = found
        if type(node).__name__ in ("List", "Dict"):
            del node[key]
        else:
            delattr(node, key)
        return True


@dataclasses.dataclass(frozen=True)
class Replace(Step):
    """Replace what an attribute holds by a new value."""

    slot: int
    kind: str

    def take(self, m: Machine) -> bool:
        """Replace it."""
        found = m.slot(self.slot)
        if found is None:
            return False
        child = m.fresh(self.kind)
        if not may_put(found[0], found[1], child):
            return False
        put(found[0], found[1], child)
        return True


@dataclasses.dataclass(frozen=True)
class Swap(Step):
    """Let two attributes change their objects."""

    first: int
    second: int

    def take(self, m: Machine) -> bool:
        """Swap two different objects."""
        one, two = m.slot(self.first, m.may_change), m.slot(self.second, m.may_change)
        if one is None or two is None or one[2] is two[2]:
            return False
        put(one[0], one[1], two[2])
        put(two[0], two[1], one[2])
        return True


@dataclasses.dataclass(frozen=True)
class Alias(Step):
    """Give an object that is there another name."""

    node: int
    name: str
    target: int

    def take(self, m: Machine) -> bool:
        """Assign it."""
        node = m.node(self.node)
        if node is None:
            return False
        put(node, self.name, pick(m.objects(), self.target))
        return True


@dataclasses.dataclass(frozen=True)
class Append(Step):
    """Append to an `nnx.List` (plain: to a plain list that is an attribute)."""

    node: int
    kind: str
    plain: bool

    def take(self, m: Machine) -> bool:
        """Append a new value."""
        items = m.plain_list(self.node) if self.plain else m.node(self.node, "List")
        if items is None:
            return False
        # In a plain list a marker for status has no meaning.
        items.append(m.fresh("param" if self.plain else self.kind))
        return True


@dataclasses.dataclass(frozen=True)
class Shorten(Step):
    """Pop the last element of an `nnx.List` (plain: of a plain list); an empty one raises."""

    node: int
    plain: bool

    def take(self, m: Machine) -> bool:
        """Pop it."""
        items = m.plain_list(self.node) if self.plain else m.node(self.node, "List")
        if items is None:
            return False
        items.pop()
        return True


@dataclasses.dataclass(frozen=True)
class Sow(Step):
    """Sow the register into a Module."""

    node: int
    name: str

    def take(self, m: Machine) -> bool:
        """Sow it as an Intermediate."""
        module = m.node(self.node, "Mod", "SubMod")
        if module is None:
            return False
        module.sow(m.nnx.Intermediate, f"sown_{self.name}", m.acc)
        return True


@dataclasses.dataclass(frozen=True)
class PopSown(Step):
    """Pop the Intermediates below a node and add them to the register."""

    node: int

    def take(self, m: Machine) -> bool:
        """Pop them; tell whether there were any."""
        node = m.node(self.node)
        if node is None:
            return False
        leaves = jax.tree.leaves(m.nnx.pop(node, m.nnx.Intermediate))
        for leaf in leaves:
            m.acc = small(m.acc + leaf)
        return bool(leaves)


@dataclasses.dataclass(frozen=True)
class SetStatic(Step):
    """Set a static attribute, or switch between training and evaluation."""

    node: int
    value: tp.Any

    def take(self, m: Machine) -> bool:
        """Set it."""
        node = m.node(self.node, "Mod", "SubMod", "Tree", "Obj")
        if node is None:
            return False
        if self.value == "eval" and hasattr(node, "eval"):
            node.eval()
        else:
            node.mode = self.value
        return True


@dataclasses.dataclass(frozen=True)
class ReadStatic(Step):
    """Let the register depend on a static attribute."""

    node: int

    def take(self, m: Machine) -> bool:
        """Add one if the node is in evaluation."""
        node = m.node(self.node, "Mod", "SubMod")
        if node is None:
            return False
        m.acc = small(m.acc + (1 if node.training else 3))
        return True


@dataclasses.dataclass(frozen=True)
class SetMetadata(Step):
    """Change, add or delete metadata of a Variable."""

    variable: int
    value: tp.Any

    def take(self, m: Machine) -> bool:
        """Set ``note``; None deletes it, and raises where there is none."""
        v = m.variable(self.variable)
        if v is None:
            return False
        if self.value is None:
            v.del_metadata("note")
        else:
            v.set_metadata("note", self.value)
        return True


@dataclasses.dataclass(frozen=True)
class Make(Step):
    """Make an object, which later steps can reach, and return it."""

    kind: str

    def take(self, m: Machine) -> bool:
        """Make it."""
        made = m.fresh(self.kind)
        m.roots.append(made)
        m.returned.append(made)
        return True


@dataclasses.dataclass(frozen=True)
class Return(Step):
    """Return an object that can be reached: an argument or a part of it."""

    target: int

    def take(self, m: Machine) -> bool:
        """Return it."""
        m.returned.append(pick(m.objects(), self.target))
        return True


@dataclasses.dataclass(frozen=True)
class Fail(Step):
    """Raise an error."""

    how: str

    def take(self, m: Machine) -> bool:
        """Raise."""
        match self.how:
            case "missing attribute":
                m.node(0).no_such_attribute  # noqa: B018 - the read raises
            case "missing item":
                dict[str, int]()["no such item"]
            case "bad shape":
                m.acc = m.acc.reshape(7)
        raise StopProgramError


@dataclasses.dataclass(frozen=True)
class Nested(Step):
    """Call a transformed function with one of the objects and the register."""

    transform: str
    target: int
    steps: tuple[Step, ...]

    def take(self, m: Machine) -> bool:
        """Run the inner steps in it; what they return can be reached afterwards."""

        def inner(node: tp.Any, acc: jax.Array) -> tp.Any:
            machine = Machine(m.nnx, m.classes, [node], acc)
            machine.transforms = m.transforms
            machine.trail = m.trail
            return machine.run(self.steps)

        target = pick(m.objects(), self.target)
        m.acc, returned = m.transforms[self.transform](inner)(target, m.acc)
        m.roots.extend(returned)
        m.returned.extend(returned)
        return True
