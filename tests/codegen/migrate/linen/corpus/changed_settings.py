"""Lists of settings that methods change before they build submodules of them."""

from flax import linen as nn


class AppendedWidth(nn.Module):
    """The widths of a field, and one more."""

    out: int
    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x):
        widths = list(self.widths)
        widths.append(self.out)
        for width in widths:
            x = nn.relu(nn.Dense(width)(x))
        return x


class ReplacedWidth(nn.Module):
    """The last width is another one, and there is one before."""

    out: int
    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x):
        widths = list(self.widths)
        widths[-1] = self.out
        widths.insert(0, x.shape[-1] + 1)
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class AppendedSometimes(nn.Module):
    """A field says whether there is one more."""

    out: int
    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x):
        widths = [width + 1 for width in self.widths]
        if self.out > 3:
            widths.append(self.out)
        else:
            widths.reverse()
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class PoppedWidth(nn.Module):
    """The last width is taken out of the list, for the layer behind the others."""

    widths: tuple[int, ...] = (3, 4, 5)

    @nn.compact
    def __call__(self, x):
        widths = list(self.widths)
        last = widths.pop()
        first = widths.pop(0)
        x = nn.Dense(first, name="first")(x)
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return nn.Dense(last, name="last")(x)


class ChangedByCall(nn.Module):
    """A call says whether there is one more: that cannot be migrated."""

    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x, deep: bool = False):
        widths = list(self.widths)
        if deep:
            widths.append(2)
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class TwoNames(nn.Module):
    """Both names are of one list."""

    widths: tuple[int, ...] = (3, 4)

    @nn.compact
    def __call__(self, x):
        widths = list(self.widths)
        same = widths
        same.append(2)
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class ChosenWidths(nn.Module):
    """The widths are given, or follow from the input, or there are none."""

    out: int
    widths: tuple[int, ...] | None = None
    factors: tuple[int, ...] | None = None

    @nn.compact
    def __call__(self, x):
        if self.widths is None:
            if self.factors is not None:
                widths = [int(factor * x.shape[-1]) for factor in self.factors]
            else:
                widths = []
        else:
            widths = self.widths
        for width in widths:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.out)(x)


class DeepOrNot(nn.Module):
    """Two lists of different length, and one more width in both."""

    deep: bool = False

    @nn.compact
    def __call__(self, x):
        if self.deep:
            widths = [4, 5]
        else:
            widths = [3]
        widths.append(6)
        for width in widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class DeeperThanField(nn.Module):
    """The widths of a field, or others."""

    deep: bool = False
    widths: tuple[int, ...] = (3,)

    @nn.compact
    def __call__(self, x):
        widths = self.widths
        if self.deep:
            widths = (4, 5)
        for k, width in enumerate(widths):
            x = nn.tanh(nn.Dense(width, name=f"layer_{k}")(x))
        return x
