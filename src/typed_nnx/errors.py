"""Every exception of the package. Imports nothing of ours.

The arguments of an exception are the facts; its text is written here, once, by ``__str__``.
"""

from __future__ import annotations

# -- random numbers --------------------------------------------------------------------------------


class StreamNotFoundError(AttributeError, KeyError):
    """A stream was asked for that `Rngs` does not have, and there is no stream ``default``.

    Attribute access raises it as an `AttributeError`, item access as a `KeyError`.

    Args:
        stream: The name that was asked for.
        streams: The names that exist.
    """

    def __init__(self, stream: str, streams: tuple[str, ...]) -> None:
        super().__init__(stream, streams)
        self.stream = stream
        self.streams = streams

    def __str__(self) -> str:
        has = ", ".join(map(repr, self.streams)) or "no streams"
        return (
            f"Rngs: there is no stream {self.stream!r} and no stream 'default' to take its place; "
            f"this Rngs has {has}.\n"
            f"  Fix: give it a seed, `nnx.Rngs(..., {self.stream}=1)`, or a seed for every other "
            "stream, `nnx.Rngs(0, ...)`."
        )


class InvalidSeedError(ValueError):
    """A stream was given something that is neither a seed nor a key.

    Args:
        stream: The name of the stream.
        seed: What was given.
    """

    def __init__(self, stream: str, seed: object) -> None:
        super().__init__(stream, seed)
        self.stream = stream
        self.seed = seed

    def __str__(self) -> str:
        return (
            f"Rngs: stream {self.stream!r} got {self.seed!r} ({type(self.seed).__name__}); "
            "expected an int, a key made by `jax.random.key`, or a stream.\n"
            "  Fix: pass an int, or make a key of the seed: `jax.random.key(seed)`."
        )


class KeyShapeError(ValueError):
    """A key was drawn from a stream that holds an array of keys.

    Args:
        stream: The name of the stream.
        shape: The shape of its keys.
    """

    def __init__(self, stream: str, shape: tuple[int, ...]) -> None:
        super().__init__(stream, shape)
        self.stream = stream
        self.shape = shape

    def __str__(self) -> str:
        return (
            f"RngStream {self.stream!r}: it holds keys of shape {self.shape}, so it cannot draw "
            "one key; expected a single key of shape ().\n"
            "  Fix: draw inside `nnx.vmap`, which gives each call one of the keys."
        )


class InvalidRngSplitError(TypeError):
    """`fork`, `split` or `broadcast` of random streams got something that is not a shape.

    Args:
        method: The method that was called.
        argument: The name of its argument.
        got: What was given.
    """

    def __init__(self, method: str, argument: str, got: object) -> None:
        super().__init__(method, argument, got)
        self.method = method
        self.argument = argument
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.method}: argument `{self.argument}` is {self.got!r} "
            f"({type(self.got).__name__}); expected an int, a tuple of ints, or a mapping from "
            "filters to them.\n"
            f"  Fix: `{self.argument}=2` for every stream, or "
            f"`{self.argument}={{'params': 2, ...: (2, 3)}}` by stream."
        )


class ReseedPolicyError(ValueError):
    """`reseed` got a policy that it does not know.

    Args:
        policy: What was given.
    """

    def __init__(self, policy: object) -> None:
        super().__init__(policy)
        self.policy = policy

    def __str__(self) -> str:
        return (
            f"reseed: argument `policy` is {self.policy!r}; expected 'scalars_only', 'match_shape' "
            "or a function of path, key and shape that returns a key.\n"
            "  Fix: reseed(node, policy='match_shape', ...)"
        )


class ReseedShapeError(ValueError):
    """`reseed` met a stream with an array of keys under the policy ``scalars_only``.

    Args:
        path: The path of the stream.
        shape: The shape of its keys.
    """

    def __init__(self, path: tuple[object, ...], shape: tuple[int, ...]) -> None:
        super().__init__(path, shape)
        self.path = path
        self.shape = shape

    def __str__(self) -> str:
        return (
            f"reseed: the stream at path {self.path!r} holds keys of shape {self.shape}; the "
            "policy 'scalars_only' expects single keys.\n"
            "  Fix: reseed(node, policy='match_shape', ...) if all its keys shall differ, or a "
            "policy of your own."
        )


# -- Variables -------------------------------------------------------------------------------------


class RefInVariableError(ValueError):
    """An array reference was given as the value of a new Variable.

    Args:
        variable: The name of the Variable's type.
    """

    def __init__(self, variable: str) -> None:
        super().__init__(variable)
        self.variable = variable

    def __str__(self) -> str:
        return (
            f"{self.variable}: the value is an array reference; expected an array.\n"
            f"  Fix: {self.variable}(array, ref=True), which makes the reference itself."
        )


class IncompatibleVariableError(ValueError):
    """`Variable.copy_from` got a Variable of another type.

    Args:
        expected: The type that was expected.
        got: The type that came.
    """

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"copy_from: expected a {self.expected}, got a {self.got}.\n"
            "  Fix: copy the value alone: variable[...] = other[...]"
        )


class VariableAttributeError(AttributeError):
    """Metadata or an attribute of a Variable was read, set or deleted in a way that does not exist.

    Args:
        action: What was tried.
        variable: The name of the Variable's type.
        attribute: The name.
        known: The names of the metadata that there is.
    """

    def __init__(self, action: str, variable: str, attribute: str, known: tuple[str, ...]) -> None:
        super().__init__(action, variable, attribute, known)
        self.action = action
        self.variable = variable
        self.attribute = attribute
        self.known = known

    def __str__(self) -> str:
        what = f"{self.variable}: cannot {self.action} {self.attribute!r}"
        if self.action == "set":
            return (
                f"{what}: metadata is not set by attribute.\n"
                f"  Fix: variable.set_metadata({self.attribute}=value)"
            )
        if self.action == "delete attribute":
            return (
                f"{what}: metadata is not deleted by attribute.\n"
                f"  Fix: variable.del_metadata({self.attribute!r})"
            )
        return (
            f"{what}: there is no such metadata; there is {', '.join(self.known)}.\n"
            f"  Fix: variable.get_metadata({self.attribute!r}, default), or set it first with "
            f"variable.set_metadata({self.attribute}=value)"
        )


class VariableNameError(ValueError):
    """The registry of Variable types does not know a name or type, or knows it already.

    Args:
        problem: What is wrong.
        name: The name.
    """

    def __init__(self, problem: str, name: str) -> None:
        super().__init__(problem, name)
        self.problem = problem
        self.name = name

    def __str__(self) -> str:
        return (
            f"Variable names: {self.problem}.\n"
            f"  Fix: nnx.register_variable_name({self.name!r}, YourVariable), with overwrite=True "
            "to replace another type, or pass allow_register=True"
        )


class MeshRequiredError(ValueError):
    """A Variable has sharding metadata but there is no mesh to place its value on.

    Args:
        spec: The partition of the value.
    """

    def __init__(self, spec: object) -> None:
        super().__init__(spec)
        self.spec = spec

    def __str__(self) -> str:
        return (
            f"Variable: no mesh for out_sharding={self.spec}; expected a mesh in force or in the "
            "metadata.\n"
            "  Fix: create the Variable under `with jax.set_mesh(mesh):`, pass mesh=mesh, or pass "
            "eager_sharding=False to place it later"
        )


class UnhashableMetadataError(TypeError):
    """A hash of a Variable's metadata was needed and a value in it has none.

    Args:
        items: The names and values without a hash.
    """

    def __init__(self, items: list[tuple[str, object]]) -> None:
        super().__init__(items)
        self.items = items

    def __str__(self) -> str:
        named = ", ".join(f"{name!r} ({type(value).__name__})" for name, value in self.items)
        return (
            f"Variable metadata: {named} has no hash, and a hash is needed here.\n"
            "  Fix: use a hashable value, a tuple for a list: "
            f"variable.set_metadata({self.items[0][0]}=tuple(...))"
        )


# -- Pytrees ---------------------------------------------------------------------------------------


class TraceLevelError(Exception):
    """A Pytree or Variable was mutated under another jax trace than the one it belongs to.

    Args:
        kind: "Pytree" or "Variable".
        owner: The name of its type.
        attribute: The attribute that was assigned, if it was one.
        path: Where the object is, if it was found.
    """

    def __init__(self, kind: str, owner: str, attribute: str | None, path: str | None) -> None:
        super().__init__(kind, owner, attribute, path)
        self.kind = kind
        self.owner = owner
        self.attribute = attribute
        self.path = path

    def __str__(self) -> str:
        place = "" if self.path is None else f" at {self.path}"
        what = "its value" if self.attribute is None else f"attribute {self.attribute!r}"
        owner = f"'{self.owner}'" if self.kind == "Pytree" else self.owner
        article = "" if self.kind == "Pytree" else "a "
        return (
            f"Cannot mutate {owner} from {article}different trace level: {what} of the "
            f"{self.owner}{place} was to change inside a jax transform that captured the object "
            "instead of taking it as an argument.\n"
            "  Fix: pass the object to the transformed function as an argument, and return what "
            "changed (or use the transforms of nnx, which propagate it)"
        )


class _AttributeValueError(ValueError):
    """What the errors about one attribute value have in common.

    Args:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The value.
    """

    def __init__(self, holder: type, attribute: str, value: object) -> None:
        super().__init__(holder, attribute, value)
        self.holder = holder
        self.attribute = attribute
        self.value = value


class StaticMarkError(_AttributeValueError):
    """A value annotated with `nnx.static` holds arrays, Variables or Pytrees."""

    def __str__(self) -> str:
        return (
            f"Found data in value of type '{type(self.value)}' annotated with nnx.static(...) when "
            f"setting attribute '{self.attribute}' of Pytree type '{self.holder}'.\n"
            f"  Fix: _.{self.attribute} = nnx.data(...)"
        )


class StaticAttributeError(_AttributeValueError):
    """An array, Variable or Pytree was assigned to an attribute that is static."""

    def __str__(self) -> str:
        return (
            f"Cannot assign data value of type '{type(self.value)}' to static attribute "
            f"'{self.attribute}' of Pytree type '{self.holder}'. To override the status explicitly "
            "wrap the value with nnx.data on assignment:\n\n"
            f"  _.{self.attribute} = nnx.data(...)\n"
        )


def _remedies(holder: type, attribute: str, value: object, first: str) -> str:
    name = type(value).__name__
    return (
        "Consider one of the following options:\n\n"
        f"1. {first}\n\n"
        "2. Wrap the value with nnx.data on assignment:\n\n"
        f"  _.{attribute} = nnx.data(...)\n\n"
        "3. Annotate the class attribute with nnx.Data:\n\n"
        f"  class {holder.__name__}({holder.__base__.__name__ if holder.__base__ else 'Pytree'}):\n"
        f"    {attribute}: nnx.Data[{name}]\n\n"
        "4. If the container is a list or dict, try using nnx.List(...) or nnx.Dict(...) instead.\n\n"
        "5. Disable pytree for this class:\n\n"
        f"  class {holder.__name__}(Pytree, pytree=False):\n"
    )


class DataInStaticError(_AttributeValueError):
    """A container with arrays, Variables or Pytrees in it was assigned to a static attribute.

    Args:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The container.
        found: The names of the types of the data in it.
    """

    def __init__(self, holder: type, attribute: str, value: object, found: list[str]) -> None:
        super().__init__(holder, attribute, value)
        self.args = (holder, attribute, value, found)
        self.found = found

    def __str__(self) -> str:
        types = ", ".join(sorted(set(self.found)))
        first = f"If the attribute is meant to be static, remove the data values of type(s): {types}"
        return (
            f"Found data on value of type '{type(self.value)}' assigned to static attribute "
            f"'{self.attribute}' of Pytree type '{self.holder}'. Static attributes should not "
            "contain data values. " + _remedies(self.holder, self.attribute, self.value, first)
        )


class UnexpectedDataError(_AttributeValueError):
    """A static attribute was found to hold arrays, Variables or Pytrees after ``__init__``."""

    def __str__(self) -> str:
        first = (
            "If the attribute is meant to be static, either remove the data value or wrap it in a "
            "static container."
        )
        return (
            f"Found unexpected data on value of type {type(self.value)} in static attribute "
            f"'{self.attribute}' of Pytree type '{self.holder}'.\n"
            + _remedies(self.holder, self.attribute, self.value, first)
        )


class MisplacedMarkError(_AttributeValueError):
    """`nnx.data` or `nnx.static` was put inside a container.

    Args:
        holder: The type of the Pytree.
        attribute: The name of the attribute.
        value: The container.
        tags: The names of the annotations found.
    """

    def __init__(self, holder: type, attribute: str, value: object, tags: set[str]) -> None:
        super().__init__(holder, attribute, value)
        self.args = (holder, attribute, value, tags)
        self.tags = tags

    def __str__(self) -> str:
        tags = "{" + ", ".join(map(repr, sorted(self.tags, reverse=True))) + "}"
        return (
            f"Found unexpected tags {tags} on attribute '{self.holder.__name__}.{self.attribute}'. "
            "Values from nnx.data(...) and\n"
            "nnx.static(...) should be assigned to nnx.Pytree attributes directly, they should not "
            f"be inside other structures. Got value of type '{type(self.value)}' on Pytree of type "
            f"'{self.holder}'.\n"
            f"  Fix: annotate the whole attribute: _.{self.attribute} = nnx.data(...)"
        )


class UnhashableStaticError(TypeError):
    """A hash of a structure was needed and a static value in it has none.

    Args:
        holder: The name of the type of the node.
        attribute: The attribute or key.
        value: The value.
    """

    def __init__(self, holder: str, attribute: object, value: object) -> None:
        super().__init__(holder, attribute, value)
        self.holder = holder
        self.attribute = attribute
        self.value = value

    def __str__(self) -> str:
        return (
            f"unhashable type: '{type(self.value).__name__}': static attribute {self.attribute!r} "
            f"of {self.holder} holds {self.value!r}, and a hash is needed here.\n"
            f"  Fix: use a hashable value, a tuple for a list: _.{self.attribute} = tuple(...)"
        )


# -- Modules ---------------------------------------------------------------------------------------


class VariableTypeError(ValueError):
    """`sow` or `perturb` met an attribute of another type than the one it writes.

    Args:
        module: The name of the Module's type.
        attribute: The attribute.
        expected: The Variable type that was asked for.
        got: The type that is there.
    """

    def __init__(self, module: str, attribute: str, expected: str, got: str) -> None:
        super().__init__(module, attribute, expected, got)
        self.module = module
        self.attribute = attribute
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"Expected '{self.attribute}' to be of type '{self.expected}', got '{self.got}' "
            f"(attribute of {self.module}).\n"
            "  Fix: record the value under another name"
        )


class AttributesNotFoundError(ValueError):
    """`set_attributes`, `with_attributes` or `view` was given names that no selected Module has.

    Args:
        function: The function that was called.
        missing: The names.
        root: The name of the type of the root.
    """

    def __init__(self, function: str, missing: list[str], root: str) -> None:
        super().__init__(function, missing, root)
        self.function = function
        self.missing = missing
        self.root = root

    def __str__(self) -> str:
        if self.function == "view":
            return (
                f"Unused keys found in nnx.view: {self.missing} (no `set_view` of a selected Module "
                f"in {self.root} takes them).\n"
                "  Fix: correct the names, or pass raise_if_not_found=False"
            )
        return (
            f"{self.function}: Could not find at least one instance of the following attributes: "
            f"{self.missing} (in the selected Modules of {self.root}).\n"
            "  Fix: correct the names or the filters, or pass raise_if_not_found=False"
        )


# -- filters, State and GraphDef -------------------------------------------------------------------


class InvalidFilterError(TypeError, ValueError):
    """Something that is no filter was given as one.

    Args:
        got: What was given.
    """

    def __init__(self, got: object) -> None:
        super().__init__(got)
        self.got = got

    def __str__(self) -> str:
        return (
            f"filter: got {self.got!r} ({type(self.got).__name__}); expected a type, a string tag, "
            "`...`, a bool, None, a tuple or list of filters, or a function (path, value) -> bool.\n"
            "  Fix: nnx.split(model, nnx.Param, ...)"
        )


class FilterOrderError(ValueError):
    """`...` or `True` stands before other filters, which could never match.

    Args:
        index: Its position.
        got: The filter.
    """

    def __init__(self, index: int, got: object) -> None:
        super().__init__(index, got)
        self.index = index
        self.got = got

    def __str__(self) -> str:
        text = "..." if self.got is Ellipsis else repr(self.got)
        return (
            f"`...` or `True` can only be used as the last filters, got `{text}` at index "
            f"{self.index}: it takes every remaining leaf.\n"
            "  Fix: move it to the end of the filters"
        )


class NoFilterMatchedError(ValueError):
    """Leaves of a model matched none of the filters.

    Args:
        function: The function that was called.
        leaves: Path and description of each leaf.
    """

    def __init__(self, function: str, leaves: list[tuple[tuple[object, ...], str]]) -> None:
        super().__init__(function, leaves)
        self.function = function
        self.leaves = leaves

    def __str__(self) -> str:
        path, text = self.leaves[0]
        more = len(self.leaves) - 1
        also = f" (and {more} more)" if more else ""
        return (
            f"{self.function}: no filter matched the leaf at path {path!r} ({text}){also}.\n"
            '  Fix: add a filter that matches it, or `...` as the last filter for "everything else".'
        )


class MissingFilterError(ValueError):
    """A function that needs at least one filter got none.

    Args:
        function: The function.
    """

    def __init__(self, function: str) -> None:
        super().__init__(function)
        self.function = function

    def __str__(self) -> str:
        return (
            f"{self.function}: Expected at least one filter.\n"
            f"  Fix: nnx.{self.function}(model, nnx.Intermediate)"
        )


def _listed(paths: list[tuple[object, ...]]) -> str:
    shown = [f"\n    {path!r}" for path in paths[:10]]
    more = f"\n    ... and {len(paths) - 10} more" if len(paths) > 10 else ""
    return "".join(shown) + more


class StateMismatchError(ValueError):
    """States do not fit a GraphDef: leaves are missing, extra or of the wrong type.

    Args:
        function: The function that was called.
        missing: Paths that the GraphDef has and the states have not.
        extra: Paths that the states have and the GraphDef has not.
        wrong: Path, expected type and type found.
    """

    def __init__(
        self,
        function: str,
        missing: list[tuple[object, ...]],
        extra: list[tuple[object, ...]],
        wrong: list[tuple[tuple[object, ...], str, str]],
    ) -> None:
        super().__init__(function, missing, extra, wrong)
        self.function = function
        self.missing = missing
        self.extra = extra
        self.wrong = wrong

    def __str__(self) -> str:
        parts = [f"{self.function}: the states do not fit the GraphDef."]
        if self.missing:
            parts.append(f"  missing, expected at:{_listed(self.missing)}")
        if self.extra:
            parts.append(f"  extra, not in the GraphDef:{_listed(self.extra)}")
        parts.extend(
            f"  wrong type at {path!r}: expected {expected}, got {got}"
            for path, expected, got in self.wrong[:10]
        )
        parts.append(
            "  Fix: pass every State that `split` returned, from a model of the same structure"
        )
        return "\n".join(parts)


class UnknownPathError(ValueError):
    """`update` was given leaves for which the object has no place.

    Args:
        paths: The paths.
        root: The name of the type of the object.
    """

    def __init__(self, paths: list[tuple[object, ...]], root: str) -> None:
        super().__init__(paths, root)
        self.paths = paths
        self.root = root

    def __str__(self) -> str:
        return (
            f"update: {self.root} has nothing at the path(s):{_listed(self.paths)}\n"
            "  Fix: update with a State of a model of the same structure; assign new attributes "
            "directly (model.name = variable)"
        )


class UpdateTypeError(ValueError):
    """`update` was given something that cannot be written to where it belongs.

    Args:
        path: The path.
        expected: What is there.
        got: What was given.
    """

    def __init__(self, path: tuple[object, ...], expected: str, got: str) -> None:
        super().__init__(path, expected, got)
        self.path = path
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return (
            f"update: at path {self.path!r} there is {self.expected}; got {self.got}.\n"
            "  Fix: update with a State of a model of the same structure"
        )


class ImmutableNodeError(ValueError):
    """A child of a tuple or another immutable node was to be replaced or removed.

    Args:
        function: The function that was called.
        path: The path of the child.
        node: The name of the type of the node.
    """

    def __init__(self, function: str, path: tuple[object, ...], node: str) -> None:
        super().__init__(function, path, node)
        self.function = function
        self.path = path
        self.node = node

    def __str__(self) -> str:
        return (
            f"{self.function}: cannot change the child at path {self.path!r} of an immutable node "
            f"of type {self.node}.\n"
            "  Fix: keep it in an nnx.List, an nnx.Dict or an attribute of a Pytree"
        )


class DuplicatePathsError(ValueError):
    """The same object was found at several paths where each may be there once.

    Args:
        what: What was found.
        paths: Its paths.
        fix: What to do.
    """

    def __init__(self, what: str, paths: list[tuple[object, ...]], fix: str) -> None:
        super().__init__(what, paths, fix)
        self.what = what
        self.paths = paths
        self.fix = fix

    def __str__(self) -> str:
        lines = "\n".join("  " + "/".join(map(str, path)) for path in self.paths)
        return f"Found duplicate at paths:\n  ---\n{lines}\n  ---\n({self.what})\n  Fix: {self.fix}"


class ContainerCycleError(ValueError):
    """A plain container holds itself; it has no identity in a graph, so it has no end.

    Args:
        path: The path at which it comes again.
        node: The name of its type.
    """

    def __init__(self, path: tuple[object, ...], node: str) -> None:
        super().__init__(path, node)
        self.path = path
        self.node = node

    def __str__(self) -> str:
        return (
            f"traversal: the {self.node} at path {self.path!r} contains itself.\n"
            "  Fix: make the outer one an nnx.List or nnx.Dict, which may be part of a cycle"
        )


class StaleRecordError(RuntimeError):
    """The verifying debug mode found that a cached record is not what a fresh traversal gives.

    Args:
        root: The name of the type of the root.
        difference: What differs.
    """

    def __init__(self, root: str, difference: str) -> None:
        super().__init__(root, difference)
        self.root = root
        self.difference = difference

    def __str__(self) -> str:
        return (
            f"record of {self.root}: {self.difference}; an object was changed without "
            "`__setattr__` (through `vars(obj)` or `obj.__dict__`).\n"
            "  Fix: call nnx.invalidate(model) after such a change"
        )


class UpdateContextError(ValueError):
    """An update context was used in a way or an order that does not work.

    Args:
        problem: What is wrong.
        tag: The tag of the context.
    """

    def __init__(self, problem: str, tag: object) -> None:
        super().__init__(problem, tag)
        self.problem = problem
        self.tag = tag

    def __str__(self) -> str:
        return (
            f"{self.problem} (update_context {self.tag!r}).\n"
            "  Fix: with nnx.update_context(tag): split outside, merge inside, split inside, "
            "merge outside"
        )


class StateKeyError(KeyError, AttributeError):
    """A State has no such key.

    Args:
        key: The key.
        known: The keys that it has.
    """

    def __init__(self, key: object, known: list[object]) -> None:
        super().__init__(key, known)
        self.key = key
        self.known = known

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.known[:12])) or "none, it is empty"
        return f"No attribute {self.key!r} in State; its keys are: {shown}"


class SharedReferenceError(ValueError):
    """A tree was asserted (``graph=False``) and an object is reached on several paths.

    Args:
        function: The function that was called.
        kind: The name of the object's type.
        paths: Its paths.
    """

    def __init__(self, function: str, kind: str, paths: list[tuple[object, ...]]) -> None:
        super().__init__(function, kind, paths)
        self.function = function
        self.kind = kind
        self.paths = paths

    def __str__(self) -> str:
        return (
            f"{self.function}: Duplicate {self.kind} found at paths:{_listed(self.paths)}\n"
            "  Tree mode (graph=False) does not support shared references.\n"
            f"  Fix: give each path an object of its own, or nnx.{self.function}(..., graph=True)"
        )


class PrefixConflictError(ValueError):
    """One object is reached on several paths that have different prefixes.

    Args:
        paths: Path and prefix of each.
    """

    def __init__(self, paths: list[tuple[str, object]]) -> None:
        super().__init__(paths)
        self.paths = paths

    def __str__(self) -> str:
        lines = "".join(f"\n    {path}: {prefix}" for path, prefix in self.paths)
        return (
            f"Inconsistent aliasing: one object has different prefixes at its paths:{lines}\n"
            "  Fix: give all paths to the object the same prefix"
        )
