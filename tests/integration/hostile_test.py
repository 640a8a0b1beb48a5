"""Clients that die, stall, flood or talk nonsense: the server lives, and its memory comes back."""

import concurrent.futures
import os
import random
import socket
import subprocess
import sys
import threading
import unittest

import grpc
import numpy as np

from shoal.v1 import array_pb2, array_service_pb2, compute_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, Client, call, ref, stored
from harness.lease import MAGIC, LeaseSocket
from harness.server import MIB, SANITIZED, eventually

CHILD = os.path.join(os.path.dirname(__file__), "harness", "upload_child.py")


class Upload:
    """A child that is in the middle of an upload of `size` MiB."""

    def __init__(self, target, name, size):
        self.process = subprocess.Popen([sys.executable, CHILD, target, name, str(size)],
                                        stdout=subprocess.PIPE, text=True)
        self.key = None
        for line in self.process.stdout:
            self.key, acknowledged = map(int, line.split())
            if acknowledged >= (size // 2 // 4) * 4 * MIB:  # Acknowledged every four chunks.
                break

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class KilledClientTest(ServerCase):

    SIZE = 32

    def targets(self):
        return self.server.address, "unix:" + self.server.unix_socket

    def test_its_upload_can_be_resumed(self):
        for target in self.targets() * 5:
            with self.subTest(target):
                upload = Upload(target, "killed", self.SIZE)
                upload.kill()
                last = eventually(lambda: self.resume(upload.key), "the server has noticed")
                self.assertTrue(last.array.complete)
                got = self.client.get("killed")
                expected = np.repeat(np.arange(self.SIZE, dtype=np.uint8), MIB)
                np.testing.assert_array_equal(got, expected)
                self.client.free("killed")

    def resume(self, key):
        def messages():
            yield array_service_pb2.PutRequest(
                header=array_service_pb2.PutHeader(resume_id=key))
            for i in range(begin // MIB, self.SIZE):
                yield array_service_pb2.PutRequest(
                    chunk=array_pb2.Chunk(offset=i * MIB, data=bytes([i]) * MIB))
        begin = self.client.describe(key).acknowledged_bytes  # It must still be known.
        try:
            *_, last = self.client.arrays.Put(messages(), timeout=TIMEOUT)
            return last
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error.details())
            return None


class ForgottenUploadTest(ServerCase):

    OPTIONS = ("--resume-timeout=300ms",)

    def test_its_memory_comes_back_after_the_timeout(self):
        for target in (self.server.address, "unix:" + self.server.unix_socket):
            with self.subTest(target):
                upload = Upload(target, "forgotten", 64)
                self.assertEqual(self.client.used_bytes(), 64 * MIB)
                upload.kill()
                eventually(lambda: self.client.used_bytes() == 0, "memory is back")
                error = self.expect_error("NOT_FOUND", "", lambda: self.client.describe(upload.key))
                self.assertIn(str(upload.key), error.details())
                self.client.put(np.zeros(3), "forgotten")  # The name is free.
                self.client.free("forgotten")


class StalledReaderTest(ServerCase):

    OPTIONS = ("--memory-limit=1GiB",)

    @unittest.skipIf(SANITIZED, "memory bounds")
    def test_it_costs_no_memory_beside_the_array(self):
        size = 256 * MIB
        key = self.client.put(np.ones(size, np.uint8)).id
        self.client.get(key, byte_count=32 * MIB)  # What a reader that does not stall needs.
        before = self.server.memory()
        request = array_service_pb2.GetRequest(array=ref(key))
        with Client(self.server.address) as slow:
            stalled = [slow.arrays.Get(request) for _ in range(4)]
            for stream in stalled:
                next(stream)
            # Another reader, with the server's full attention meanwhile.
            self.assertEqual(self.client.get(key).nbytes, size)
            self.assertLess(self.server.memory("VmHWM") - before, 16 * MIB * (len(stalled) + 1))
            for stream in stalled:
                stream.cancel()
        eventually(lambda: self.free(key), "nobody uses it any more")

    def free(self, key):
        try:
            return self.client.free(key)
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.FAILED_PRECONDITION)
            return None


class ManyConnectionsTest(ServerCase):

    def test_a_thousand_at_once(self):
        descriptors = self.server.descriptors()
        clients = [Client(self.server.address if i % 2 else "unix:" + self.server.unix_socket)
                   for i in range(1000)]
        try:
            payloads = [i.to_bytes(4, "little") * 100 for i in range(len(clients))]
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                replies = pool.map(lambda pair: pair[0].echo(pair[1]), zip(clients, payloads))
                self.assertEqual(list(replies), payloads)
            self.assertGreaterEqual(self.server.descriptors(), descriptors + len(clients))
        finally:
            for client in clients:
                client.channel.close()
        eventually(lambda: self.server.descriptors() <= descriptors + 2, "all are closed", 30)
        self.assertEqual(self.client.echo(b"still here"), b"still here")

    def test_a_thousand_that_say_nothing(self):
        held = []
        descriptors = self.server.descriptors()
        for kind, address in ((socket.AF_INET, ("127.0.0.1", self.server.port)),
                              (socket.AF_UNIX, self.server.unix_socket),
                              (socket.AF_UNIX, self.client.info().planes.lease_socket)):
            for _ in range(334):
                held.append(socket.socket(kind, socket.SOCK_STREAM))
                held[-1].connect(address)  # Blocks while the backlog is full.
        with Client(self.server.address) as client:
            self.assertEqual(client.echo(b"x" * 1000), b"x" * 1000)
        with LeaseSocket(self.client.info().planes.lease_socket) as leases:
            leases.acquire(4096)
        for connection in held:
            connection.close()
        eventually(lambda: self.server.descriptors() <= descriptors + 2, "all are closed", 30)


def nonsense(seed):
    """What somebody might send who is lost, or means ill."""
    source = random.Random(seed)
    yield b""
    yield bytes(100_000)
    yield b"\xff" * 5
    yield b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    yield b"GET /metrics HTTP/1.1\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n"
    yield b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + bytes(9999)
    yield b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + source.randbytes(200)  # TLS.
    yield MAGIC.to_bytes(4, "little") + source.randbytes(60)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield preface[:11]
    settings = preface + bytes(3) + b"\x04\x00\x00\x00\x00\x00"
    yield settings
    for kind in range(12):  # Each kind of frame with a body that means nothing.
        body = source.randbytes(source.randrange(1, 200))
        yield settings + len(body).to_bytes(3, "big") + bytes([kind, source.randrange(256)]) + \
            source.randrange(2**31).to_bytes(4, "big") + body
    yield settings + (2**24 - 1).to_bytes(3, "big") + b"\x00\x00\x00\x00\x00\x01" + bytes(50_000)
    for _ in range(40):
        yield source.randbytes(source.randrange(1, 5000))
        yield settings + source.randbytes(source.randrange(1, 5000))


class NonsenseTest(ServerCase):

    def test_on_every_port(self):
        host, port = self.server.http.rsplit(":", 1)
        lease_socket = self.client.info().planes.lease_socket
        ports = {"grpc": (socket.AF_INET, ("127.0.0.1", self.server.port)),
                 "unix": (socket.AF_UNIX, self.server.unix_socket),
                 "lease": (socket.AF_UNIX, lease_socket),
                 "http": (socket.AF_INET, (host, int(port)))}
        descriptors = self.server.descriptors()
        rss = self.server.memory()
        for seed, (name, (kind, address)) in enumerate(ports.items()):
            with self.subTest(name):
                for data in nonsense(seed):
                    self.say(kind, address, data)
                self.assertTrue(self.server.alive(), self.server.log())
                self.assertEqual(self.client.echo(b"alive"), b"alive")
        with LeaseSocket(lease_socket) as leases:
            leases.acquire(4096)
        eventually(lambda: self.server.descriptors() <= descriptors + 2, "all are closed", 30)
        if not SANITIZED:
            self.assertLess(self.server.memory(), rss + 16 * MIB)

    @staticmethod
    def say(kind, address, data):
        with socket.socket(kind, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(address)
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                pass  # Cut off: as good an answer as any.


class LeaseNonsenseTest(ServerCase):

    def test_half_frames_hold_up_nobody(self):
        path = self.client.info().planes.lease_socket
        held = []
        for length in range(1, 16):
            held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            held[-1].connect(path)
            held[-1].sendall(MAGIC.to_bytes(4, "little")[:length] + bytes(max(0, length - 4)))
        with LeaseSocket(path) as leases:
            leases.acquire(4096)
        for connection in held:
            connection.close()

    def test_descriptors_that_nobody_asked_for_are_closed(self):
        path = self.client.info().planes.lease_socket
        before = self.server.descriptors()
        with LeaseSocket(path) as leases, open(os.devnull) as file:
            for _ in range(50):
                frame = MAGIC.to_bytes(4, "little") + b"\x02\x00\x00\x00" + bytes(8)
                socket.send_fds(leases.socket, [frame], [file.fileno()] * 8)
                leases.socket.recv(48)
            self.assertLessEqual(self.server.descriptors(), before + 2)

    def test_a_client_that_never_reads_is_dropped(self):
        path = self.client.info().planes.lease_socket
        frame = MAGIC.to_bytes(4, "little") + b"\x02\x00\x00\x00" + bytes(8)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
            deaf.settimeout(TIMEOUT)
            deaf.connect(path)
            with self.assertRaises(OSError):
                for _ in range(100_000):
                    deaf.sendall(frame * 64)
        with LeaseSocket(path) as leases:
            leases.acquire(4096)


class CancelTest(ServerCase):

    OPTIONS = ("--workers=1",)

    def test_calls_cancelled_at_any_moment_leave_nothing_behind(self):
        key = self.client.put(np.random.default_rng(1).random(200_000), "base").id
        place = [array_pb2.Destination(store=array_pb2.Store())]
        for i in range(60):
            pending = [self.client.compute.Apply.future(
                call("sort", stored(key), destinations=place), timeout=TIMEOUT) for _ in range(4)]
            stream = self.client.compute.ApplyStream(iter([]), timeout=TIMEOUT)
            self.client.echo(bytes(i))
            for future in pending:
                future.cancel()
            stream.cancel()
        eventually(self.idle, "nothing runs")
        self.client.free(*(array.id for array in self.client.list().arrays))
        eventually(lambda: self.client.used_bytes() == 0, "memory is back")

    def idle(self):
        return all(worker.running_count == 0 for worker in self.client.list_workers())

    def test_streams_cancelled_in_the_queue(self):
        """The cancellation and the end of the call come on one thread."""
        key = self.client.put(np.random.default_rng(2).random(6_000_000), "slow").id
        place = [array_pb2.Destination(store=array_pb2.Store())]
        slow = [self.client.compute.Apply.future(
            call("sort", stored(key), destinations=place), timeout=TIMEOUT) for _ in range(3)]
        request = compute_pb2.ApplyStreamRequest(call=call("sum", stored(key)))
        for _ in range(20):
            ready = threading.Event()

            def messages():
                yield request
                ready.set()
            stream = self.client.compute.ApplyStream(messages(), timeout=TIMEOUT)
            ready.wait(TIMEOUT)
            self.client.info()
            stream.cancel()
        for future in slow:
            future.cancel()
        eventually(self.idle, "nothing runs")
        self.client.free(*(array.id for array in self.client.list().arrays))
        eventually(lambda: self.client.used_bytes() == 0, "memory is back")


if __name__ == "__main__":
    unittest.main()
