"""The server's resident memory: idle, and while large payloads pass."""

import threading
import time
import unittest

import grpc
import numpy as np

from shoal.v1 import array_pb2, array_service_pb2, compute_pb2
from harness.client import TIMEOUT, Client, call, put_requests, streamed
from harness.server import MIB, SANITIZED, Shoald

SIZE = 256 * MIB
# Sixteen chunks a stream, and what malloc keeps in its arenas: that differs by so much from run to
# run, since gRPC's buffers come and go on whichever thread polls.
CHUNKS = 16 * MIB + 16 * MIB
IDLE = 48 * MIB


def chunk_data(i):
    return bytes([i % 251]) * MIB


@unittest.skipIf(SANITIZED, "memory bounds")
class IdleTest(unittest.TestCase):

    def test_idle(self):
        for options in ((), ("--workers=4", "--threads=1"), ("--workers=64",)):
            with self.subTest(options), Shoald(*options) as server:
                self.assertLess(server.memory(), IDLE)
                with Client(server.address) as client:
                    client.info()
                    self.assertLess(server.memory("VmHWM"), IDLE)


@unittest.skipIf(SANITIZED, "memory bounds")
class TransferTest(unittest.TestCase):
    """Each transfer has a server of its own: payload memory, once touched, stays warm."""

    def setUp(self):
        self.server = Shoald("--memory-limit=2GiB")
        self.addCleanup(self.server.kill)
        self.client = Client(self.server.address)
        self.addCleanup(self.client.channel.close)
        # Once through: what gRPC and the allocator take and keep is not the array's.
        warm = np.zeros(32 * MIB, np.uint8)
        self.client.apply_stream(call("echo", streamed(warm), route="FRONT"), {0: warm})
        self.before = self.server.memory()
        self.server.reset_peak()

    def peak(self):
        return self.server.memory("VmHWM") - self.before

    def test_put_and_get(self):
        """Of a client that keeps to its credits, as the contract says."""
        credits = threading.Semaphore(self.client.info().limits.credit_chunks)
        spec = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_UINT8, shape=[SIZE])

        def messages():
            yield array_service_pb2.PutRequest(header=array_service_pb2.PutHeader(spec=spec))
            for i in range(SIZE // MIB):
                credits.acquire()
                yield array_service_pb2.PutRequest(
                    chunk=array_pb2.Chunk(offset=i * MIB, data=chunk_data(i)))
        acknowledged = 0
        for response in self.client.arrays.Put(messages(), timeout=TIMEOUT):
            credits.release((response.acknowledged_bytes - acknowledged) // MIB or 1)
            acknowledged = response.acknowledged_bytes
        self.assertEqual(acknowledged, SIZE)
        self.assertLess(self.peak(), SIZE + CHUNKS)
        received = 0
        request = array_service_pb2.GetRequest(array=array_pb2.ArrayRef(id=response.array_id))
        for response in self.client.arrays.Get(request, timeout=TIMEOUT):
            received += len(response.chunk.data)
        self.assertEqual(received, SIZE)
        self.assertLess(self.peak(), SIZE + CHUNKS)

    def test_put_of_a_client_that_does_not_wait(self):
        """The transport's window is all that holds it back."""
        *_, last = self.client.arrays.Put(put_requests(
            array_pb2.ArraySpec(dtype=array_pb2.DTYPE_UINT8, shape=[SIZE]), bytes(SIZE),
            array_pb2.Store()), timeout=TIMEOUT)
        self.assertTrue(last.array.complete)
        self.assertLess(self.peak(), SIZE + 2 * CHUNKS)

    def check_echo(self, route, held):
        credits = threading.Semaphore(self.client.info().limits.credit_chunks)
        spec = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_UINT8, shape=[SIZE])

        def messages():
            yield compute_pb2.ApplyStreamRequest(
                call=call("echo", array_pb2.Argument(streamed=spec), route=route))
            for i in range(SIZE // MIB):
                credits.acquire()
                yield compute_pb2.ApplyStreamRequest(
                    chunk=array_pb2.Chunk(offset=i * MIB, data=chunk_data(i)))
        received = 0
        for response in self.client.compute.ApplyStream(messages(), timeout=TIMEOUT):
            credits.release()
            self.assertEqual(response.chunk.data, chunk_data(response.chunk.offset // MIB))
            received += len(response.chunk.data)
        self.assertEqual(received, SIZE)
        self.assertLess(self.peak(), held + CHUNKS)

    def test_echo_front(self):
        self.check_echo("FRONT", 0)

    def test_echo_worker(self):
        self.check_echo("WORKER", SIZE)

    def test_echo_device(self):
        self.check_echo("DEVICE", 2 * SIZE)

    def test_the_same_memory_serves_again(self):
        for _ in range(4):
            self.check_echo("WORKER", SIZE)

    def test_messages_that_are_refused_do_not_add_up(self):
        # gRPC reads a message to its end before it looks at the limit; malloc keeps what it had.
        for _ in range(12):
            with self.assertRaises(grpc.RpcError) as caught:
                self.client.echo(bytes(64 * MIB))
            self.assertIn("larger than max", caught.exception.details())
        self.assertLess(self.peak(), 4 * 64 * MIB)

    def test_many_small_calls_leave_nothing(self):
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            self.client.echo(bytes(100_000), "WORKER")
        self.assertLess(self.peak(), CHUNKS)


if __name__ == "__main__":
    unittest.main()
