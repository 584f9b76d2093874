"""A strided view spelled as reshapes, slices and transposes of a flat array, for peers whose arrays have no strides."""

from .cases import Unsupported


class View:
    """length: elements of the flat array; first: the position in it of the case's lowest element; apply(flat, flip) -> the
    array that the CASE describes. `flip` turns axes round (jnp.flip); None leaves negative strides to be read forwards."""

    def __init__(self, case):
        self.case = case
        self.first = case.low if case.low > 0 else 0
        walked = [d for d, (n, s) in enumerate(zip(case.shape, case.strides)) if n > 1 and s != 0]
        self.dims = sorted(walked, key=lambda d: (-abs(case.strides[d]), -case.shape[d]))
        try:
            self.lead = 0
            self._nest(self.first)
        except Unsupported:  # rows that straddle: one slice of the flat array comes first
            self.lead = self.first
            self._nest(0)

    def _nest(self, start):
        """steps: (rows before, rows, length of a row) from the widest stride down; rest: position in the innermost row."""
        self.steps, room = [], None
        length = start + 1
        for d in self.dims:
            stride, extent = abs(self.case.strides[d]), self.case.shape[d]
            before = start // stride
            if room is None:
                length = (before + extent) * stride
            elif room % stride or before + extent > room // stride:
                raise Unsupported("no nest of slices has these strides")
            self.steps.append((before, extent, stride))
            start, room = start % stride, stride
        self.rest, self.length = start, self.lead + length

    @property
    def plain(self):
        """The flat array, reshaped, is the view."""
        return self.lead == 0 and all(before == 0 and stride * extent == after for (before, extent, stride), after in
                   zip(self.steps, [self.length] + [s for _, _, s in self.steps]))

    def apply(self, flat, flip):
        x, kept = flat[self.lead:] if self.lead else flat, ()
        for before, extent, stride in self.steps:
            x = x.reshape(kept + (-1, stride))
            x = x[(slice(None),) * len(kept) + (slice(before, before + extent),)]
            kept += (extent,)
        x = x[..., self.rest]
        if not self.steps:
            x = x.reshape(())
        order = sorted(range(len(self.dims)), key=lambda i: self.dims[i])
        x = x.transpose(order) if order else x
        case, logical = self.case, sorted(self.dims)
        x = x.reshape(tuple(case.shape[d] if d in logical else 1 for d in range(len(case.shape))))
        if flip and case.reversed_axes:
            x = flip(x, case.reversed_axes)
        return x
