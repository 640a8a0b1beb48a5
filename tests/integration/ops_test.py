"""Every op against NumPy, on every dtype, through unary calls, streams, and stored arrays."""

import unittest

import numpy as np

from shoal.v1 import array_pb2
from harness.case import ServerCase
from harness.client import DTYPES, NUMPY, call, inline, store, stored, streamed, to_numpy

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMBERS = INTEGERS + FLOATS + COMPLEX
EVERY = ["bool"] + NUMBERS
SUM_DTYPE = {"bool": np.int64, "int8": np.int64, "int16": np.int64, "int32": np.int64,
             "uint8": np.uint64, "uint16": np.uint64, "uint32": np.uint64}


def bfloat16_from(values):
    """float32 rounded to the nearest bfloat16, ties to even; NaN stays NaN."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).astype(np.uint16)


def bfloat16_to(bits):
    return (np.atleast_1d(bits).astype(np.uint32) << 16).view(np.float32).reshape(bits.shape)


def sample(dtype, shape, seed):
    """Values whose sums and products of a few stay finite."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(np.bool_)
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    values = random.uniform(-8, 8, shape)
    if dtype == "bfloat16":
        return bfloat16_from(values)
    if dtype in COMPLEX:
        return (values + 1j * random.uniform(-8, 8, shape)).astype(dtype)
    return values.astype(dtype)


def widened(dtype, array):
    """As float64 or complex128: what the expected value is computed in."""
    if dtype == "bfloat16":
        return bfloat16_to(array).astype(np.float64)
    return array.astype(np.complex128 if dtype in COMPLEX else np.float64)


def rounded(dtype, values):
    """To the dtype, once, as float16 and bfloat16 results are."""
    if dtype == "bfloat16":
        return bfloat16_from(values.astype(np.float32))
    return values.astype(dtype)


class MapTest(ServerCase):

    def check(self, op, dtype, expected, *arrays, **params):
        """Inline, streamed and stored: three ways, one result."""
        output, = self.client.apply(op, *(inline(array, dtype) for array in arrays), **params)
        self.assertEqual(output.spec.dtype, DTYPES[dtype][0])
        got = to_numpy(output.spec, output.data)
        np.testing.assert_array_equal(got, expected)

        request = call(op, *(streamed(array, dtype) for array in arrays), **params)
        _, (again,) = self.client.apply_stream(
            request, enumerate(array.tobytes() for array in arrays), size=4096)
        self.assertEqual(again.tobytes(), got.tobytes())

        keys = [self.client.put(array, dtype=dtype).id for array in arrays]
        output, = self.client.apply(op, *map(stored, keys), **params,
                                    destinations=[array_pb2.Destination(store=array_pb2.Store())])
        self.assertEqual(self.client.get(output.array_id).tobytes(), got.tobytes())
        self.client.free(output.array_id, *keys)

    def test_add_and_multiply(self):
        for dtype in EVERY:
            x, y = (sample(dtype, (37, 41), seed) for seed in (1, 2))
            for op, function in (("add", np.add), ("multiply", np.multiply)):
                with self.subTest(op=op, dtype=dtype):
                    if dtype == "bfloat16":
                        expected = bfloat16_from(function(bfloat16_to(x), bfloat16_to(y)))
                    elif dtype in COMPLEX and op == "multiply":
                        real = x.real * y.real - x.imag * y.imag
                        imaginary = x.real * y.imag + x.imag * y.real
                        expected = (real + 1j * imaginary).astype(dtype)
                    else:
                        expected = function(x, y)
                    self.check(op, dtype, expected, x, y)

    def test_axpy(self):
        for dtype in NUMBERS:
            with self.subTest(dtype=dtype):
                x, y = (sample(dtype, (1531,), seed) for seed in (3, 4))
                if dtype in ("float16", "bfloat16"):
                    expected = rounded(dtype, 2 * widened(dtype, x) + widened(dtype, y))
                else:
                    expected = x * np.array(2, dtype) + y
                self.check("axpy", dtype, expected, x, y, a=2)

    def test_echo_keeps_every_byte(self):
        for dtype in EVERY:
            with self.subTest(dtype=dtype):
                x = sample(dtype, (5, 7, 11), 5)
                self.check("echo", dtype, x, x)

    def test_echo_of_many_and_of_none(self):
        arrays = [sample(dtype, (3, 4), 6) for dtype in ("int8", "float64", "bool")]
        for array, output in zip(arrays, self.client.apply("echo", *arrays)):
            np.testing.assert_array_equal(to_numpy(output.spec, output.data), array)
        self.assertEqual(len(self.client.apply("echo")), 0)

    def test_nan_and_infinity_survive(self):
        x = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])
        got = self.client.apply_numpy("add", x, np.zeros(5))
        np.testing.assert_array_equal(got, x + 0.0)


class ReduceTest(ServerCase):

    OPTIONS = ("--workers=3",)
    SHAPES = [(0,), (1,), (1000,), (129, 61)]

    def scalar(self, op, dtype, *arrays):
        """The result; it is the same bits whatever way the arrays lie."""
        output, = self.client.apply(op, *(inline(array, dtype) for array in arrays))
        got = to_numpy(output.spec, output.data)
        self.assertEqual(got.shape, ())
        for kind in ("BLOCK", "SINGLE", "REPLICATED"):
            keys = [self.client.put(array, dtype=dtype, kind=kind).id for array in arrays]
            again, = self.client.apply(op, *map(stored, keys))
            self.assertEqual(again.data, output.data, kind)
            self.client.free(*keys)
        return output.spec.dtype, got

    def close(self, dtype, got, expected, magnitude):
        """Within the rounding of a tree: a few ulps of the sum of magnitudes."""
        value = bfloat16_to(got)[()] if dtype == "bfloat16" else got
        tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "complex64": 1e-6}
        self.assertLessEqual(abs(value - expected),
                             tolerance.get(dtype, 1e-14) * magnitude + 1e-300)

    def test_sum(self):
        for dtype in EVERY:
            for shape in self.SHAPES:
                with self.subTest(dtype=dtype, shape=shape):
                    x = sample(dtype, shape, 7)
                    number, got = self.scalar("sum", dtype, x)
                    if dtype in FLOATS + COMPLEX:
                        wide = widened(dtype, x)
                        self.close(dtype, got, wide.sum(), np.abs(wide).sum())
                        continue
                    wide = SUM_DTYPE.get(dtype, np.dtype(dtype).type)
                    self.assertEqual(NUMPY[number], wide)
                    self.assertEqual(got, x.sum(dtype=wide))

    def test_dot(self):
        for dtype in EVERY:
            for shape in self.SHAPES:
                with self.subTest(dtype=dtype, shape=shape):
                    x, y = (sample(dtype, shape, seed) for seed in (8, 9))
                    number, got = self.scalar("dot", dtype, x, y)
                    self.assertEqual(number, DTYPES[dtype][0])
                    if dtype == "bool":
                        self.assertEqual(got, np.any(x & y))
                    elif dtype in INTEGERS:
                        self.assertEqual(got, (x * y).sum(dtype=dtype))
                    else:
                        products = widened(dtype, x) * widened(dtype, y)
                        self.close(dtype, got, products.sum(), np.abs(products).sum())

    def test_the_number_of_workers_changes_no_bit(self):
        x = sample("float32", (250_000,), 10)
        key = self.client.put(x).id
        results = set()
        for workers in ([0], [0, 1], [0, 1, 2], [2, 0], [1]):
            self.client.redistribute(key, "BLOCK", workers)
            output, = self.client.apply("sum", stored(key))
            results.add(output.data)
        self.assertEqual(len(results), 1)
        self.client.free(key)


class SortTest(ServerCase):

    OPTIONS = ("--workers=3",)

    def test_sort(self):
        for dtype in [name for name in EVERY if name not in COMPLEX]:
            for shape in ((0,), (1,), (5000,), (40, 61), (0, 3), (3, 0)):
                with self.subTest(dtype=dtype, shape=shape):
                    x = sample(dtype, shape, 11)
                    if dtype == "bfloat16":
                        expected = bfloat16_from(np.sort(bfloat16_to(x), axis=-1))
                    else:
                        expected = np.sort(x, axis=-1)
                    output, = self.client.apply("sort", inline(x, dtype))
                    np.testing.assert_array_equal(to_numpy(output.spec, output.data), expected)

    def test_sort_of_stored_arrays(self):
        for kind, workers in (("BLOCK", ()), ("SINGLE", [1]), ("REPLICATED", ())):
            for shape in ((300_001,), (200, 300)):
                with self.subTest(kind=kind, shape=shape):
                    x = sample("float32", shape, 12)
                    key = self.client.put(x, kind=kind, workers=workers).id
                    destination = array_pb2.Destination(store=store("sorted", "BLOCK"))
                    self.client.apply("sort", stored(key), destinations=[destination])
                    np.testing.assert_array_equal(self.client.get("sorted"), np.sort(x, axis=-1))
                    np.testing.assert_array_equal(self.client.get(key), x)
                    self.client.free("sorted", key)

    def test_order_of_zeros_and_nans(self):
        x = np.array([np.nan, 0.0, -0.0, 1.0, -np.inf, np.nan, np.inf, -1.0])
        got = self.client.apply_numpy("sort", x)
        expected = np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan, np.nan])
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got[2:4]), [True, False])


if __name__ == "__main__":
    unittest.main()
