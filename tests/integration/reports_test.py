"""Bugs of other projects, by the number of their case: what went wrong there is right here."""

import os
import time
import unittest

import grpc
import numpy as np

from shoal.v1 import array_pb2, array_service_pb2, compute_pb2, compute_pb2_grpc
from harness.client import TIMEOUT, Client, call, details_of, error_of, inline, put_requests
from harness.client import spec_of, store, stored, streamed, to_numpy
from harness.lease import LeaseSocket
from harness.server import MIB, PATIENCE, Shoald
from streams_test import Tasks

CASES = []  # (number, what is right, bound in seconds, test)


def case(number, right, seconds=5):
    def add(function):
        CASES.append((number, right, seconds, function))
        return function
    return add


def code_of(request):
    return error_of(request).code().name


@case(1, "a message beyond every limit gets an error, the same bytes in chunks arrive", 20)
def oversize(test, client):
    data = np.frombuffer(os.urandom(64 * MIB), np.uint8)
    request = compute_pb2.EchoRequest(payload=data.tobytes())
    test.assertEqual(code_of(lambda: client.compute.Echo(request, timeout=TIMEOUT)),
                     "RESOURCE_EXHAUSTED")
    _, (got,) = client.apply_stream(call("echo", streamed(data)), {0: data})
    test.assertEqual(got.tobytes(), data.tobytes())


@case(3, "a stock client, which takes 4 MiB, gets more than that in pieces", 20)
def stock_client(test, client):
    x = np.random.default_rng(3).random(5_000_000 // 8)
    key = client.put(x).id
    with grpc.insecure_channel(test.server.address) as channel:
        stub = compute_pb2_grpc.ComputeServiceStub(channel)
        request = compute_pb2.ApplyStreamRequest(call=call("add", stored(key), stored(key)))
        data = b"".join(r.chunk.data for r in stub.ApplyStream(iter([request]), timeout=TIMEOUT))
        test.assertEqual(data, (x + x).tobytes())
        error = error_of(lambda: stub.Apply(request.call, timeout=TIMEOUT))
        test.assertIn("use ApplyStream", error.details())
        # 20 MB of results in one session, that nobody reads for a while.
        part = np.zeros(100_000, np.uint8)
        batch = compute_pb2.SessionRequest(open=compute_pb2.SessionOpen())
        for number in range(5):
            batch.tasks.add(id=number, call=call("echo", part))
        batches = [batch]
        for begin in range(5, 200, 5):
            batches.append(compute_pb2.SessionRequest())
            for number in range(begin, begin + 5):
                batches[-1].tasks.add(id=number, call=call("echo", part))
        got = [result.id for response in stub.Session(iter(batches), timeout=TIMEOUT)
               for result in response.results]
        test.assertEqual(sorted(got), list(range(200)))
    client.free(key)


@case(5, "extents that are negative or overflow are refused before anything is allocated")
def overflow(test, client):
    before = test.server.memory()
    for shape in ([-1], [2**32, 2**32], [2**62, 4], [-2**63], [2**63 - 1, 2**63 - 1]):
        array = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_FLOAT64, shape=shape)
        header = array_service_pb2.PutRequest(header=array_service_pb2.PutHeader(spec=array))
        argument = array_pb2.Argument(inline=array_pb2.InlineArray(spec=array))
        for request in (lambda: list(client.arrays.Put(iter([header]), timeout=TIMEOUT)),
                        lambda: client.apply("sum", argument),
                        lambda: client.apply_stream(call("sum", array_pb2.Argument(
                            streamed=array)))):
            test.assertEqual(code_of(request), "INVALID_ARGUMENT")
    test.assertLess(test.server.memory(), before + 4 * MIB)


@case(7, "no bytes are valid for no elements, and only for them")
def zero_bytes(test, client):
    test.assertEqual(client.apply_numpy("sum", np.zeros(0)), 0)
    bad = inline(np.zeros(3))
    bad.inline.data = b""
    test.assertEqual(code_of(lambda: client.apply("sum", bad)), "INVALID_ARGUMENT")


@case(9, "one bad task of a batch fails alone")
def bad_neighbour(test, client):
    x = np.arange(100.0)
    bad = call("sum", x)
    bad.arguments[0].inline.spec.shape[0] = 101
    tasks = Tasks(client)
    tasks.send(*((number, bad if number % 10 == 3 else call("sum", x)) for number in range(100)))
    for number, value in tasks.results(100):
        if number % 10 == 3:
            test.assertEqual(value.code, 3)
        else:
            test.assertEqual(to_numpy(value[0].spec, value[0].data), x.sum())
    tasks.close()


@case(11, "an array of rank 0 stays of rank 0")
def rank_zero(test, client):
    x = np.float32(2.5)
    test.assertEqual(client.apply_numpy("echo", x).shape, ())
    test.assertEqual(client.apply_numpy("add", x, x).shape, ())
    client.put(np.array(x), "scalar")
    test.assertEqual(client.get("scalar").shape, ())
    test.assertEqual(len(client.describe("scalar").spec.shape), 0)
    _, (got,) = client.apply_stream(call("multiply", streamed(x), stored("scalar")),
                                    {0: x.tobytes()})
    test.assertEqual((got.shape, float(got)), ((), 6.25))
    client.free("scalar")


@case(13, "an empty argument is accepted")
def empty(test, client):
    x = np.zeros(0, np.uint8)
    test.assertEqual(client.echo(b""), b"")
    for op in ("echo", "sort"):
        test.assertEqual(client.apply_numpy(op, x).shape, (0,))
    client.put(x, "empty")
    test.assertEqual(client.get("empty").shape, (0,))
    _, (got,) = client.apply_stream(call("add", streamed(x), stored("empty")))
    test.assertEqual(got.shape, (0,))
    client.free("empty")


@case(15, "rank 10 works, rank 33 is refused with the maximum")
def rank(test, client):
    for count in (10, 32):
        x = np.arange(4).reshape((2, 2) + (1,) * (count - 2))
        test.assertEqual(client.apply_numpy("add", x, x).shape, x.shape)
    array = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_INT8, shape=[1] * 33)
    error = error_of(lambda: client.apply("sum", array_pb2.Argument(
        inline=array_pb2.InlineArray(spec=array, data=b"\1"))))
    test.assertEqual(error.code().name, "INVALID_ARGUMENT")
    test.assertIn("32", error.details())


@case(23, "a payload that is short or damaged is found, and the chunk named")
def damaged(test, client):
    x = np.arange(10_000, dtype=np.uint8)
    array = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_UINT8, shape=[10_000])
    short = list(put_requests(array, x[:5002].tobytes(), store("short"), 1000))
    error = error_of(lambda: list(client.arrays.Put(iter(short), timeout=TIMEOUT)))
    test.assertEqual(error.code().name, "INVALID_ARGUMENT")
    test.assertEqual(details_of(error)["ErrorInfo"].metadata["offset"], "5002")
    damaged_chunks = list(put_requests(array, x.tobytes(), store("damaged"), 1000))
    damaged_chunks[4].chunk.crc32c = 0
    error = error_of(lambda: list(client.arrays.Put(iter(damaged_chunks), timeout=TIMEOUT)))
    test.assertEqual(error.code().name, "DATA_LOSS")
    test.assertIn("offset 3000", error.details())
    client.free(*(array.id for array in client.list().arrays))  # Might be resumed.


@case(25, "one large buffer goes through in chunks", 30)
def large(test, client):
    x = np.random.default_rng(25).integers(0, 2**63, 24 * MIB, dtype=np.int64)
    client.put(x, "large")
    np.testing.assert_array_equal(client.get("large"), x)
    client.free("large")


@case(27, "lengths that workers do not divide: the first shards get one more; shards may be empty")
def remainder(test, client):
    for length in range(8):
        x = np.arange(length)
        info = client.put(x, "r")
        counts = [shard.end - shard.begin for shard in info.shards]
        test.assertEqual(counts, [length // 3 + (seat < length % 3) for seat in range(3)])
        np.testing.assert_array_equal(client.get("r"), x)
        np.testing.assert_array_equal(client.apply_numpy("add", stored("r"), stored("r")), x + x)
        client.free("r")


@case(31, "integers above 2^53 stay exact")
def exact(test, client):
    for dtype, value in ((np.int64, 2**53 + 1), (np.int64, -2**63), (np.uint64, 2**64 - 1),
                         (np.uint32, 2**32 - 1), (np.int64, 2**63 - 1)):
        x = np.array([value, 0], dtype)
        test.assertEqual(int(client.apply_numpy("add", x, np.zeros(2, dtype))[0]), value)
        test.assertEqual(int(client.apply_numpy("sum", x)), value)
        test.assertEqual(int(client.apply_numpy("axpy", x, np.zeros(2, dtype), a=1)[0]), value)
    for a in (2**53 + 1, 2**62 + 1, -2**63, -2**63 + 1, 2**63 - 1):
        one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
        test.assertEqual(int(client.apply_numpy("axpy", one, zero, a=a)[0]), a)


@case(33, "bool stays bool")
def boolean(test, client):
    x = np.array([True, False, True])
    for op in ("echo", "add", "multiply", "sort"):
        arguments = [x] * (2 if op in ("add", "multiply") else 1)
        test.assertEqual(client.apply_numpy(op, *arguments).dtype, np.bool_)
    client.put(x, "b")
    test.assertEqual(client.get("b").dtype, np.bool_)
    client.free("b")


@case(35, "bfloat16 is a dtype like all others")
def bfloat16(test, client):
    one, three = np.uint16(0x3F80), np.uint16(0x4040)  # 1 and 3.
    x = np.full(1000, one)
    output, = client.apply("axpy", inline(x, "bfloat16"), inline(x, "bfloat16"), a=2)
    test.assertEqual(output.spec.dtype, array_pb2.DTYPE_BFLOAT16)
    test.assertEqual(set(to_numpy(output.spec, output.data)), {three})
    client.put(x, "b", dtype="bfloat16")
    test.assertEqual(client.describe("b").spec.dtype, array_pb2.DTYPE_BFLOAT16)
    client.free("b")


@case(37, "kernels see aligned data whatever stood before it on the wire", 10)
def alignment(test, client):
    x = np.arange(3001, dtype=np.float64)
    for length in range(0, 72, 5):
        argument = inline(x)
        argument.name = "n" * length
        np.testing.assert_array_equal(client.apply_numpy("axpy", argument, argument, a=2), 3 * x)
        _, (got,) = client.apply_stream(call("sort", streamed(x[::-1])), {0: x[::-1].tobytes()},
                                        size=997 + length)
        np.testing.assert_array_equal(got, x)
    with LeaseSocket(client.info().planes.lease_socket) as leases:
        lease = leases.acquire(x.nbytes + 64)
        for offset in range(0, 64, 8):
            lease.memory[offset:offset + x.nbytes] = x.tobytes()
            np.testing.assert_array_equal(
                client.apply_numpy("add", lease.argument(spec_of(x), offset), x), x + x)


@case(43, "at the limit of memory there is an error, never part of the data", 20)
def memory_limit(test, client):
    with Shoald("--memory-limit=128MiB", "--workers=2") as server, \
            Client(server.address) as small:
        x = np.random.default_rng(43).random(MIB)
        small.put(x, "x")
        kept, refused = [], 0
        place = array_pb2.Destination(store=array_pb2.Store())
        for _ in range(20):
            try:
                output, = small.apply("add", stored("x"), stored("x"), destinations=[place])
                kept.append(output.array_id)
            except grpc.RpcError as error:
                test.assertEqual(error.code().name, "RESOURCE_EXHAUSTED")
                test.assertEqual(details_of(error)["ErrorInfo"].reason, "OUT_OF_MEMORY")
                refused += 1
        test.assertTrue(kept and refused)
        for key in kept:
            np.testing.assert_array_equal(small.get(key), x + x)
        test.assertEqual(len(small.list().arrays), len(kept) + 1)
        test.assertEqual(small.used_bytes(), (len(kept) + 1) * x.nbytes)
        small.free(kept[0])
        small.apply("add", stored("x"), stored("x"), destinations=[place])


@case(45, "results carry the id they belong to, and keep the order of the stream's mode", 10)
def order(test, client):
    for ordered in (True, False):
        tasks = Tasks(client, ordered)
        count = 600
        for number in range(count):
            x = np.full(1 + number % 7 * 3000, number, np.int32)
            tasks.send((number, call("sum", x)))
        results = tasks.results(count)
        for number, (output,) in results:
            test.assertEqual(to_numpy(output.spec, output.data), number * (1 + number % 7 * 3000))
        numbers = [number for number, _ in results]
        test.assertEqual(numbers if ordered else sorted(numbers), list(range(count)))
        tasks.close()


@case(49, "a cancellation that races with the end leaves exactly one result", 30)
def cancel_race(test, client):
    x = np.arange(3000)
    for ordered in (True, False):
        tasks = Tasks(client, ordered)
        for begin in range(0, 2000, 20):
            numbers = range(begin, begin + 20)
            tasks.send(*((number, call("sort", x)) for number in numbers), cancel=numbers[::3])
            tasks.send(cancel=numbers[1::3])
        tasks.close()
        results = tasks.results(2000)
        test.assertEqual(sorted(number for number, _ in results), list(range(2000)))
        for _, value in results:
            test.assertIn(getattr(value, "code", 0), (0, 1))
        test.assertEqual(tasks.rest(), [])
    for _ in range(200):
        future = client.compute.Apply.future(call("sum", x), timeout=TIMEOUT)
        future.cancel()
    test.assertEqual(client.apply_numpy("sum", x), x.sum())


class ReportsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Shoald("--workers=3")
        cls.client = Client(cls.server.address)

    @classmethod
    def tearDownClass(cls):
        cls.client.channel.close()
        cls.server.stop()

    def test_cases(self):
        for number, right, seconds, function in CASES:
            with self.subTest(case=number, right=right):
                begun = time.monotonic()
                function(self, self.client)
                self.assertLess(time.monotonic() - begun, seconds * PATIENCE)
                self.assertTrue(self.server.alive())

    def test_the_table_is_whole(self):
        numbers = [number for number, *_ in CASES]
        self.assertEqual(numbers, [1, 3, 5, 7, 9, 11, 13, 15, 23, 25, 27, 31, 33, 35, 37, 43, 45,
                                   49])


if __name__ == "__main__":
    unittest.main()
