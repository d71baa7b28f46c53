# warns: DeprecationWarning
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.first = nnx.Linear(2, 3, rngs=rngs)
        self.others = nnx.List([nnx.Linear(3, 3, rngs=rngs)])

    def kinds(self):
        return [(str(path), type(module).__name__) for path, module in self.iter_modules()]


block = Block(nnx.Rngs(0))
result = block.kinds(), [name for name, _ in block.iter_children()]
