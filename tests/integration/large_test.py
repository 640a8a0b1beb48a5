"""Arrays of 2 and 5 GiB, and a message of 2^31 - 1 bytes. Takes gigabytes and minutes: nightly."""

import unittest

import grpc
import numpy as np

from shoal.v1 import array_pb2, array_service_pb2, compute_pb2
from harness.client import Client, call, error_of, ref, stored, to_numpy
from harness.server import MIB, SANITIZED, Shoald

GIB = 1 << 30
TIMEOUT = 600
PERIOD = 8191  # No divisor of a chunk: its neighbours differ from it.
BASE = (np.arange(PERIOD + MIB, dtype=np.uint32) % PERIOD % 251).astype(np.uint8)


def pattern(offset, size):
    """The bytes that belong at `offset`."""
    return BASE[offset % PERIOD:][:size].tobytes()


class LargeTest(unittest.TestCase):

    def setUp(self):
        self.server = Shoald("--memory-limit=16GiB", "--workers=2")
        self.client = Client(self.server.address)
        self.addCleanup(self.server.stop)
        self.addCleanup(self.client.channel.close)

    def put(self, size, dtype=array_pb2.DTYPE_UINT8, item=1):
        array = array_pb2.ArraySpec(dtype=dtype, shape=[size // item])

        def messages():
            yield array_service_pb2.PutRequest(header=array_service_pb2.PutHeader(spec=array))
            for offset in range(0, size, MIB):
                data = pattern(offset, min(MIB, size - offset))
                yield array_service_pb2.PutRequest(
                    chunk=array_pb2.Chunk(offset=offset, data=data))
        *_, last = self.client.arrays.Put(messages(), timeout=TIMEOUT)
        self.assertEqual((last.array.bytes, last.array.complete), (size, True))
        return last.array.id

    def check(self, key, size):
        received = 0
        for response in self.client.arrays.Get(
                array_service_pb2.GetRequest(array=ref(key)), timeout=TIMEOUT):
            data = response.chunk.data
            self.assertEqual(response.chunk.offset, received)
            self.assertEqual(data, pattern(received, len(data)))
            received += len(data)
        self.assertEqual(received, size)

    def test_put_and_get(self):
        for size in (2 * GIB - 1, 2 * GIB, 2 * GIB + 1, 5 * GIB + 4097):
            with self.subTest(size=size):
                key = self.put(size)
                self.check(key, size)
                self.client.free(key)

    def test_sums_of_more_than_2_to_32_elements(self):
        size = 4 * GIB + 77
        key = self.put(size)
        output, = self.client.compute.Apply(call("sum", stored(key)), timeout=TIMEOUT).outputs
        expected = sum(int(np.frombuffer(pattern(offset, min(MIB, size - offset)), np.uint8)
                           .sum(dtype=np.uint64)) for offset in range(0, size, MIB))
        self.assertEqual(int(to_numpy(output.spec, output.data)), expected)

    @unittest.skipIf(SANITIZED, "takes memory and time for ever")
    def test_echo_of_5_gib_passes_through(self):
        size = 5 * GIB
        array = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_UINT8, shape=[size])
        before = self.server.memory()

        def messages():
            yield compute_pb2.ApplyStreamRequest(
                call=call("echo", array_pb2.Argument(streamed=array), route="FRONT"))
            for offset in range(0, size, MIB):
                yield compute_pb2.ApplyStreamRequest(
                    chunk=array_pb2.Chunk(offset=offset, data=pattern(offset, MIB)))
        received = 0
        for response in self.client.compute.ApplyStream(messages(), timeout=TIMEOUT):
            data = response.chunk.data
            self.assertEqual(data, pattern(received, len(data)))
            received += len(data)
        self.assertEqual(received, size)
        self.assertLess(self.server.memory("VmHWM"), before + 64 * MIB)

    @unittest.skipIf(SANITIZED, "takes memory and time for ever")
    def test_a_message_of_2_to_31_less_1_bytes(self):
        raw = self.client.channel.unary_unary("/shoal.v1.ComputeService/Echo")
        error = error_of(lambda: raw(bytes(2**31 - 1), timeout=TIMEOUT))
        self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIn("larger than max", error.details())
        self.assertEqual(self.client.echo(b"alive"), b"alive")


if __name__ == "__main__":
    unittest.main()
