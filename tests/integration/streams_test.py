"""ApplyStream and Session: large calls and many small ones."""

import os
import queue
import unittest

import numpy as np

from shoal.v1 import array_pb2, compute_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, call, store, stored, streamed, to_numpy, unpack
from harness.server import MIB


class EchoTest(ServerCase):

    OPTIONS = ("--workers=3",)
    ROUTES = ("FRONT", "WORKER", "DEVICE")

    def test_unary_on_all_routes(self):
        for route in ("UNSPECIFIED", *self.ROUTES):
            for size in (0, 1, 63, 64, 4097, 100_000, 256 << 10):
                with self.subTest(route=route, size=size):
                    payload = os.urandom(size)
                    self.assertEqual(self.client.echo(payload, route), payload)

    def test_streamed_on_all_routes(self):
        for route in self.ROUTES:
            for size in (0, 1, MIB - 1, MIB, MIB + 1, 16 * MIB + 12345):
                with self.subTest(route=route, size=size):
                    payload = np.frombuffer(os.urandom(size), np.uint8)
                    first, (got,) = self.client.apply_stream(
                        call("echo", streamed(payload), route=route), {0: payload})
                    self.assertEqual(got.tobytes(), payload.tobytes())
                    self.assertTrue(first.outputs[0].streamed)
        self.assertEqual(self.client.used_bytes(), 0)

    def test_ragged_chunks(self):
        for route in self.ROUTES:
            for size, count in ((1, 3000), (7, 10_000), (333, 50_000), (4095, 50_000)):
                with self.subTest(route=route, size=size):
                    payload = os.urandom(count)
                    array = np.frombuffer(payload, np.uint8)
                    _, (got,) = self.client.apply_stream(
                        call("echo", streamed(array), route=route), {0: payload}, size)
                    self.assertEqual(got.tobytes(), payload)


class ApplyStreamTest(ServerCase):

    def test_streamed_inline_and_stored_arguments_together(self):
        x = np.linspace(0, 1, 500_000)
        y = np.arange(500_000, dtype=np.float64)
        key = self.client.put(y).id
        _, (got,) = self.client.apply_stream(call("axpy", streamed(x), stored(key), a=3),
                                             {0: x.tobytes()})
        np.testing.assert_array_equal(got, 3 * x + y)
        _, (got,) = self.client.apply_stream(call("axpy", stored(key), streamed(x), a=3),
                                             {1: x.tobytes()})
        np.testing.assert_array_equal(got, 3 * y + x)
        small = np.arange(5, dtype=np.int16)
        _, (got,) = self.client.apply_stream(call("add", small, streamed(small)),
                                             {1: small.tobytes()})
        np.testing.assert_array_equal(got, small + small)
        self.client.free(key)

    def test_a_call_without_streamed_arguments(self):
        x = np.arange(100, dtype=np.int64)
        _, (got,) = self.client.apply_stream(call("multiply", x, x))
        np.testing.assert_array_equal(got, x * x)

    def test_results_larger_than_a_unary_message(self):
        x = np.random.default_rng(1).random(2_000_000)
        key = self.client.put(x).id
        first, (got,) = self.client.apply_stream(call("sort", stored(key), want_timing=True))
        np.testing.assert_array_equal(got, np.sort(x))
        self.assertEqual((first.backend, first.worker_count), ("cpu", 2))
        self.assertGreater(first.timing.compute_ns, 0)
        self.client.free(key)

    def test_outputs_may_stay(self):
        x = np.random.default_rng(2).random(300_000)
        destination = array_pb2.Destination(store=store("sorted", "REPLICATED"))
        first, _ = self.client.apply_stream(
            call("sort", streamed(x), destinations=[destination]), {0: x.tobytes()})
        self.assertEqual(first.outputs[0].array_id, self.client.describe("sorted").id)
        np.testing.assert_array_equal(self.client.get("sorted"), np.sort(x))
        self.client.free("sorted")

    def test_acknowledgements_grow_to_the_sum_of_the_arguments(self):
        x = np.zeros(20 * MIB, np.uint8)
        def messages():
            yield compute_pb2.ApplyStreamRequest(call=call("sum", streamed(x)))
            for offset in range(0, x.nbytes, MIB):
                yield compute_pb2.ApplyStreamRequest(
                    chunk=array_pb2.Chunk(offset=offset, data=bytes(MIB)))
        seen = [response.acknowledged_bytes
                for response in self.client.compute.ApplyStream(messages(), timeout=TIMEOUT)
                if response.acknowledged_bytes]
        self.assertEqual(seen, sorted(set(seen)))
        # Twice a window of eight chunks, so that nobody waits for one that is not under way.
        self.assertEqual(seen, list(range(4 * MIB, 20 * MIB + 1, 4 * MIB)))


class Tasks:
    """A session, with a message sent for each `send`."""

    def __init__(self, client, ordered=False):
        self._requests = queue.SimpleQueue()
        self._responses = client.compute.Session(iter(self._requests.get, None), timeout=TIMEOUT)
        self._open = compute_pb2.SessionOpen(ordered=ordered)
        self.credits = next(self._responses).credits

    def send(self, *tasks, cancel=()):
        """Tasks are (id, call) or (id, call, timeout_us)."""
        request = compute_pb2.SessionRequest(open=self._open, cancel=cancel)
        self._open = None
        for number, task, *timeout in tasks:
            request.tasks.add(id=number, call=task, timeout_us=timeout[0] if timeout else 0)
        self._requests.put(request)

    def close(self):
        self._requests.put(None)

    def results(self, count):
        """The next `count` results: (id, outputs or status), in the order they came in."""
        found = []
        while len(found) < count:
            response = next(self._responses)
            found += [(number, []) for number in response.done]
            for result in response.results:
                value = result.status if result.HasField("status") else result.outputs
                found.append((result.id, value))
        return found

    def rest(self):
        return list(self._responses)


class SessionCase(ServerCase):

    def put_random(self, count):
        """On worker 0: work that takes it a while."""
        return self.client.put(np.random.default_rng(3).random(count), kind="SINGLE", workers=[0])


class SessionTest(SessionCase):

    def test_results_match_their_ids(self):
        for ordered in (False, True):
            with self.subTest(ordered=ordered):
                tasks = Tasks(self.client, ordered)
                self.assertEqual(tasks.credits, 65536)
                numbers = list(range(1000, 1500))
                tasks.send(*((number, call("add", np.int64(number), np.int64(1)))
                             for number in numbers[:300]))
                tasks.send(*((number, call("add", np.int64(number), np.int64(1)))
                             for number in numbers[300:]))
                results = tasks.results(500)
                tasks.close()
                self.assertEqual(tasks.rest(), [])
                for number, (output,) in results:
                    self.assertEqual(to_numpy(output.spec, output.data), number + 1)
                got = [number for number, _ in results]
                self.assertEqual(got if ordered else sorted(got), numbers)

    def test_floods_of_empty_tasks(self):
        for ordered in (False, True):
            with self.subTest(ordered=ordered):
                tasks = Tasks(self.client, ordered)
                count = 50_000
                for begin in range(0, count, 1000):
                    tasks.send(*((number, call("echo")) for number in range(begin, begin + 1000)))
                got = [number for number, _ in tasks.results(count)]
                self.assertEqual(got if ordered else sorted(got), list(range(count)))
                tasks.close()
                self.assertEqual(tasks.rest(), [])

    def test_a_fault_of_one_task_touches_no_other(self):
        x = np.arange(10.0)
        bad = call("add", x, x)
        bad.arguments[0].inline.data = bytes(79)
        good = call("sum", x)
        tasks = Tasks(self.client, ordered=True)
        tasks.send((1, good), (2, bad), (3, call("no_such_op", x)), (4, good),
                   (5, call("add", stored("missing"), x)), (6, call("echo")), (7, good))
        results = dict(tasks.results(7))
        self.assertEqual(list(results), [1, 2, 3, 4, 5, 6, 7])
        for number in (1, 4, 7):
            output, = results[number]
            self.assertEqual(to_numpy(output.spec, output.data), 45.0)
        self.assertEqual([results[number].code for number in (2, 3, 5)], [3, 12, 5])
        self.assertIn("79 bytes", results[2].message)
        self.assertEqual(unpack(results[5].details)["ResourceInfo"].resource_name, "'missing'")
        self.assertEqual(list(results[6]), [])
        tasks.close()
        self.assertEqual(tasks.rest(), [])

    def test_tasks_store_and_use_arrays(self):
        x = np.arange(1000.0)
        key = self.client.put(x, "x").id
        tasks = Tasks(self.client)
        tasks.send((1, call("add", stored("x"), stored("x"), destinations=[
            array_pb2.Destination(store=store("twice"))])))
        (_, (output,)), = tasks.results(1)
        np.testing.assert_array_equal(self.client.get(output.array_id), x + x)
        tasks.send((2, call("dot", stored("twice"), stored(key))))
        (_, (output,)), = tasks.results(1)
        self.assertAlmostEqual(float(to_numpy(output.spec, output.data)), 2 * float(x @ x))
        tasks.close()
        tasks.rest()
        self.client.free("x", "twice")

    def test_timeouts_and_cancellation_end_each_task_once(self):
        big = self.put_random(3_000_000)
        slow = call("sort", stored(big.id), destinations=[array_pb2.Destination(store=store())])
        tasks = Tasks(self.client)
        tasks.send((1, slow), (2, slow, 1), (3, slow), (4, slow), cancel=[4, 99])
        tasks.send(cancel=[3])
        results = {number: value for number, value in tasks.results(4)}
        self.assertEqual(set(results), {1, 2, 3, 4})
        self.assertEqual(results[2].code, 4)
        self.assertEqual(len(results[1]), 1)
        for number in (3, 4):  # What it had become when the request to cancel came.
            self.assertTrue(getattr(results[number], "code", 1) == 1)
        tasks.close()
        self.assertEqual(tasks.rest(), [])
        self.client.free(*(array.id for array in self.client.list().arrays))

    def test_a_timeout_beyond_all_clocks_is_none(self):
        tasks = Tasks(self.client)
        tasks.send((1, call("echo"), 2**63 - 1), (2, call("sum", np.arange(3)), 2**63 - 1))
        results = dict(tasks.results(2))
        self.assertEqual(results[1], [])
        self.assertEqual(len(results[2]), 1)
        tasks.close()
        tasks.rest()

    def test_an_id_in_flight_is_refused_a_second_time(self):
        big = self.put_random(2_000_000)
        slow = call("sort", stored(big.id), destinations=[array_pb2.Destination(store=store())])
        tasks = Tasks(self.client)
        tasks.send((7, slow))
        tasks.send((7, call("echo")))
        results = tasks.results(2)
        self.assertEqual([number for number, _ in results], [7, 7])
        self.assertEqual(results[0][1].code, 3)
        self.assertEqual(len(results[1][1]), 1)
        tasks.close()
        tasks.rest()
        self.client.free(*(array.id for array in self.client.list().arrays))


class CreditsTest(SessionCase):

    OPTIONS = ("--session-tasks=16",)

    def test_more_than_the_credits_is_refused_task_by_task(self):
        tasks = Tasks(self.client)
        self.assertEqual(tasks.credits, 16)
        big = self.put_random(2_000_000)
        slow = call("sort", stored(big.id), destinations=[array_pb2.Destination(store=store())])
        tasks.send(*((number, slow) for number in range(3)),
                   *((number, call("sum", stored(big.id))) for number in range(3, 20)))
        results = dict(tasks.results(20))
        refused = [number for number in range(20) if getattr(results[number], "code", 0)]
        self.assertEqual(refused, [16, 17, 18, 19])
        self.assertEqual({results[number].code for number in refused}, {8})
        tasks.close()
        tasks.rest()

    def test_a_result_gives_its_credit_back_at_once(self):
        """Not only when the whole message has ended: one worker is busy, the other is not."""
        big = self.put_random(4_000_000)
        slow = call("sort", stored(big.id), destinations=[array_pb2.Destination(store=store())])
        tasks = Tasks(self.client)
        tasks.send((1000, slow), *((number, call("echo")) for number in range(15)))
        ended, begun, sent = 0, 16, 15
        while sent < 300:
            for number, value in tasks.results(1):
                self.assertFalse(getattr(value, "code", 0), (number, value))
                ended += 1
            if begun - ended < 16:
                tasks.send((sent, call("echo")))
                sent, begun = sent + 1, begun + 1
        for number, value in tasks.results(begun - ended):
            self.assertFalse(getattr(value, "code", 0), (number, value))
        tasks.close()
        tasks.rest()


if __name__ == "__main__":
    unittest.main()
