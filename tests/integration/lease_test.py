"""Plane A from a client that has nothing of Shoal's: leases, and all that can go wrong."""

import fcntl
import os
import unittest

import numpy as np

from shoal.v1 import array_pb2, cluster_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, call, details_of, inline, spec_of, stored
from harness.lease import ACQUIRE, RELEASE, LeaseSocket
from harness.server import MIB, SANITIZED, eventually

F_GET_SEALS, F_SEAL_SHRINK, F_SEAL_GROW = 1034, 2, 4


class LeaseCase(ServerCase):

    def setUp(self):
        self.leases = LeaseSocket(self.client.info().planes.lease_socket)
        self.addCleanup(self.leases.socket.close)

    def view(self, lease, array, offset=0):
        return np.frombuffer(lease.memory, array.dtype, array.size, offset).reshape(array.shape)


class UseTest(LeaseCase):

    def test_arguments_and_outputs_lie_in_the_lease(self):
        x = np.arange(100_000, dtype=np.float64)
        lease = self.leases.acquire(3 * x.nbytes)
        self.view(lease, x)[:] = x
        self.view(lease, x, x.nbytes)[:] = 2 * x
        spec = spec_of(x)
        output, = self.client.apply(
            "axpy", lease.argument(spec), lease.argument(spec, x.nbytes),
            destinations=[lease.destination(2 * x.nbytes)], a=3)
        self.assertEqual(output.leased, lease.place(2 * x.nbytes))
        self.assertEqual(output.spec, spec)
        np.testing.assert_array_equal(self.view(lease, x, 2 * x.nbytes), 5 * x)
        np.testing.assert_array_equal(self.view(lease, x), x)

    def test_leases_mix_with_all_other_arguments(self):
        x = np.arange(1000, dtype=np.int32)
        lease = self.leases.acquire(x.nbytes)
        self.view(lease, x)[:] = x
        key = self.client.put(x).id
        for other in (inline(x), stored(key), lease.argument(spec_of(x))):
            np.testing.assert_array_equal(
                self.client.apply_numpy("add", other, lease.argument(spec_of(x))), 2 * x)
        self.client.free(key)

    def test_in_place(self):
        x = np.random.default_rng(1).random(50_000)
        lease = self.leases.acquire(x.nbytes)
        self.view(lease, x)[:] = x
        argument = lease.argument(spec_of(x))
        self.client.apply("sort", argument, destinations=[lease.destination()])
        np.testing.assert_array_equal(self.view(lease, x), np.sort(x))

    def test_echo_through_a_lease_on_all_routes(self):
        x = np.frombuffer(os.urandom(3 * MIB + 8), np.uint8)
        lease = self.leases.acquire(2 * x.nbytes)
        self.view(lease, x)[:] = x
        for route in ("FRONT", "WORKER", "DEVICE"):
            target = self.view(lease, x, x.nbytes)
            target[:] = 0
            self.client.compute.Apply(call("echo", lease.argument(spec_of(x)), route=route,
                                           destinations=[lease.destination(x.nbytes)]),
                                      timeout=TIMEOUT)
            np.testing.assert_array_equal(target, x)
        rows = self.client.cluster.GetThroughput(
            cluster_pb2.GetThroughputRequest(op="echo"), timeout=TIMEOUT).rows
        self.assertEqual({row.plane for row in rows}, {"lease"})

    def test_the_memory_can_be_neither_shrunk_nor_grown(self):
        (code, *_), descriptor = self.leases.ask(ACQUIRE, MIB)
        self.assertEqual(code, 0)
        try:
            seals = fcntl.fcntl(descriptor, F_GET_SEALS)
            self.assertEqual(seals & (F_SEAL_SHRINK | F_SEAL_GROW), F_SEAL_SHRINK | F_SEAL_GROW)
            for size in (0, 2 * MIB):
                with self.assertRaises(PermissionError):
                    os.ftruncate(descriptor, size)
        finally:
            os.close(descriptor)

    def test_two_clients_get_different_memory(self):
        x = np.full(1000, 7, np.uint8)
        with LeaseSocket(self.client.info().planes.lease_socket) as other:
            first, second = self.leases.acquire(1000), other.acquire(1000)
            self.assertNotEqual(first.id, second.id)
            self.assertNotEqual(first.token, second.token)
            self.view(first, x)[:] = x
            self.assertFalse(self.view(second, x).any())


class MisuseTest(LeaseCase):

    OPTIONS = ("--memory-limit=256MiB",)
    X = np.arange(1024, dtype=np.float64)

    def sum_of(self, lease, spec=None, **place):
        return lambda: self.client.apply("sum", lease.argument(spec or spec_of(self.X), **place))

    def write_to(self, lease, **place):
        return lambda: self.client.apply("add", self.X, self.X,
                                         destinations=[lease.destination(**place)])

    def test_beyond_the_end(self):
        lease = self.leases.acquire(self.X.nbytes)
        size = len(lease.memory)
        for offset in (8, size - 8, size, size + 8, 2**40, 2**63 - 8, -8, -2**63):
            with self.subTest(offset=offset):
                self.expect_error("OUT_OF_RANGE", "", self.sum_of(lease, offset=offset)
                                  if offset != 8 or size == self.X.nbytes
                                  else self.sum_of(lease, offset=size))
                self.expect_error("OUT_OF_RANGE", "", self.write_to(lease, offset=size - 8))
        huge = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_FLOAT64, shape=[2**59])
        self.expect_error("OUT_OF_RANGE", "", self.sum_of(lease, huge))

    def test_not_aligned(self):
        lease = self.leases.acquire(2 * self.X.nbytes)
        for offset in (1, 4, 7, 9):
            self.expect_error("INVALID_ARGUMENT", "aligned", self.sum_of(lease, offset=offset))
            self.expect_error("INVALID_ARGUMENT", "aligned", self.write_to(lease, offset=offset))

    def test_wrong_or_unknown(self):
        lease = self.leases.acquire(self.X.nbytes)
        for place in ({"lease_token": lease.token ^ 1}, {"lease_token": 0},
                      {"lease_id": lease.id + 1}, {"lease_id": 0}, {"lease_id": 2**64 - 1}):
            with self.subTest(place):
                for use in (self.sum_of, self.write_to):
                    error = self.expect_error("NOT_FOUND", "no lease", use(lease, **place))
                    self.assertEqual(details_of(error)["ResourceInfo"].resource_type, "lease")

    def test_after_it_was_dropped(self):
        lease = self.leases.acquire(self.X.nbytes)
        self.sum_of(lease)()
        self.assertEqual(self.leases.release(lease), 0)
        self.expect_error("NOT_FOUND", f"no lease {lease.id}", self.sum_of(lease))
        self.assertEqual(self.leases.release(lease), 0)  # Twice is as once.
        self.view(lease, self.X)[:] = 1  # The client's own mapping stays.

    def test_after_its_connection_ended(self):
        with LeaseSocket(self.client.info().planes.lease_socket) as other:
            lease = other.acquire(self.X.nbytes)
            self.sum_of(lease)()
        eventually(lambda: self.gone(lease), "the lease went with its connection")

    def gone(self, lease):
        try:
            self.sum_of(lease)()
        except Exception as error:
            return "no lease" in str(error)
        return False

    def test_nobody_else_can_drop_it(self):
        lease = self.leases.acquire(self.X.nbytes)
        with LeaseSocket(self.client.info().planes.lease_socket) as other:
            other.release(lease)
        self.sum_of(lease)()

    def test_partly_overlapping_output(self):
        lease = self.leases.acquire(3 * self.X.nbytes)
        spec = spec_of(self.X)
        for offset in (8, self.X.nbytes - 8):
            self.expect_error("INVALID_ARGUMENT", "over", lambda: self.client.apply(
                "add", lease.argument(spec), lease.argument(spec),
                destinations=[lease.destination(offset)]))

    def test_more_than_there_is(self):
        most = self.client.info().limits.lease_bytes
        self.assertEqual(most, 64 * MIB)
        for size in (0, most + 1, 2**62, 2**64 - 1):
            (code, *_), descriptor = self.leases.ask(ACQUIRE, size)
            self.assertEqual((code, descriptor), (3, None), size)
        first = self.leases.acquire(most // 2)
        (code, _, _, _, needed, available), descriptor = self.leases.ask(ACQUIRE, most)
        self.assertEqual((code, descriptor), (8, None))
        self.assertEqual(needed, most)
        self.assertLessEqual(available, most // 2)
        self.leases.release(first)
        self.leases.release(self.leases.acquire(most))

    def test_many_leases_on_one_connection(self):
        granted = [self.leases.acquire(4096) for _ in range(256)]
        (code, *_), descriptor = self.leases.ask(ACQUIRE, 4096)
        self.assertEqual((code, descriptor), (8, None))
        self.leases.release(granted[0])
        self.leases.acquire(4096)

    def test_contents_may_change_while_the_server_computes(self):
        """The client's own result is unspecified then; nothing else is."""
        x = np.random.default_rng(2).random(1 << 20)
        lease = self.leases.acquire(2 * x.nbytes)
        view = self.view(lease, x)
        view[:] = x
        for kind in ("sort", "sum"):
            place = [lease.destination(x.nbytes)]
            pending = self.client.compute.Apply.future(
                call(kind, lease.argument(spec_of(x)), destinations=place), timeout=TIMEOUT)
            value = 0
            while not pending.done():
                view[value % 1000::1000] = np.nan if value % 2 else -value
                value += 1
            pending.result()
        np.testing.assert_array_equal(self.client.apply_numpy("add", self.X, self.X), 2 * self.X)


class CleanUpTest(LeaseCase):

    def test_memory_and_descriptors_come_back(self):
        path = self.client.info().planes.lease_socket
        with LeaseSocket(path) as warm:
            warm.acquire(MIB)
        descriptors = eventually(self.server.descriptors, "descriptors")
        rss = self.server.memory()
        for _ in range(20):
            with LeaseSocket(path) as other:
                for _ in range(10):
                    lease = other.acquire(8 * MIB)
                    self.client.apply("sum", lease.argument(array_pb2.ArraySpec(
                        dtype=array_pb2.DTYPE_UINT8, shape=[8 * MIB])))
        eventually(lambda: self.server.descriptors() <= descriptors + 1, "descriptors are closed")
        if not SANITIZED:
            eventually(lambda: self.server.memory() < rss + 16 * MIB, "memory is unmapped")


if __name__ == "__main__":
    unittest.main()
