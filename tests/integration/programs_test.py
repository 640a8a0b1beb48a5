"""Programs against NumPy: the same text, evaluated by both."""

import json
import pathlib
import random
import re
import unittest
import warnings

import grpc
import numpy as np

from shoal.v1 import array_pb2, compute_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, error_of, inline, store, stored, streamed, to_numpy

PROGRAMS_TESTED = 400
REFUSALS = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED,
            grpc.StatusCode.RESOURCE_EXHAUSTED)
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "float32", "float64", "complex128"]
SHAPES = [(), (1,), (5,), (3, 1), (3, 5), (2, 1, 5), (2, 3, 1), (0,), (600,)]


def as_dtype(name):
    return lambda x: np.asarray(x).astype(name)


# What the text's names mean to NumPy; operators it has itself.
NUMPY = {name: getattr(np, name) for name in (
    "sqrt square absolute sign floor ceil trunc rint minimum maximum fmin fmax where isnan isinf "
    "isfinite logical_and logical_or logical_xor logical_not real imag conjugate copysign sum mean "
    "var std any all count_nonzero clip pi e inf nan").split()}
NUMPY |= {name: as_dtype(name) for name in ("float32", "float64", "complex64", "int64")}
NUMPY |= {"abs": np.absolute, "norm": lambda x: np.sqrt(np.sum(np.square(x * 1.0)))}


def sample(dtype, shape, rng):
    """Small whole numbers and halves: sums and products of a few are exact."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.startswith("u") else -6
    values = rng.integers(low, 7, shape)
    if dtype.startswith("complex"):
        values = values / 2 + 0.5j * rng.integers(-6, 7, shape)
    elif dtype.startswith("float"):
        values = values / 2
    return np.asarray(values).astype(dtype)


class Writer:
    """Writes random expressions of names, numbers, operators and functions."""

    def __init__(self, names, seed):
        self.names, self.random = names, random.Random(seed)

    def leaf(self):
        numbers = ["1", "2", "3", "0.5", "1.5", "True", "2.0"]
        return self.random.choice(self.names * 2 + numbers)

    def array(self, depth):
        """An expression with an array in it: NumPy's functions give numbers a dtype."""
        text = self.expression(depth)
        return text if any(name in text.replace("maximum", "") for name in self.names) else (
            self.random.choice(self.names))

    def expression(self, depth):
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf()
        part = lambda: self.expression(depth - 1)
        array = lambda: self.array(depth - 1)
        kind = self.random.randrange(10)
        if kind < 5:
            operator = self.random.choice(["+", "*", "+", "-", "*", "//", "%"])
            return f"({part()} {operator} {part()})"
        if kind == 5:
            sign = self.random.choice(["-(2 * ", "~(1.5 < ", "(1 == "])
            return f"{sign}{array()})"  # Of Python's True, ~ is -2.
        if kind == 9:
            operator, first, second = (self.random.choice(choices) for choices in (
                ["&", "|", "^"], ["<", "=="], [">=", "!="]))
            return f"(({array()} {first} {part()}) {operator} ({array()} {second} {part()}))"
        if kind == 6:
            return f"where({array()}, {array()}, {array()})"
        if kind == 7:
            function = self.random.choice(["minimum", "maximum", "logical_and", "logical_xor"])
            return f"{function}({array()}, {array()})"
        function = self.random.choice(["abs", "square", "sign", "isnan", "logical_not", "float64",
                                       "float32", "real", "conjugate", "sum"])
        return f"{function}({array()})"


class ProgramsTest(ServerCase):
    OPTIONS = ("--workers", "3")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        np._set_promotion_state("weak")  # NEP 50, as NumPy 2.

    def run_program(self, text, arguments, params=(), outputs=(), destinations=()):
        request = compute_pb2.ApplyRequest(program=text, outputs=outputs,
                                           destinations=destinations)
        for name, array in arguments.items():
            argument = array if not isinstance(array, (np.ndarray, np.generic)) else inline(
                np.asarray(array))
            argument.name = name
            request.arguments.append(argument)
        for name, value in dict(params).items():
            param = request.params.add(name=name)
            if isinstance(value, int):
                param.int_value = value
            else:
                param.float_value = value
        return self.client.compute.Apply(request, timeout=TIMEOUT).outputs

    def values(self, text, arguments, **more):
        return {output.name: to_numpy(output.spec, output.data)
                for output in self.run_program(text, arguments, **more)}

    def assert_refused(self, message, call):
        error = error_of(call)
        self.assertIn(error.code(), REFUSALS, error.details())
        self.assertIn(message, error.details())

    def assert_same(self, seen, expected, text):
        expected = np.asarray(expected)
        self.assertEqual((seen.dtype, seen.shape), (expected.dtype, expected.shape), text)
        np.testing.assert_array_equal(seen, expected, err_msg=text)

    def test_random_programs(self):
        refused = 0
        for seed in range(PROGRAMS_TESTED):
            rng = np.random.default_rng(seed)
            arrays = {name: sample(rng.choice(DTYPES), SHAPES[rng.integers(len(SHAPES))], rng)
                      for name in ("x", "y", "z")}
            text = f"{Writer(list(arrays), seed).expression(4)} + 0*x + 0*y + 0*z"
            with self.subTest(seed=seed, text=text), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    expected = eval(text, NUMPY | arrays)
                except ArithmeticError:
                    continue  # Of Python's own numbers.
                except (TypeError, ValueError):
                    refused += 1
                    self.assert_refused("", lambda: self.run_program(text, arrays))
                    continue
                try:
                    seen, = self.values(text, arrays).values()
                except grpc.RpcError as error:
                    self.assertEqual(error.code(), grpc.StatusCode.UNIMPLEMENTED, error.details())
                    self.assertIn("complex", error.details())
                    refused += 1
                    continue
                self.assert_same(seen, expected, text)
        self.assertLess(refused, PROGRAMS_TESTED // 2)

    def test_named_results(self):
        x, y = np.float32([3, 5, 8]), np.float32([4, 12, 15])
        values = self.values("r = sqrt(x*x + y*y)\ns = x / r  # the sine", {"x": x, "y": y})
        self.assertEqual(list(values), ["r", "s"])
        self.assert_same(values["r"], np.float32([5, 13, 17]), "r")
        self.assert_same(values["s"], x / np.float32([5, 13, 17]), "s")
        only = self.values("r = x + y; s = x - y", {"x": x, "y": y}, outputs=["s"])
        self.assertEqual(list(only), ["s"])

    def test_reductions_within_an_expression(self):
        x = np.random.default_rng(1).normal(size=(300, 70))
        centred, = self.values("x - mean(x)", {"x": x}).values()
        np.testing.assert_allclose(centred, x - x.mean(), rtol=1e-12, atol=1e-15)
        for name in ("mean", "var", "std", "norm"):
            seen, = self.values(f"{name}(x)", {"x": x}).values()
            np.testing.assert_allclose(seen, NUMPY[name](x), rtol=1e-13)

    def test_reductions_over_axes(self):
        exact = ("sum", "prod", "min", "max", "any", "all", "count_nonzero", "argmin", "argmax",
                 "ptp")
        rng = np.random.default_rng(4)
        for case in range(300):
            dtype = DTYPES[rng.integers(len(DTYPES) - 1)]  # Complex numbers have no order.
            shape = [(3, 5), (40, 3), (2, 3, 4), (7,), (3, 0), (1, 6), (9, 1, 4)][rng.integers(7)]
            x = np.minimum(sample(dtype, shape, rng), sample(dtype, shape, rng))
            name = (exact + ("mean", "var", "std"))[rng.integers(len(exact) + 3)]
            count = 1 if name.startswith("arg") else rng.integers(1, len(shape) + 1)
            axes = [int(axis) for axis in rng.choice(len(shape), count, replace=False)]
            axis = axes[0] - len(shape) if count == 1 else tuple(axes)
            text = f"{name}(x, axis={axis}{', keepdims=True' if case % 2 else ''})"
            kind = ("BLOCK", "REPLICATED", "SINGLE")[case % 3]
            argument = stored(self.client.put(x, "x", kind=kind).id) if case % 4 else x
            with self.subTest(text, dtype=dtype, shape=shape), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    expected = getattr(np, name)(x, axis=axis, keepdims=bool(case % 2))
                except (TypeError, ValueError):
                    self.assert_refused("", lambda: self.run_program(text, {"x": argument}))
                else:
                    seen, = self.values(text, {"x": argument}).values()
                    self.assertEqual((seen.dtype, seen.shape), (expected.dtype, expected.shape))
                    # A mean is rounded, and the root of a half once more.
                    rounds = name not in exact and expected.dtype.kind == "f"
                    rounding = 4 * np.finfo(expected.dtype).eps if rounds else 0
                    np.testing.assert_allclose(seen, expected, rtol=rounding, atol=rounding)
            if case % 4:
                self.client.free("x")

    def test_functions_are_within_their_bounds(self):
        rng = np.random.default_rng(5)
        near_one = "asin acos atanh"
        for name in ("exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh "
                     "tanh asinh acosh atanh cbrt").split():
            numpy_name = name.replace("a", "arc", 1) if name[0] == "a" else name
            for dtype in (np.float32, np.float64):
                x = rng.uniform(-1, 1, 2000) * (1 if name in near_one else 20)
                if name in ("log", "log2", "log10", "acosh"):
                    x = abs(x) + (name == "acosh")
                x = (np.maximum(x, -0.999) if name == "log1p" else x).astype(dtype)
                exact = getattr(np, numpy_name)(x.astype(np.longdouble))
                for text in (f"{name}(x)", f"{numpy_name}(x)"):
                    seen, = self.values(text, {"x": x}).values()
                    self.assertEqual(seen.dtype, dtype)
                    error = abs(seen - exact) / np.spacing(abs(exact).astype(dtype))
                    self.assertLess(error.max(), 1.0, f"{text}, {dtype.__name__}")

    def test_what_is_computed_may_be_sorted(self):
        x = np.random.default_rng(6).integers(0, 1000, (40, 50)).astype(np.int32)
        seen, = self.values("sort(-x * 2) + 1", {"x": x}).values()
        self.assert_same(seen, np.sort(-x * 2) + 1, "sort")

    def test_an_array_less_its_rows_means(self):
        x = np.random.default_rng(7).integers(0, 64, (128, 32)).astype(np.float64)
        for axis in (0, 1):
            seen, = self.values(f"x - mean(x, axis={axis}, keepdims=True)", {"x": x}).values()
            self.assert_same(seen, x - x.mean(axis=axis, keepdims=True), "centred")

    def test_arrays_of_workers_give_the_bits_of_one_piece(self):
        x = np.random.default_rng(2).normal(size=60_003).astype(np.float32)
        text = "sum(sqrt(abs(x)) * w), w * x / sum(x * x)"
        inline_values = self.run_program(text, {"x": x, "w": np.float32(0.1)})
        for kind in ("BLOCK", "REPLICATED", "SINGLE"):
            info = self.client.put(x, kind=kind)
            values = self.run_program(text, {"x": stored(info.id), "w": np.float32(0.1)})
            self.assertEqual([v.data for v in values], [v.data for v in inline_values], kind)

    def test_results_may_stay_with_the_workers(self):
        x = np.arange(10_000.0)
        outputs = self.run_program("a = x * 2; b = sum(x)", {"x": x},
                                   destinations=[array_pb2.Destination(store=store(name))
                                                 for name in ("doubled", "total")])
        self.assertTrue(all(output.array_id for output in outputs))
        seen, = self.values("doubled - total", {"doubled": stored("doubled"),
                                                "total": stored("total")}).values()
        self.assert_same(seen, x * 2 - x.sum(), "stored")

    def test_streamed_arguments(self):
        x = np.arange(1 << 20, dtype=np.int32)
        request = compute_pb2.ApplyRequest(program="(x + k) % 7 == 0",
                                           arguments=[streamed(x)])
        request.params.add(name="k", int_value=3)
        request.arguments[0].name = "x"
        _, (seen,) = self.client.apply_stream(request, {0: x.tobytes()})
        self.assert_same(seen, (x + 3) % 7 == 0, "streamed")

    def test_the_documents_examples(self):
        arguments = {"x": np.float64([1, 4, 9]), "y": np.int32([1, 2, 3]),
                     "m": np.float32([[1, 2, 3], [4, 5, 6]])}
        text = (pathlib.Path(__file__).parents[2] / "docs/language.md").read_text("utf-8")
        examples = re.findall(r"```shoal\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(examples), 6)
        for example in examples:
            lines = example.splitlines()
            program = "\n".join(line for line in lines if not line.startswith("-> "))
            wanted = [re.match(r"-> (?:(\w+) = )?(\w+) (.*)", line).groups()
                      for line in lines if line.startswith("-> ")]
            used = {name: array for name, array in arguments.items()
                    if re.search(rf"\b{name}\b", program)}
            outputs = self.run_program(program, used)
            self.assertEqual(len(outputs), len(wanted), program)
            for output, (name, dtype, values) in zip(outputs, wanted):
                self.assertEqual(output.name, name or "", program)
                expected = np.asarray(json.loads(values)).astype(dtype)
                self.assert_same(to_numpy(output.spec, output.data), expected, program)

    def test_errors_point_at_the_text(self):
        x = np.float32([1, 2])
        for text, place in (("x +", "column 4"), ("x + yy", "column 5"), ("sqrt(x, x)", "column 1"),
                            ("x\n+ y", "line 1"), ("f" * 70_000, "70000 bytes"),
                            ("(" * 1000 + "x" + ")" * 1000, "256 deep")):
            with self.subTest(text[:20]):
                self.assert_refused(place, lambda: self.run_program(text, {"x": x}))


if __name__ == "__main__":
    unittest.main()
