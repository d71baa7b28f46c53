"""Arguments that a field says whether a part is given them."""

import flax.linen as nn


class Reads(nn.Module):
    """Without a context it reads its own input."""

    features: int

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        return nn.Dense(self.features)(x) + nn.Dense(self.features)(context)


class ReadsSometimes(nn.Module):
    """A field says whether the part is given the context."""

    crosses: bool = False

    def setup(self):
        self.part = Reads(4)
        self.other = Reads(4)

    def __call__(self, x, context):
        if self.crosses:
            x = self.part(x, context)
        else:
            x = self.part(x)
        return self.other(x, context)
