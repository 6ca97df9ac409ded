"""Writes tests/oracle/complex.json.gz: functions of complex numbers of f32 and f64, computed with mpmath with 4600 bits.

    pip install mpmath
    python3 benches/peers/complex_functions.py

Of each case the parts of the arguments as hexadecimal digits of their bits, then for both parts of the result the nearest number, and how many thousandths of
a unit in the last place the exact value lies above it. Results beyond the dtype are left out.
"""

import gzip
import json
import math
import pathlib
import random
import struct

import mpmath as mp

mp.mp.prec = 4600

FUNCTIONS = {
    "exp": mp.exp,
    "exp2": lambda z: mp.exp(z * mp.log(2)),
    "expm1": lambda z: mp.exp(z) - 1,
    "log": mp.log,
    "log2": lambda z: mp.log(z) / mp.log(2),
    "log10": lambda z: mp.log(z) / mp.log(10),
    "log1p": lambda z: mp.log(1 + z),
    "sqrt": mp.sqrt,
    "rsqrt": lambda z: 1 / mp.sqrt(z),
    **{name: getattr(mp, name) for name in "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split()},
    "pow": mp.power,
}


class Dtype:
    def __init__(self, single):
        self.single = single
        self.formats = ("<f", "<I") if single else ("<d", "<Q")
        self.digits, self.least, self.top = (24, -149, 128) if single else (53, -1074, 1024)

    def round(self, x):
        return struct.unpack(self.formats[0], struct.pack(self.formats[0], x))[0]

    def text(self, x):
        bits = struct.unpack(self.formats[1], struct.pack(self.formats[0], x))[0]
        return f"{bits:0{8 if self.single else 16}x}"

    def nearest(self, x):
        """The nearest number and how far x lies above it, in thousandths of its unit; None beyond the dtype."""
        if x == 0:
            return 0.0, 0
        unit = max(int(mp.frexp(x)[1]) - self.digits, self.least)
        value = mp.ldexp(mp.nint(mp.ldexp(x, -unit)), unit)
        if abs(value) >= mp.ldexp(mp.mpf(1), self.top):
            return None
        if value != 0:
            unit = max(int(mp.frexp(value)[1]) - self.digits, self.least)
        return float(value), round(float(mp.ldexp(x - value, -unit)) * 1000)

    def arguments(self, dice):
        low, high = (-37, 38) if self.single else (-300, 307)

        def any_size(low=low, high=high):
            return dice.choice([-1, 1]) * 10 ** dice.uniform(low, high)

        def ordinary():
            return dice.uniform(-4, 4)

        found = [(ordinary(), ordinary()) for _ in range(40)]
        found += [(any_size(), any_size()) for _ in range(16)]
        found += [(any_size(-3, 2), any_size(-3, 2)) for _ in range(24)]
        for _ in range(10):
            angle = dice.uniform(0, 2 * math.pi)
            found.append((math.cos(angle), math.sin(angle)))
        for re, im in ((1, 0), (-1, 0), (0, 1), (0, -1), (0, 0)):
            found += [(re + any_size(low / 6, -1), im + any_size(low / 6, -1)) for _ in range(6)]
        found = [(self.round(re), self.round(im)) for re, im in found]
        # (Cuts of branches lie on the axes.)
        return [(re, im) for re, im in found if re != 0 and im != 0]


def is_beyond(name, numbers):
    """Whether a result is so far beyond the dtypes that it is not computed."""
    z = numbers[0]
    if name in ("sin", "cos", "tan"):
        return abs(z.imag) > 800
    if name in ("exp", "exp2", "expm1", "sinh", "cosh", "tanh"):
        return abs(z.real) > 1200
    return name == "pow" and abs(numbers[1]) * (abs(mp.log(z)) + 1) > 2000


def rows(name, function, dtype, dice):
    bases, exponents = dtype.arguments(dice), dtype.arguments(dice)
    dice.shuffle(exponents)
    for at, z in enumerate(bases):
        given = [z, exponents[at % len(exponents)]] if name == "pow" else [z]
        numbers = [mp.mpc(*parts) for parts in given]
        if is_beyond(name, numbers):
            continue
        result = function(*numbers)
        parts = [dtype.nearest(mp.re(result)), dtype.nearest(mp.im(result))]
        if None not in parts:
            words = [dtype.text(part) for number in given for part in number]
            yield " ".join(words + [f"{dtype.text(value)} {rest}" for value, rest in parts])


def main():
    made = {"made_with": __doc__.split("\n", 1)[0]}
    for of, dtype in (("c64", Dtype(True)), ("c128", Dtype(False))):
        made[of] = {
            name: " ".join(rows(name, function, dtype, random.Random(name + of))) for name, function in FUNCTIONS.items()
        }
    to = pathlib.Path(__file__).parents[2] / "tests/oracle/complex.json.gz"
    with open(to, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as zipped:
        zipped.write(json.dumps(made).encode())


if __name__ == "__main__":
    main()
