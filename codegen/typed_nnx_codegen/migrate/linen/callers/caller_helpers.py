"""Functions for the top level of migrated files: a model apart from the variables that it runs with."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers import Helper

VARIABLES_OF: Final = Helper(
    "variables_of",
    '''\
def variables_of(model):
    """Return the variables of a model by collection: nested dicts of arrays."""
    found = {}
    for path, variable in nnx.to_flat_state(nnx.state(model)):
        if not isinstance(variable, nnx.Variable) or isinstance(variable, nnx.RngState):
            continue
        collection = nnx.variable_name_from_type(type(variable), allow_register=True)
        *above, last = (collection, *map(str, path))
        inner = found
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = variable.get_value()
    return found
''',
)

BOUND_TO: Final = Helper(
    "bound_to",
    '''\
def bound_to(model, variables, rngs=None, mutable=False):
    """Return a copy of a model with other variables; `model` may also be what constructs it.

    Modules that ask for their mode are in training where `mutable` names the batch statistics.
    """

    def asks_for_mode(path, module):
        return "use_running_average" not in inspect.signature(type(module).__init__).parameters

    def is_own(leaf):
        if not isinstance(leaf, nnx.Variable):
            return True
        if isinstance(leaf, nnx.RngState):
            return False
        collection = nnx.variable_name_from_type(type(leaf), allow_register=True)
        return collection != "params" and collection not in variables

    def construct():
        return model(rngs=nnx.Rngs(0))

    if isinstance(model, nnx.Module):
        graphdef, state = nnx.split(model)
    else:
        # Its structure is enough where all values are given.
        graphdef, state = nnx.split(nnx.eval_shape(construct))
        if any(is_own(leaf) for _, leaf in nnx.to_flat_state(state)):
            graphdef, state = nnx.split(construct())
    leaves = []
    for path, leaf in nnx.to_flat_state(state):
        value = leaf.get_value() if isinstance(leaf, nnx.Variable) else leaf
        if not is_own(leaf) and not isinstance(leaf, nnx.RngState):
            value = variables[nnx.variable_name_from_type(type(leaf), allow_register=True)]
            for name in path:
                value = value[str(name)]
        leaves.append((path, value))
    bound = nnx.merge(graphdef, nnx.from_flat_state(leaves))
    is_eval = mutable is not True and "batch_stats" not in (mutable or ())
    bound.set_attributes(asks_for_mode, use_running_average=is_eval, raise_if_not_found=False)
    if rngs is not None:
        keys = dict(rngs) if hasattr(rngs, "keys") else {"params": rngs}
        default = keys.get("params", next(iter(keys.values()), 0))
        nnx.reseed(bound, policy="match_shape", **{"default": default, **keys})
    return bound
''',
    ("import inspect",),
)

APPLY_WITH: Final = Helper(
    "apply_with",
    '''\
def apply_with(
    model, variables, *args, rngs=None, mutable=False, method=None, **kwargs
):
    """Call a method of a model with other variables than its own; the model stays as it is.

    With `mutable`, the variables of these collections after the call are returned, too.
    """
    bound = bound_to(model, variables, rngs, mutable)
    name = "__call__" if method is None else method
    function = getattr(bound, name) if isinstance(name, str) else partial(name, bound)
    output = function(*args, **kwargs)
    if mutable is False:
        return output
    found = variables_of(bound)
    names = found if mutable is True else [mutable] if isinstance(mutable, str) else mutable
    return output, {name: found[name] for name in names if name in found}
''',
    ("from functools import partial",),
    after=(BOUND_TO, VARIABLES_OF),
)

INIT_WITH_OUTPUT: Final = Helper(
    "output_and_variables",
    '''\
def output_and_variables(model, *args, method=None, **kwargs):
    """Return what a call of a model gives, and the variables that it had before."""
    variables = variables_of(model)
    return apply_with(model, variables, *args, method=method, **kwargs), variables
''',
    after=(APPLY_WITH,),
)

FIELD_OF: Final = Helper(
    "field_of",
    '''\
def field_of(model, name):
    """Return a field of a model, or of what constructs it."""
    if isinstance(model, nnx.Module):
        return getattr(model, name)
    function, args, kwargs = model, (), {}
    if isinstance(model, partial):
        function, args, kwargs = model.func, model.args, model.keywords
    bound = inspect.signature(function).bind_partial(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments[name]
''',
    ("import inspect", "from functools import partial"),
)

WITH_SIZES: Final = Helper(
    "with_sizes",
    '''\
def with_sizes(construct, **sizes):
    """Return what constructs a model, with those of some sizes that it takes."""
    names = inspect.signature(construct).parameters
    return partial(construct, **{name: sizes[name] for name in sizes if name in names})
''',
    ("import inspect", "from functools import partial"),
)
