"""Descriptors, connections, threads or patience run out: the server says no, lives, recovers."""

import os
import re
import signal
import socket
import threading
import time
import unittest
import urllib.request

import grpc
import numpy as np

from shoal.v1 import array_pb2, compute_pb2
from harness.client import TIMEOUT, Client, call, error_of, store, stored
from harness.lease import ACQUIRE, LeaseSocket
from harness.server import MIB, PATIENCE, SANITIZED, Shoald, eventually


def connect(address, kind=socket.AF_INET):
    """A connection that says nothing; the server may hang up on it at any moment."""
    connection = socket.socket(kind, socket.SOCK_STREAM)
    connection.settimeout(TIMEOUT)
    connection.connect(address)
    return connection


def answers(target):
    """Whether a client that has never been here is served."""
    with Client(target) as client:
        try:
            request = compute_pb2.EchoRequest(payload=b"x")
            return client.compute.Echo(request, timeout=TIMEOUT).payload == b"x"
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, error
            return False


class DescriptorTest(unittest.TestCase):

    def limits(self, server):
        with open(f"/proc/{server.pid}/limits", encoding="ascii") as file:
            return re.search(r"Max open files +(\d+) +(\d+)", file.read()).groups()

    def test_the_soft_limit_is_lifted(self):
        with Shoald(prefix=("prlimit", "--nofile=512:2048")) as server:
            self.assertEqual(self.limits(server), ("2048", "2048"))

    def test_a_flood_of_connections_is_survived_on_every_socket(self):
        # Fewer descriptors than what is allowed in all: accept itself fails.
        for flood in ("tcp", "unix", "lease"):
            with self.subTest(flood), Shoald(prefix=("prlimit", "--nofile=64:64")) as server, \
                    Client(server.address) as old:
                lease_socket = old.info().planes.lease_socket
                address, kind = {"tcp": (("127.0.0.1", server.port), socket.AF_INET),
                                 "unix": (server.unix_socket, socket.AF_UNIX),
                                 "lease": (lease_socket, socket.AF_UNIX)}[flood]
                held = [connect(address, kind) for _ in range(400)]
                self.assertEqual(old.echo(b"old"), b"old")
                self.assertLessEqual(server.descriptors(), 64)
                for connection in held:
                    connection.close()
                eventually(lambda: answers(server.address), "TCP is back")
                eventually(lambda: answers("unix:" + server.unix_socket), "the Unix socket is back")
                with LeaseSocket(lease_socket) as leases:
                    leases.acquire(4096)

    def test_leases_leave_descriptors_to_others(self):
        with Shoald(prefix=("prlimit", "--nofile=256:256")) as server, \
                Client(server.address) as client:
            path = client.info().planes.lease_socket
            sockets = [LeaseSocket(path) for _ in range(4)]
            refused = 0
            for leases in sockets:
                for _ in range(40):
                    reply, descriptor = leases.ask(ACQUIRE, 4096)
                    if descriptor is None:
                        self.assertEqual(reply[0], grpc.StatusCode.RESOURCE_EXHAUSTED.value[0])
                        refused += 1
            self.assertGreater(refused, 0)
            self.assertTrue(answers(server.address))
            for leases in sockets:
                leases.socket.close()

    def test_the_processor_idles_while_there_are_none(self):
        with Shoald(prefix=("prlimit", "--nofile=64:64")) as server, \
                Client(server.address) as client:
            path = client.info().planes.lease_socket
            held = [connect(path, socket.AF_UNIX) for _ in range(300)]
            before = server.cpu_seconds()
            threading.Event().wait(1)  # Not for anything to happen: the time that is measured.
            self.assertLess(server.cpu_seconds() - before, 0.3 * PATIENCE)
            for connection in held:
                connection.close()


class HttpTest(unittest.TestCase):

    def test_silent_and_slow_connections_hold_up_nothing(self):
        with Shoald("--drain-timeout=1h") as server:
            host, port = server.http.rsplit(":", 1)
            held = [connect((host, int(port))) for _ in range(100)]
            for connection in held[50:]:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nA: ")
            begun = time.monotonic()
            with urllib.request.urlopen(f"http://{server.http}/healthz", timeout=TIMEOUT) as reply:
                self.assertEqual(reply.read(), b"ok\n")
            self.assertLess(time.monotonic() - begun, 2 * PATIENCE)
            server.signal(signal.SIGTERM)
            server.ends(within=5)
            for connection in held:
                connection.close()

    def test_an_endless_head_and_many_ranges_take_no_memory(self):
        with Shoald() as server:
            host, port = server.http.rsplit(":", 1)
            before = server.memory()
            with connect((host, int(port))) as endless, self.assertRaises(OSError):
                endless.sendall(b"GET /healthz HTTP/1.1\r\n")
                for _ in range(4000):
                    endless.sendall(b"A: " + b"x" * 7000 + b"\r\n")
            request = urllib.request.Request(
                f"http://{server.http}/metrics",
                headers={"Range": "bytes=" + ",".join(["0-"] * 1000)})
            with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
                self.assertEqual(reply.status, 200)
                self.assertLess(len(reply.read()), MIB)
            if not SANITIZED:
                self.assertLess(server.memory("VmHWM") - before, 8 * MIB)


class CompressionTest(unittest.TestCase):

    @unittest.skipIf(SANITIZED, "memory bounds")
    def test_nothing_is_blown_up(self):
        with Shoald() as server, Client(server.address) as client:
            self.assertEqual(client.echo(b"x"), b"x")
            before = server.memory()
            request = compute_pb2.EchoRequest(payload=bytes(200 * MIB))
            error = error_of(lambda: client.compute.Echo(
                request, compression=grpc.Compression.Gzip, timeout=TIMEOUT))
            self.assertEqual(error.code(), grpc.StatusCode.UNIMPLEMENTED, error.details())
            self.assertLess(server.memory("VmHWM") - before, 16 * MIB)


class ThreadTest(unittest.TestCase):

    @unittest.skipUnless(os.geteuid() == 0, "the limit of another user is set")
    def test_too_few_threads_never_end_the_process(self):
        """gRPC may lose a call whose thread it cannot have; we must not do worse than that."""
        for count in (8, 16, 24, 32, 48):
            with self.subTest(count):
                prefix = ("prlimit", f"--nproc={count}", "setpriv", "--reuid=65531",
                          "--clear-groups", "--pdeathsig", "KILL")
                try:
                    server = Shoald("--workers=8", "--threads=8", "--no-unix-socket",
                                    prefix=prefix)
                except AssertionError as error:
                    if "Permission denied" in str(error):
                        self.skipTest("the program lies where other users may not look")
                    self.assertIn("shoald ended: 1 shoald: no thread", str(error))
                    continue
                with Client(server.address) as client:
                    values = np.random.default_rng(count).random(1 << 20)
                    key = client.put(values).id
                    sort = call("sort", stored(key), destinations=[
                        array_pb2.Destination(store=store())])
                    try:
                        client.compute.Apply(sort, timeout=5)
                    except grpc.RpcError as error:
                        self.assertIn(error.code(), (grpc.StatusCode.RESOURCE_EXHAUSTED,
                                                     grpc.StatusCode.DEADLINE_EXCEEDED))
                    self.assertTrue(server.alive(), server.log())
                server.kill()

    def test_helpers_that_cannot_be_had_are_done_without(self):
        prefix = ("prlimit", "--nproc=100", "setpriv", "--reuid=65531", "--clear-groups",
                  "--pdeathsig", "KILL")
        with Shoald("--workers=2", "--threads=256", "--no-unix-socket", prefix=prefix) as server, \
                Client(server.address) as client:
            values = np.random.default_rng(1).random(1 << 20)
            key = client.put(values).id
            self.assertAlmostEqual(client.apply_numpy("sum", stored(key)), values.sum(), places=3)
            self.assertTrue(server.alive())


class ConnectionLimitTest(unittest.TestCase):

    def test_who_comes_beyond_it_is_refused_until_one_goes(self):
        with Shoald("--connection-limit=4") as server:
            held = [connect(("127.0.0.1", server.port)) for _ in range(4)]
            error = error_of(lambda: Client(server.address).echo(b"x"))
            self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
            self.assertIn("connection refused: too many", server.log())
            held.pop().close()
            eventually(lambda: answers(server.address), "there is room again")
            for connection in held:
                connection.close()

    def test_more_than_there_are_descriptors_is_refused_at_start(self):
        with self.assertRaisesRegex(AssertionError, "--connection-limit 2000 takes"):
            Shoald("--connection-limit=2000", prefix=("prlimit", "--nofile=1024:1024"))


if __name__ == "__main__":
    unittest.main()
