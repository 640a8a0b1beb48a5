"""Stored arrays: Put, Get, Describe, List, Free, Redistribute under every distribution."""

import itertools
import unittest

import numpy as np

from shoal.v1 import array_pb2, array_service_pb2
from harness.case import ServerCase
from harness.server import eventually
from harness.client import DTYPES, TIMEOUT, details_of, put_requests, ref, spec_of, store, stored

LAYOUTS = [("BLOCK", ()), ("BLOCK", (0,)), ("BLOCK", (2, 0)), ("REPLICATED", ()),
           ("REPLICATED", (1, 2)), ("SINGLE", ()), ("SINGLE", (1,))]


def numbered(shape, dtype=np.int32):
    return np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)


class PutGetTest(ServerCase):

    OPTIONS = ("--workers=3",)

    def test_every_layout_gives_back_the_same_bytes(self):
        shapes = [(0,), (1,), (2,), (7, 3), (100_003,), (5, 0, 2), (1 << 20,), ()]
        for (kind, workers), shape in itertools.product(LAYOUTS, shapes):
            with self.subTest(kind=kind, workers=workers, shape=shape):
                x = numbered(shape)
                info = self.client.put(x, "x", kind, workers)
                self.assertEqual((info.name, info.bytes, info.complete), ("x", x.nbytes, True))
                got = self.client.get("x")
                self.assertEqual((got.shape, got.dtype), (x.shape, x.dtype))
                np.testing.assert_array_equal(got, x)
                np.testing.assert_array_equal(self.client.get(info.id), x)
                self.check_shards(info, kind, workers, x)
                self.assertEqual(self.client.free("x"), x.nbytes)
        eventually(lambda: self.client.used_bytes() == 0, "memory is back")  # Once all is sent.

    def check_shards(self, info, kind, workers, x):
        held = [(shard.worker, shard.begin, shard.end) for shard in info.shards]
        if kind == "SINGLE":
            (worker, begin, end), = held
            self.assertEqual((begin, end), (0, x.size))
            self.assertIn(worker, workers or range(3))
            return
        expected = list(workers or range(3))
        self.assertEqual([worker for worker, _, _ in held], expected)
        if kind == "REPLICATED":
            self.assertEqual({(begin, end) for _, begin, end in held}, {(0, x.size)})
            return
        # The remainder of the rows lies on the first shards.
        rows = x.shape[0] if x.shape else 1
        row = x.size // rows if rows else 0
        quotient, remainder = divmod(rows, len(expected))
        counts = [quotient + (seat < remainder) for seat in range(len(expected))]
        self.assertEqual([(end - begin) for _, begin, end in held],
                         [count * row for count in counts])
        for (_, _, end), (_, begin, _) in itertools.pairwise(held):
            self.assertEqual(end, begin)

    def test_every_dtype_is_kept(self):
        for name, (number, dtype) in DTYPES.items():
            with self.subTest(name):
                x = np.frombuffer(bytes(range(256)) * 4, np.uint8).copy()
                x = (x & 1 if name == "bool" else x).view(dtype)
                info = self.client.put(x, dtype=name)
                self.assertEqual(info.spec.dtype, number)
                self.assertEqual(self.client.get(info.id).tobytes(), x.tobytes())
                self.client.free(info.id)

    def test_parts_of_an_array(self):
        x = numbered((300_000,))
        key = self.client.put(x).id
        data = x.tobytes()
        for offset, count in ((0, 4), (4, 0), (399_996, 800_000), (1_199_996, 100), (1_200_000, 0)):
            with self.subTest(offset=offset, count=count):
                got = self.client.get(key, offset=offset, byte_count=count)
                end = offset + count if count else len(data)
                self.assertEqual(got, data[offset:end])
        self.client.free(key)

    def test_chunks_are_as_long_as_asked_and_carry_their_checksum(self):
        x = numbered((5000,), np.uint8)
        key = self.client.put(x).id
        request = array_service_pb2.GetRequest(array=ref(key), chunk_bytes=1999)
        chunks = [message.chunk for message in self.client.arrays.Get(request, timeout=TIMEOUT)]
        self.assertEqual([len(chunk.data) for chunk in chunks], [1999, 1999, 1002])
        self.assertEqual([chunk.offset for chunk in chunks], [0, 1999, 3998])
        for chunk in chunks:
            self.assertEqual(chunk.crc32c, crc32c(chunk.data))
        request.no_checksum = True
        for message in self.client.arrays.Get(request, timeout=TIMEOUT):
            self.assertFalse(message.chunk.HasField("crc32c"))
        self.client.free(key)

    def test_chunks_with_their_checksum_are_taken(self):
        x = numbered((9000,), np.uint8)
        requests = list(put_requests(spec_of(x), x.tobytes(), store("checked"), 4096))
        for request in requests[1:]:
            request.chunk.crc32c = crc32c(request.chunk.data)
        *_, last = self.client.arrays.Put(iter(requests), timeout=TIMEOUT)
        self.assertTrue(last.array.complete)
        np.testing.assert_array_equal(self.client.get("checked"), x)
        self.client.free("checked")

    def test_the_first_chunk_may_come_with_the_header(self):
        x = numbered((10,))
        request = array_service_pb2.PutRequest(
            header=array_service_pb2.PutHeader(spec=spec_of(x)),
            chunk=array_pb2.Chunk(data=x.tobytes()))
        response, = self.client.arrays.Put(iter([request]), timeout=TIMEOUT)
        self.assertEqual(response.array_id, response.array.id)
        np.testing.assert_array_equal(self.client.get(response.array.id), x)
        self.client.free(response.array.id)

    def test_a_name_is_taken_until_replaced_or_freed(self):
        self.client.put(numbered((4,)), "name")
        error = self.expect_error("ALREADY_EXISTS", "'name'",
                                  lambda: self.client.put(numbered((5,)), "name"))
        self.assertEqual(details_of(error)["ResourceInfo"].resource_name, "name")
        fresh = self.client.put(numbered((6,)), "name", replace=True)
        self.assertEqual(self.client.get("name").shape, (6,))
        self.assertEqual([array.id for array in self.client.list().arrays], [fresh.id])
        self.client.free("name")
        self.expect_error("NOT_FOUND", "'name'", lambda: self.client.get("name"))


class CatalogueTest(ServerCase):

    OPTIONS = ("--workers=3",)

    def test_describe(self):
        info = self.client.put(numbered((4, 5)), "d", "SINGLE", [2])
        self.assertEqual(self.client.describe("d"), info)
        self.assertEqual(self.client.describe(info.id), info)
        self.client.free("d")
        self.expect_error("NOT_FOUND", f"#{info.id}", lambda: self.client.describe(info.id))

    def test_list_in_pages_and_by_prefix(self):
        names = [f"{kind}/{i}" for i in range(5) for kind in ("even", "odd")]
        ids = [self.client.put(numbered((2,)), name).id for name in names]
        listed, token = [], ""
        while True:
            page = self.client.list(page_size=3, page_token=token)
            self.assertLessEqual(len(page.arrays), 3)
            listed += [array.id for array in page.arrays]
            token = page.next_page_token
            if not token:
                break
        self.assertEqual(listed, ids)
        odd = [array.name for array in self.client.list(name_prefix="odd/").arrays]
        self.assertEqual(odd, [name for name in names if name.startswith("odd/")])
        self.assertEqual(len(self.client.list(name_prefix="nothing").arrays), 0)
        for token in ("not one", " 1", "1 ", "-1"):
            self.expect_error("INVALID_ARGUMENT", "page_token",
                              lambda token=token: self.client.list(page_token=token))
        self.client.free(*ids)

    def test_free_is_all_or_nothing(self):
        keys = [self.client.put(numbered((10,))).id for _ in range(2)]
        self.expect_error("NOT_FOUND", "", lambda: self.client.free(keys[0], "missing", keys[1]))
        self.assertEqual(len(self.client.list().arrays), 2)
        self.assertEqual(self.client.free(keys[0], "missing", missing_ok=True), 40)
        self.assertEqual(self.client.free(keys[1], keys[1]), 40)  # Twice in a list is once.
        self.expect_error("NOT_FOUND", "", lambda: self.client.free(keys[1]))
        eventually(lambda: self.client.used_bytes() == 0, "memory is back")  # Once all is sent.

    def test_redistribute_from_every_layout_to_every_other(self):
        x = numbered((1001, 3), np.float64)
        for (kind, workers), (to, to_workers) in itertools.product(LAYOUTS, LAYOUTS):
            with self.subTest(was=(kind, workers), becomes=(to, to_workers)):
                was = self.client.put(x, "moved", kind, workers)
                moved = self.client.redistribute("moved", to, to_workers)
                now = moved.array
                self.assertEqual((now.id, now.name, now.spec), (was.id, "moved", was.spec))
                self.assertEqual(now.distribution.kind,
                                 array_pb2.Distribution.Kind.Value("KIND_" + to))
                if to_workers:
                    self.assertEqual([s.worker for s in now.shards], list(to_workers))
                np.testing.assert_array_equal(self.client.get("moved"), x)
                if (kind, workers) == (to, to_workers) and (kind, workers) != ("SINGLE", ()):
                    self.assertEqual(moved.moved_bytes, 0)
                self.assertEqual(self.client.free("moved"), x.nbytes)
        eventually(lambda: self.client.used_bytes() == 0, "memory is back")  # Once all is sent.

    def test_redistribute_refuses_what_is_not_there(self):
        self.expect_error("NOT_FOUND", "'none'", lambda: self.client.redistribute("none", "BLOCK"))
        key = self.client.put(numbered((8,))).id
        for kind, workers, code, message in (
                ("BLOCK", [3], "NOT_FOUND", "worker"), ("BLOCK", [-1], "NOT_FOUND", "worker"),
                ("BLOCK", [1, 1], "INVALID_ARGUMENT", "twice"),
                ("SINGLE", [0, 1], "INVALID_ARGUMENT", "one worker")):
            with self.subTest(kind=kind, workers=workers):
                self.expect_error(code, message,
                                  lambda: self.client.redistribute(key, kind, workers))
        np.testing.assert_array_equal(self.client.get(key), numbered((8,)))
        self.client.free(key)

    def test_outputs_are_stored_where_the_inputs_lie(self):
        x = numbered((50,), np.float32)
        for kind, workers in LAYOUTS:
            with self.subTest(kind=kind, workers=workers):
                was = self.client.put(x, kind=kind, workers=workers)
                output, = self.client.apply("add", stored(was.id), stored(was.id), destinations=[
                    array_pb2.Destination(store=array_pb2.Store(name="sum"))])
                self.assertEqual(self.client.describe("sum").distribution, was.distribution)
                np.testing.assert_array_equal(self.client.get("sum"), x + x)
                self.client.free(output.array_id, was.id)


def crc32c(data):
    """CRC-32C (Castagnoli), bit-reversed polynomial 0x82F63B78, a byte at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _crc_row(value):
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


CRC_TABLE = [_crc_row(value) for value in range(256)]


if __name__ == "__main__":
    unittest.main()
