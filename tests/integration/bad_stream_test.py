"""Streams that go wrong: chunks that do not fit, uploads that break off, readers that stall."""

import queue
import time
import unittest

import grpc
import numpy as np

from shoal.v1 import array_pb2, array_service_pb2, compute_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, call, details_of, error_of, put_requests, ref, spec_of, store
from harness.client import streamed
from harness.server import MIB, PATIENCE, eventually

X = np.arange(3 * MIB // 4, dtype=np.float32)  # Three chunks.
DATA = X.tobytes()


def chunk(offset, data=bytes(MIB), **fields):
    return array_pb2.Chunk(offset=offset, data=data, **fields)


class Put:
    """The same chunks as an upload,"""

    def __init__(self, client):
        self.method = client.arrays.Put

    def messages(self, chunks):
        yield array_service_pb2.PutRequest(
            header=array_service_pb2.PutHeader(spec=spec_of(X), store=store("bad")))
        for part in chunks:
            yield array_service_pb2.PutRequest(chunk=part)


class Sum:
    """as a streamed argument that is computed with,"""

    route = "UNSPECIFIED"
    op = "sum"

    def __init__(self, client):
        self.method = client.compute.ApplyStream

    def messages(self, chunks):
        yield compute_pb2.ApplyStreamRequest(call=call(self.op, streamed(X), route=self.route))
        for part in chunks:
            yield compute_pb2.ApplyStreamRequest(chunk=part)


class EchoFront(Sum):
    """and as one that passes through."""
    op, route = "echo", "FRONT"


class EchoDevice(Sum):
    op, route = "echo", "DEVICE"


# Name, chunks, code, message, reason.
BAD_CHUNKS = [
    ("nothing after the header", [], "INVALID_ARGUMENT", "closed at offset 0 of 3145728",
     "TRUNCATED"),
    ("truncated", [chunk(0), chunk(MIB)], "INVALID_ARGUMENT", "closed at offset 2097152 of 3145728",
     "TRUNCATED"),
    ("not from the start", [chunk(MIB)], "INVALID_ARGUMENT", "expected offset 0",
     "CHUNK_OUT_OF_ORDER"),
    ("a gap", [chunk(0), chunk(2 * MIB)], "INVALID_ARGUMENT",
     "at offset 2097152: expected offset 1048576", "CHUNK_OUT_OF_ORDER"),
    ("swapped", [chunk(0), chunk(2 * MIB), chunk(MIB)], "INVALID_ARGUMENT",
     "expected offset 1048576", "CHUNK_OUT_OF_ORDER"),
    ("repeated", [chunk(0), chunk(0)], "INVALID_ARGUMENT", "expected offset 1048576",
     "CHUNK_OUT_OF_ORDER"),
    ("negative offset", [chunk(-1)], "INVALID_ARGUMENT", "at offset -1", "CHUNK_OUT_OF_ORDER"),
    ("beyond the end", [chunk(0), chunk(MIB), chunk(2 * MIB - 4, bytes(MIB + 4))],
     "INVALID_ARGUMENT", "at offset 2097148", "CHUNK_OUT_OF_ORDER"),
    ("longer than what is missing",
     [chunk(0, bytes(MIB - 4)), chunk(MIB - 4), chunk(2 * MIB - 4), chunk(3 * MIB - 4, bytes(8))],
     "INVALID_ARGUMENT", "8 bytes; only 4 are missing", "CHUNK_BEYOND_END"),
    ("longer than a chunk may be", [chunk(0, bytes(MIB + 1))], "INVALID_ARGUMENT",
     "1048577 bytes; the limit is 1048576", "CHUNK_TOO_LONG"),
    ("empty", [chunk(0), chunk(MIB, b"")], "INVALID_ARGUMENT", "at offset 1048576: no bytes",
     "CHUNK_EMPTY"),
    ("bad checksum", [chunk(0), chunk(MIB, DATA[:1000], crc32c=0xBAD)], "DATA_LOSS",
     "at offset 1048576: CRC-32C is", "CHECKSUM"),
    ("longer than any message", [chunk(0, bytes(2 * MIB))], "RESOURCE_EXHAUSTED",
     "larger than max", None),
]


class BadChunkTest(ServerCase):

    OPTIONS = ("--resume-timeout=0s",)  # What may be resumed is forgotten at once.

    def test_bad_chunks(self):
        for kind in (Put, Sum, EchoFront, EchoDevice):
            for name, chunks, code, message, reason in BAD_CHUNKS:
                with self.subTest(name, kind=kind.__name__):
                    stream = kind(self.client)
                    begun = time.monotonic()
                    error = self.expect_error(code, message, lambda: list(
                        stream.method(stream.messages(chunks), timeout=TIMEOUT)))
                    self.assertLess(time.monotonic() - begun, 2 * PATIENCE)
                    if reason:
                        info = details_of(error)["ErrorInfo"]
                        self.assertEqual(info.reason, reason)
                        if reason.startswith("CH"):
                            self.assertIn("offset", info.metadata)
                    eventually(lambda: self.client.used_bytes() == 0, "memory is back")
                    self.assertEqual(len(self.client.list().arrays), 0)

    def test_a_chunk_of_an_argument_that_is_not_streamed(self):
        for part in (chunk(0, array=1), chunk(0, array=-1), chunk(0, array=7)):
            stream = Sum(self.client)
            self.expect_error("INVALID_ARGUMENT", f"argument {part.array}", lambda: list(
                stream.method(stream.messages([part]), timeout=TIMEOUT)))

    def test_streams_without_a_beginning(self):
        put, apply = self.client.arrays.Put, self.client.compute.ApplyStream
        cases = [(put, [], "without a header"), (apply, [], "without a call"),
                 (put, [array_service_pb2.PutRequest(chunk=chunk(0))], "header"),
                 (apply, [compute_pb2.ApplyStreamRequest(chunk=chunk(0))], "call"),
                 (put, [array_service_pb2.PutRequest()], "header"),
                 (put, list(Put(self.client).messages([])) + [array_service_pb2.PutRequest()],
                  "without a chunk"),
                 (apply, list(Sum(self.client).messages([])) + [compute_pb2.ApplyStreamRequest()],
                  "without a chunk")]
        for method, messages, text in cases:
            with self.subTest(text):
                self.expect_error("INVALID_ARGUMENT", text,
                                  lambda: list(method(iter(messages), timeout=TIMEOUT)))

    def test_messages_that_are_none(self):
        for service, method in (("Array", "Put"), ("Array", "Get"), ("Compute", "ApplyStream"),
                                ("Compute", "Session")):
            raw = self.client.channel.stream_stream(f"/shoal.v1.{service}Service/{method}")
            for data in (b"\xff" * 40, b"\x0a\xff\xff\xff\x0f", b"\x7a\x05\x08", b"\x7b"):
                with self.subTest(method=method, data=data):
                    self.expect_error("INVALID_ARGUMENT", "", lambda: list(
                        raw(iter([data]), timeout=TIMEOUT)))


class ResumeTest(ServerCase):

    def send(self, messages, count=None):
        """The responses, and the error, of an upload that is cancelled after `count` of them."""
        responses = []
        stream = self.client.arrays.Put(messages, timeout=TIMEOUT)
        try:
            for response in stream:
                responses.append(response)
                if len(responses) == count:
                    stream.cancel()
        except grpc.RpcError as error:
            return responses, error
        return responses, None

    def resume(self, key):
        def messages():
            yield array_service_pb2.PutRequest(
                header=array_service_pb2.PutHeader(resume_id=key))
            begin = self.client.describe(key).acknowledged_bytes
            for offset in range(begin, len(DATA), MIB):
                yield array_service_pb2.PutRequest(chunk=chunk(offset, DATA[offset:offset + MIB]))
        return self.send(messages())

    def check_complete(self, key):
        eventually(lambda: not self.client.describe(key).complete
                   and self.client.describe(key).acknowledged_bytes > 0, "it may be resumed")
        self.expect_error("FAILED_PRECONDITION", "not complete", lambda: self.client.get(key))
        responses, error = eventually(lambda: self.resumed(key), "the server knows that it broke")
        self.assertIsNone(error)
        self.assertGreater(responses[0].acknowledged_bytes, 0)
        self.assertTrue(responses[-1].array.complete)
        self.assertEqual(self.client.get("resumed").tobytes(), DATA)
        self.client.free(key)

    def resumed(self, key):
        """None while the server still counts the broken stream as alive."""
        responses, error = self.resume(key)
        if error is not None and error.code() == grpc.StatusCode.UNAVAILABLE:
            return None
        return responses, error

    def test_after_a_bad_checksum(self):
        bad = [chunk(0, DATA[:MIB]), chunk(MIB, DATA[MIB:2 * MIB], crc32c=1)]
        messages = [array_service_pb2.PutRequest(
            header=array_service_pb2.PutHeader(spec=spec_of(X), store=store("resumed")))]
        messages += [array_service_pb2.PutRequest(chunk=part) for part in bad]
        responses, error = self.send(iter(messages))
        self.assertEqual(error.code(), grpc.StatusCode.DATA_LOSS)
        self.check_complete(responses[0].array_id)

    def test_after_a_cancellation(self):
        requests = queue.SimpleQueue()
        stream = self.client.arrays.Put(iter(requests.get, None), timeout=TIMEOUT)
        requests.put(array_service_pb2.PutRequest(
            header=array_service_pb2.PutHeader(spec=spec_of(X), store=store("resumed")),
            chunk=chunk(0, DATA[:MIB])))
        key = next(stream).array_id
        eventually(lambda: self.client.describe(key).acknowledged_bytes == MIB, "a chunk landed")
        error = self.expect_error("UNAVAILABLE", f"#{key}", lambda: list(self.client.arrays.Put(
            iter([array_service_pb2.PutRequest(
                header=array_service_pb2.PutHeader(resume_id=key))]), timeout=TIMEOUT)))
        self.assertEqual(self.reason_of(error), "UPLOAD_UNDER_WAY")
        self.assertIn("RetryInfo", details_of(error))
        stream.cancel()
        requests.put(None)
        self.check_complete(key)

    def test_an_upload_that_broke_off_gives_up_its_name(self):
        messages = list(put_requests(spec_of(X), DATA, store("claimed")))[:2]
        messages[1].chunk.crc32c = 1
        responses, _ = self.send(iter(messages))
        fresh = self.client.put(X, "claimed")
        self.expect_error("NOT_FOUND", "", lambda: self.client.describe(responses[0].array_id))
        self.assertEqual(self.client.describe("claimed").id, fresh.id)
        self.client.free("claimed")

    def test_an_upload_under_way_keeps_its_name(self):
        requests = queue.SimpleQueue()
        stream = self.client.arrays.Put(iter(requests.get, None), timeout=TIMEOUT)
        requests.put(next(put_requests(spec_of(X), DATA, store("claimed"))))
        next(stream)
        for replace in (False, True):
            self.expect_error("ALREADY_EXISTS", "'claimed'",
                              lambda: self.client.put(X, "claimed", replace=replace))
        for part in put_requests(spec_of(X), DATA, array_pb2.Store()):
            if part.HasField("chunk"):
                requests.put(part)
        self.assertTrue(list(stream)[-1].array.complete)
        self.client.free("claimed")


class StalledReaderTest(ServerCase):

    def test_an_array_is_in_use_while_it_is_read(self):
        x = np.zeros(64 * MIB, np.uint8)
        key = self.client.put(x, "read").id
        stalled = self.client.arrays.Get(array_service_pb2.GetRequest(array=ref(key)))
        next(stalled)
        for attempt in (lambda: self.client.free("read"),
                        lambda: self.client.redistribute("read", "SINGLE"),
                        lambda: self.client.put(np.zeros(1), "read", replace=True)):
            error = self.expect_error("FAILED_PRECONDITION", f"#{key} is in use", attempt)
            self.assertEqual(details_of(error)["ResourceInfo"].resource_type, "array")
        self.assertEqual(self.client.get("read").nbytes, x.nbytes)  # Others may read it.
        stalled.cancel()
        eventually(lambda: error_is_none(lambda: self.client.free("read")), "it is free again")
        self.assertEqual(self.client.used_bytes(), 0)


def error_is_none(request):
    try:
        request()
    except grpc.RpcError:
        return False
    return True


class DeadlineTest(ServerCase):

    def test_deadlines_of_next_to_nothing(self):
        self.client.put(np.zeros(1000), "small")
        get = array_service_pb2.GetRequest(array=ref("small"))
        session = compute_pb2.SessionRequest(open=compute_pb2.SessionOpen())
        session.tasks.add(id=1, call=call("echo"))
        calls = [
            lambda t: self.client.compute.Echo(compute_pb2.EchoRequest(payload=b"x" * 999),
                                               timeout=t),
            lambda t: self.client.compute.Apply(call("sum", np.zeros(99)), timeout=t),
            lambda t: list(self.client.arrays.Get(get, timeout=t)),
            lambda t: list(self.client.arrays.Put(
                put_requests(spec_of(X), DATA, array_pb2.Store()), timeout=t)),
            lambda t: list(self.client.compute.ApplyStream(Sum(self.client).messages(
                [chunk(0), chunk(MIB), chunk(2 * MIB)]), timeout=t)),
            lambda t: list(self.client.compute.Session(iter([session]), timeout=t))]
        for timeout in [0, 1e-6] * 30 + [1e-4, 3e-4, 1e-3, 3e-3] * 15:
            for request in calls:
                try:
                    request(timeout)
                except grpc.RpcError as error:
                    self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        eventually(lambda: error_is_none(self.free_all), "nobody uses anything any more")
        eventually(lambda: self.client.used_bytes() == 0, "memory is back")

    def free_all(self):
        self.client.free(*(array.id for array in self.client.list().arrays))

    def test_a_kernel_stops_at_the_deadline(self):
        key = self.client.put(np.random.default_rng(1).random(8_000_000), kind="SINGLE",
                              workers=[0]).id
        place = array_pb2.Destination(store=array_pb2.Store())
        request = call("sort", array_pb2.Argument(ref=ref(key)), destinations=[place])
        begun = time.monotonic()
        error = error_of(lambda: self.client.compute.Apply(request, timeout=0.02))
        self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        eventually(lambda: all(worker.running_count == 0 for worker in self.client.list_workers()),
                   "the worker is idle")
        self.assertLess(time.monotonic() - begun, 2 * PATIENCE)
        eventually(lambda: self.client.used_bytes() == 64_000_000, "the output's memory is back")
        self.client.free(key)


if __name__ == "__main__":
    unittest.main()
