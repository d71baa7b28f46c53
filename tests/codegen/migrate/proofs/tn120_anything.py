# warns: DeprecationWarning
from flax import nnx


class Calls(nnx.Module):
    def __init__(self, first):
        self.count = nnx.Variable(0)
        self.last = nnx.Variable(None)
        self.names = nnx.Variable({"a": 1})
        self.first = nnx.Variable(first)

    def __call__(self, x):
        self.count.value += 1 if x else 2
        self.first.value = x
        rest = 3
        if self.last.value is None:
            self.last.value = x, rest
        return self.count.value


calls = Calls("x")
counts = [calls(0.5), calls(0)]
abstract = nnx.eval_shape(lambda: nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
shape = abstract.kernel.value.shape
result = [counts, calls.last.value, calls.names.value["a"], calls.first.value, shape]
