"""Bad requests: each gets its code and a message that names the fault, soon, and costs nothing."""

import time
import unittest
from typing import Callable, NamedTuple

import grpc
import numpy as np

from shoal.v1 import array_pb2, array_service_pb2, compute_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, call, details_of, error_of, inline, ref, store, stored
from harness.client import streamed, to_numpy
from harness.server import PATIENCE, SANITIZED

X = np.arange(10.0)


class Bad(NamedTuple):
    name: str
    request: Callable  # Takes the client.
    code: str
    message: str
    seconds: float = 2.0


def spec(dtype, *shape):
    return array_pb2.ArraySpec(dtype=dtype, shape=shape)


def put_header(client, array, **options):
    header = array_service_pb2.PutHeader(spec=array, **options)
    return list(client.arrays.Put(iter([array_service_pb2.PutRequest(header=header)]),
                                  timeout=TIMEOUT))


def inline_of(array, data=b""):
    return array_pb2.Argument(inline=array_pb2.InlineArray(spec=array, data=data))


def apply_streamed(client, array):
    request = call("sum", array_pb2.Argument(streamed=array))
    return client.apply_stream(request)


def with_changes(request, **fields):
    for name, value in fields.items():
        setattr(request, name, value)
    return request


F64 = array_pb2.DTYPE_FLOAT64
BAD_SPECS = [
    ("negative extent", spec(F64, -1), "negative"),
    ("negative extents with a positive product", spec(F64, -2, -2), "negative"),
    ("least extent", spec(F64, -2**63), "negative"),
    ("product of 2^63", spec(F64, 2**32, 2**31), "2^63"),
    ("product that wraps to 0", spec(F64, 2**32, 2**32), "2^63"),
    ("product that wraps to something small", spec(F64, 2**62 + 1, 4), "2^63"),
    ("bytes beyond 2^63, elements not", spec(F64, 2**61), "2^63"),
    ("rank 33", spec(F64, *[1] * 33), "32"),
    ("rank 1000", spec(F64, *[1] * 1000), "32"),
    ("no dtype", spec(0, 3), "dtype"),
    ("dtype 16", spec(16, 3), "dtype 16"),
    ("dtype -1", spec(-1, 3), "dtype -1"),
]


def bad_specs():
    for name, array, message in BAD_SPECS:
        yield Bad(f"{name}, put", lambda client, a=array: put_header(client, a),
                  "INVALID_ARGUMENT", message)
        yield Bad(f"{name}, inline", lambda client, a=array: client.apply("sum", inline_of(a)),
                  "INVALID_ARGUMENT", message)
        yield Bad(f"{name}, streamed", lambda client, a=array: apply_streamed(client, a),
                  "INVALID_ARGUMENT", message)


def mismatched(count):
    argument = inline(X)
    argument.inline.data = bytes(count)
    return argument


BAD_CALLS = [
    Bad("too few bytes", lambda c: c.apply("sum", mismatched(79)), "INVALID_ARGUMENT",
        "79 bytes, but float64 of shape"),
    Bad("too many bytes", lambda c: c.apply("sum", mismatched(81)), "INVALID_ARGUMENT",
        "81 bytes, but float64"),
    Bad("no bytes", lambda c: c.apply("sum", mismatched(0)), "INVALID_ARGUMENT", "0 bytes"),
    Bad("bytes for no elements", lambda c: c.apply("sum", inline_of(spec(F64, 0), b"12345678")),
        "INVALID_ARGUMENT", "8 bytes"),
    Bad("no op", lambda c: c.apply(""), "INVALID_ARGUMENT", "op"),
    Bad("unknown op", lambda c: c.apply("fft", X), "UNIMPLEMENTED", "GetServerInfo"),
    Bad("unknown op with a long name", lambda c: c.apply("x" * 63 + "é" * 50, X), "UNIMPLEMENTED",
        "GetServerInfo"),
    Bad("op on a dtype it lacks", lambda c: c.apply("sort", X.astype(np.complex128)),
        "UNIMPLEMENTED", "complex128"),
    Bad("too few arguments", lambda c: c.apply("add", X), "INVALID_ARGUMENT", "argument"),
    Bad("too many arguments", lambda c: c.apply("add", X, X, X), "INVALID_ARGUMENT", "argument"),
    Bad("65 arguments", lambda c: c.apply("echo", *[X] * 65), "INVALID_ARGUMENT", "64"),
    Bad("shapes that differ", lambda c: c.apply("add", X, X[1:]), "INVALID_ARGUMENT", "shape"),
    Bad("a dtype that the op does not have", lambda c: c.apply("invert", X),
        "UNIMPLEMENTED", "not built for float64"),
    Bad("an argument without a value", lambda c: c.apply("sum", array_pb2.Argument(name="x")),
        "INVALID_ARGUMENT", "arguments[0]"),
    Bad("a streamed argument in a unary call", lambda c: c.apply("sum", streamed(X)),
        "INVALID_ARGUMENT", "ApplyStream"),
    Bad("parameter missing", lambda c: c.apply("axpy", X, X), "INVALID_ARGUMENT", "'a'"),
    Bad("parameter unknown", lambda c: c.apply("add", X, X, alpha=1), "INVALID_ARGUMENT", "alpha"),
    Bad("parameter that the dtype cannot hold",
        lambda c: c.apply("axpy", X.astype(np.int8), X.astype(np.int8), a=300),
        "INVALID_ARGUMENT", "a"),
    Bad("parameter just above the dtype's range",
        lambda c: c.apply("axpy", X.astype(np.uint32), X.astype(np.uint32), a=2**32),
        "INVALID_ARGUMENT", "4294967296"),
    Bad("unknown array by name", lambda c: c.apply("sum", stored("gone")), "NOT_FOUND", "'gone'"),
    Bad("unknown array by id", lambda c: c.apply("sum", stored(10**12)), "NOT_FOUND", "#10000"),
    Bad("no key", lambda c: c.apply("sum", array_pb2.Argument(ref=array_pb2.ArrayRef())),
        "INVALID_ARGUMENT", "neither"),
    Bad("a name of 256 bytes", lambda c: c.put(X, "n" * 256), "INVALID_ARGUMENT", "255"),
    Bad("more destinations than outputs",
        lambda c: c.apply("sum", X, destinations=[array_pb2.Destination()] * 2),
        "INVALID_ARGUMENT", "destinations"),
    Bad("unknown route", lambda c: c.compute.Echo(
        compute_pb2.EchoRequest(route=77, payload=b"x"), timeout=TIMEOUT),
        "INVALID_ARGUMENT", "route"),
    Bad("unknown distribution", lambda c: put_header(
        c, spec(F64, 3), store=array_pb2.Store(distribution=array_pb2.Distribution(kind=9))),
        "INVALID_ARGUMENT", "kind"),
    Bad("a worker that is not there", lambda c: c.put(X, kind="BLOCK", workers=[0, 2]),
        "NOT_FOUND", "worker"),
    Bad("a worker twice", lambda c: c.put(X, kind="BLOCK", workers=[1, 1]), "INVALID_ARGUMENT",
        "twice"),
    Bad("one worker asked, two named", lambda c: c.put(X, kind="SINGLE", workers=[0, 1]),
        "INVALID_ARGUMENT", "one worker"),
    Bad("describe what is not there", lambda c: c.describe("gone"), "NOT_FOUND", "'gone'"),
    Bad("free what is not there", lambda c: c.free("gone"), "NOT_FOUND", "'gone'"),
    Bad("get what is not there", lambda c: c.get("gone"), "NOT_FOUND", "'gone'"),
    Bad("resume what is not there", lambda c: put_header(c, spec(F64, 3), resume_id=10**12),
        "NOT_FOUND", "#10000"),
    Bad("a page of negative size", lambda c: c.list(page_size=-1), "INVALID_ARGUMENT", "page_size"),
    Bad("echo above the inline limit", lambda c: c.echo(bytes((256 << 10) + 1)),
        "RESOURCE_EXHAUSTED", "use ApplyStream"),
    Bad("arguments above the inline limit, together",
        lambda c: c.apply("add", np.zeros(20_000), np.zeros(20_000)), "RESOURCE_EXHAUSTED",
        "ApplyStream"),
    Bad("a message above the message limit", lambda c: c.echo(bytes(2 << 20)),
        "RESOURCE_EXHAUSTED", "larger than max"),
    Bad("a message far above it", lambda c: c.echo(bytes(64 << 20)), "RESOURCE_EXHAUSTED",
        "larger than max", 10.0),
]


class BadInputTest(ServerCase):

    def check(self, bad):
        begun = time.monotonic()
        error = self.expect_error(bad.code, bad.message, lambda: bad.request(self.client))
        self.assertLess(time.monotonic() - begun, bad.seconds * PATIENCE)
        details_of(error)  # Whatever came with it can be read.
        self.assertEqual(self.client.used_bytes(), 0, "payload memory is back")

    def test_bad_specs(self):
        for bad in bad_specs():
            with self.subTest(bad.name):
                self.check(bad)

    def test_bad_calls(self):
        for bad in BAD_CALLS:
            with self.subTest(bad.name):
                self.check(bad)

    def test_invalid_arguments_name_the_field(self):
        for request, field in (
                (lambda: self.client.apply("sum", mismatched(1)), "arguments[0].inline.data"),
                (lambda: self.client.apply("add", X, inline_of(spec(F64, -1))),
                 "arguments[1].inline.spec.shape"),
                (lambda: put_header(self.client, spec(99)), "header.spec.dtype")):
            with self.subTest(field):
                violation, = details_of(error_of(request))["BadRequest"].field_violations
                self.assertEqual(violation.field, field)

    def test_bytes_that_are_no_message(self):
        for service, method in (("Compute", "Apply"), ("Compute", "Echo"), ("Array", "Describe"),
                                ("Array", "Free"), ("Cluster", "GetServerInfo")):
            raw = self.client.channel.unary_unary(f"/shoal.v1.{service}Service/{method}")
            for data in (b"\xff" * 20, b"\x0a\xff\xff\xff\xff\x0f", b"\x08"):
                with self.subTest(method=method, data=data):
                    self.expect_error("INVALID_ARGUMENT", "is not a valid shoal.v1",
                                      lambda: raw(data, timeout=TIMEOUT))

    def test_a_call_without_a_request_does_nothing(self):
        """Half-closed before the request, which is not the same as an empty one."""
        for method in ("ClusterService/Drain", "ClusterService/GetServerInfo", "ArrayService/List"):
            call = self.client.channel.stream_unary("/shoal.v1." + method)
            error = error_of(lambda: call(iter([]), timeout=TIMEOUT))
            self.assertEqual(error.code(), grpc.StatusCode.CANCELLED, error.details())
        self.assertFalse(self.client.info().draining)

    def test_methods_that_are_not_there(self):
        raw = self.client.channel.unary_unary("/shoal.v1.ComputeService/Explode")
        self.expect_error("UNIMPLEMENTED", "", lambda: raw(b"", timeout=TIMEOUT))

    def test_legal_though_odd(self):
        """No elements, no axes, most axes, long names: all of it comes back as it was."""
        for shape in ((), (0,), (3, 0), (0, 5, 0), (1,) * 32, (2**40, 0), (0, 2**40)):
            with self.subTest(shape=shape):
                size = int(np.prod(shape, dtype=object))
                array = spec(array_pb2.DTYPE_INT16, *shape)
                data = bytes(range(2 * size))
                output, = self.client.apply("echo", inline_of(array, data))
                self.assertEqual((output.spec, output.data), (array, data))
                *_, last = self.client.arrays.Put(iter([array_service_pb2.PutRequest(
                    header=array_service_pb2.PutHeader(spec=array, store=store("n" * 255)),
                    chunk=array_pb2.Chunk(data=data) if data else None)]), timeout=TIMEOUT)
                self.assertEqual(last.array.spec, array)
                self.assertEqual(self.client.describe("n" * 255).spec, array)
                self.assertEqual(self.client.get("n" * 255).tobytes(), data)
                total, = self.client.apply("sum", stored(last.array.id))
                self.assertEqual(to_numpy(total.spec, total.data),
                                 np.frombuffer(data, np.int16).sum())
                self.client.free("n" * 255)


class MemoryTest(ServerCase):
    """What does not fit is refused from its description, before a byte is stored."""

    OPTIONS = ("--memory-limit=128MiB",)

    def setUp(self):
        self.rss = self.server.memory()

    def check(self, request, needed):
        error = error_of(request)
        self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED, error.details())
        info = details_of(error)["ErrorInfo"]
        self.assertEqual((info.reason, info.domain), ("OUT_OF_MEMORY", "shoal"))
        self.assertEqual(int(info.metadata["needed_bytes"]), needed)
        self.assertLess(int(info.metadata["available_bytes"]), needed)
        self.assertEqual(self.client.used_bytes(), 0)
        if not SANITIZED:  # A sanitizer keeps a shadow of all that is touched.
            self.assertLess(self.server.memory(), self.rss + (8 << 20))

    def test_put(self):
        for size in (2**30, 2**45):
            for kind, share in (("BLOCK", size // 2), ("REPLICATED", size), ("SINGLE", size)):
                with self.subTest(size=size, kind=kind):
                    array = spec(array_pb2.DTYPE_UINT8, size)
                    self.check(lambda: put_header(self.client, array, store=store("big", kind)),
                               share)
        self.client.put(X, "big")  # The name is free.
        self.client.free("big")

    def test_streamed_argument(self):
        array = spec(array_pb2.DTYPE_UINT8, 2**40)
        self.check(lambda: apply_streamed(self.client, array), 2**39)

    def test_redistribute_leaves_the_array_as_it_was(self):
        x = np.arange(10 << 20, dtype=np.float32)  # 20 MiB on each worker, of 48.
        was = self.client.put(x, "x")
        error = error_of(lambda: self.client.redistribute("x", "REPLICATED"))
        self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(self.client.describe("x"), was)
        self.assertEqual(self.client.used_bytes(), x.nbytes)
        self.client.free(*(array.id for array in self.client.list().arrays))

    def test_outputs(self):
        x = np.arange(10 << 20, dtype=np.float32)
        self.client.put(x, "x")
        place = array_pb2.Destination(store=store("sum", "REPLICATED"))
        error = error_of(lambda: self.client.apply("add", stored("x"), stored("x"),
                                                   destinations=[place]))
        self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(self.client.free("x"), x.nbytes)
        self.assertEqual(len(self.client.list().arrays), 0)
        self.assertEqual(self.client.used_bytes(), 0)


if __name__ == "__main__":
    unittest.main()
