"""From start to end: draining, signals, ports, sockets."""

import concurrent.futures
import os
import queue
import signal
import stat
import threading
import time
import unittest
import urllib.error
import urllib.request

import grpc
import numpy as np

import health_pb2
from shoal.v1 import array_pb2, array_service_pb2, cluster_pb2, compute_pb2
from harness.client import TIMEOUT, Client, call, details_of, error_of, spec_of, store, stored
from harness.client import streamed, to_numpy
from harness.server import MIB, PATIENCE, Shoald, eventually

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
X = np.random.default_rng(1).random(MIB // 2)  # Four chunks.
SLOW = np.random.default_rng(2).random(6_000_000)


class Stream:
    """A call whose messages are sent one by one."""

    def __init__(self, method):
        self.requests = queue.SimpleQueue()
        self.responses = method(iter(self.requests.get, None), timeout=TIMEOUT)

    def send(self, message):
        self.requests.put(message)

    def close(self):
        self.requests.put(None)


def chunks(begin, end):
    data = X.tobytes()
    return [array_pb2.Chunk(offset=i * MIB, data=data[i * MIB:(i + 1) * MIB])
            for i in range(begin, end)]


class DrainCase(unittest.TestCase):

    def drain(self, server, client):
        """SIGTERM; returns when it has begun."""
        watch = client.health.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
        self.assertEqual(next(watch).status, SERVING)
        server.signal(signal.SIGTERM)
        self.assertEqual(next(watch).status, NOT_SERVING)
        watch.cancel()

    def slow_call(self, client):
        """A call of some tenths of a second, begun: a sort on a worker."""
        client.put(SLOW, "slow", "SINGLE", [0])
        place = [array_pb2.Destination(store=store("sorted", "SINGLE", [0]))]
        pending = client.compute.Apply.future(
            call("sort", stored("slow"), destinations=place), timeout=TIMEOUT)
        eventually(lambda: client.list_workers()[0].running_count, "it runs")
        return pending


class SigtermTest(DrainCase):

    def check_refused(self, request):
        error = error_of(request)
        self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE, error.details())
        details = details_of(error)
        self.assertEqual(details["ErrorInfo"].reason, "DRAINING")
        self.assertGreaterEqual(details["RetryInfo"].retry_delay.ToMilliseconds(), 1)

    def test_calls_under_way_finish_and_new_ones_are_refused(self):
        with Shoald() as server, Client(server.address) as client:
            summed = Stream(client.compute.ApplyStream)
            summed.send(compute_pb2.ApplyStreamRequest(call=call("sum", streamed(X))))
            echoed = Stream(client.compute.ApplyStream)
            echoed.send(compute_pb2.ApplyStreamRequest(call=call("echo", streamed(X))))
            upload = Stream(client.arrays.Put)
            upload.send(array_service_pb2.PutRequest(
                header=array_service_pb2.PutHeader(spec=spec_of(X))))
            for part in chunks(0, 2):
                summed.send(compute_pb2.ApplyStreamRequest(chunk=part))
                echoed.send(compute_pb2.ApplyStreamRequest(chunk=part))
                upload.send(array_service_pb2.PutRequest(chunk=part))
            next(upload.responses)
            next(echoed.responses)
            eventually(lambda: client.used_bytes() >= 3 * X.nbytes, "all three have begun")

            self.drain(server, client)
            self.check_refused(lambda: client.echo(b"x"))
            self.check_refused(lambda: client.apply("sum", X[:9]))
            self.check_refused(lambda: client.put(X[:9]))
            self.check_refused(lambda: client.apply_stream(call("sum", X[:9])))
            self.check_refused(lambda: list(client.compute.Session(iter([]), timeout=TIMEOUT)))
            self.assertTrue(client.info().draining)

            for part in chunks(2, 4):
                summed.send(compute_pb2.ApplyStreamRequest(chunk=part))
                echoed.send(compute_pb2.ApplyStreamRequest(chunk=part))
                upload.send(array_service_pb2.PutRequest(chunk=part))
            (output,) = [r.chunk for r in summed.responses if r.HasField("chunk")]
            self.assertAlmostEqual(np.frombuffer(output.data)[0], X.sum())
            rest = b"".join(r.chunk.data for r in echoed.responses)
            self.assertEqual(rest, X.tobytes()[MIB:])
            self.assertTrue(list(upload.responses)[-1].array.complete)
            server.ends()

    def test_a_session_gets_the_results_of_what_it_sent(self):
        with Shoald() as server, Client(server.address) as client:
            client.put(SLOW, "slow")
            session = Stream(client.compute.Session)
            request = compute_pb2.SessionRequest(open=compute_pb2.SessionOpen(ordered=True))
            for number in range(6):
                request.tasks.add(id=number, call=call("sum", stored("slow")))
            place = array_pb2.Destination(store=store())
            request.tasks.add(id=6, call=call("sort", stored("slow"), destinations=[place]))
            request.tasks.add(id=7, call=call("echo"))
            session.send(request)
            self.assertGreater(next(session.responses).credits, 0)
            eventually(lambda: any(worker.running_count for worker in client.list_workers()),
                       "it runs")
            self.drain(server, client)
            results = []
            error = None
            try:
                for response in session.responses:
                    results += response.results
            except grpc.RpcError as caught:
                error = caught
            self.assertEqual([result.id for result in results], list(range(8)))
            for result in results:
                self.assertFalse(result.HasField("status"), result.status)
            self.assertAlmostEqual(
                float(to_numpy(results[0].outputs[0].spec, results[0].outputs[0].data)),
                SLOW.sum(), places=3)
            self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
            server.ends()

    def test_who_calls_at_any_moment_hears_unavailable(self):
        """Never CANCELLED, which would not say that another server may be asked."""
        def hammer(address, number):
            with Client(address) as client:
                while True:
                    try:
                        if number % 2:
                            client.apply("add", X[:100], X[:100])
                        else:
                            client.put(X[:100], f"key{number}", replace=True)
                    except grpc.RpcError as error:
                        codes.add(error.code())
                        if "DRAINING" not in str(details_of(error)):
                            return  # The server is gone.
                    served.set()
        for _ in range(4):
            codes, served = set(), threading.Event()
            with Shoald() as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
                calls = [pool.submit(hammer, server.address, number) for number in range(8)]
                self.assertTrue(served.wait(TIMEOUT))
                server.signal(signal.SIGTERM)
                server.ends()
                for finished in calls:
                    finished.result(TIMEOUT)
            self.assertEqual(codes, {grpc.StatusCode.UNAVAILABLE})

    def test_a_call_of_several_stages_finishes(self):
        with Shoald("--workers=2") as server, Client(server.address) as client:
            client.put(SLOW, "slow")  # Block: two sorts, then their merge.
            place = [array_pb2.Destination(store=store("sorted"))]
            pending = client.compute.Apply.future(
                call("sort", stored("slow"), destinations=place), timeout=TIMEOUT)
            eventually(lambda: client.list_workers()[0].running_count, "it runs")
            self.drain(server, client)
            self.assertEqual(pending.result().outputs[0].spec, spec_of(SLOW))
            server.ends()

    def test_nothing_idle_holds_it_up(self):
        with Shoald("--drain-timeout=1h") as server, Client(server.address) as client, \
                Client(server.address) as other:
            idle = Stream(client.compute.Session)
            next(idle.responses)
            watch = other.health.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
            self.assertEqual(next(watch).status, SERVING)
            begun = time.monotonic()
            server.signal(signal.SIGTERM)
            server.ends()
            self.assertLess(time.monotonic() - begun, 5 * PATIENCE)
            idle.close()

    def test_readyz_says_so(self):
        with Shoald() as server, Client(server.address) as client:
            pending = self.slow_call(client)
            self.drain(server, client)
            with self.assertRaises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(f"http://{server.http}/readyz", timeout=TIMEOUT)
            self.assertEqual(caught.exception.code, 503)
            caught.exception.close()
            pending.result()
            server.ends()

    def test_the_drain_timeout_cuts(self):
        with Shoald("--drain-timeout=200ms") as server, Client(server.address) as client:
            upload = Stream(client.arrays.Put)
            upload.send(array_service_pb2.PutRequest(
                header=array_service_pb2.PutHeader(spec=spec_of(X)), chunk=chunks(0, 1)[0]))
            next(upload.responses)
            begun = time.monotonic()
            server.signal(signal.SIGTERM)
            server.ends()
            self.assertGreater(time.monotonic() - begun, 0.2)
            self.assertLess(time.monotonic() - begun, 3 * PATIENCE)
            self.assertIsNotNone(error_of(lambda: list(upload.responses)))
            upload.close()

    def test_a_second_signal_stops_at_once(self):
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT),
                              (signal.SIGTERM, signal.SIGINT)):
            with Shoald("--drain-timeout=1h") as server, Client(server.address) as client:
                upload = Stream(client.arrays.Put)
                upload.send(array_service_pb2.PutRequest(
                    header=array_service_pb2.PutHeader(spec=spec_of(X)), chunk=chunks(0, 1)[0]))
                next(upload.responses)
                watch = client.health.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
                self.assertEqual(next(watch).status, SERVING)
                server.signal(first)
                self.assertEqual(next(watch).status, NOT_SERVING)
                self.assertTrue(server.alive())
                server.signal(second)
                server.ends(code=1, within=5)
                self.assertEqual(os.listdir(server.tmp), ["stderr"], "no socket stays")
                upload.close()

    def test_one_signal_is_enough_when_idle(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Shoald("--drain-timeout=1h") as server:
                server.signal(number)
                server.ends()
                self.assertIn("stopped", server.log())


class DrainCallTest(DrainCase):

    def test_it_answers_when_nothing_is_in_flight(self):
        with Shoald() as server, Client(server.address) as client:
            pending = self.slow_call(client)
            client.cluster.Drain(cluster_pb2.DrainRequest(), timeout=TIMEOUT)
            # The end of the call was told before the end of the draining.
            eventually(pending.done, "the answer is here", 1)
            self.assertTrue(pending.result().outputs[0].array_id)

    def test_its_deadline_ends_the_wait_only(self):
        with Shoald() as server, Client(server.address) as client:
            pending = self.slow_call(client)
            error = error_of(
                lambda: client.cluster.Drain(cluster_pb2.DrainRequest(), timeout=0.05))
            self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
            self.assertTrue(client.info().draining)
            self.assertTrue(pending.result().outputs[0].array_id)

    def test_what_is_stored_can_still_be_fetched(self):
        with Shoald() as server, Client(server.address) as client:
            client.put(X, "x")
            client.cluster.Drain(cluster_pb2.DrainRequest(), timeout=TIMEOUT)
            np.testing.assert_array_equal(client.get("x"), X)
            self.assertEqual(client.describe("x").bytes, X.nbytes)
            self.assertEqual(client.free("x"), X.nbytes)


class SocketTest(unittest.TestCase):

    def test_the_private_directory_comes_and_goes(self):
        with Shoald() as server:
            directory = os.path.dirname(server.unix_socket)
            self.assertTrue(directory.startswith(server.tmp))
            self.assertEqual(stat.S_IMODE(os.stat(directory).st_mode), 0o700)
            with Client(server.address) as client:
                lease_socket = client.info().planes.lease_socket
            self.assertEqual(os.path.dirname(lease_socket), directory)
            self.assertEqual(stat.S_IMODE(os.stat(lease_socket).st_mode), 0o600)
            server.signal(signal.SIGTERM)
            server.ends()
            self.assertFalse(os.path.exists(directory))

    def test_a_directory_given_is_used_and_kept(self):
        with Shoald() as other:  # For a directory that goes away with the test.
            directory = os.path.join(other.tmp, "sockets")
            os.mkdir(directory)
            for _ in range(2):
                server = Shoald(f"--socket-dir={directory}")
                self.assertEqual(os.path.dirname(server.unix_socket), directory)
                with Client("unix:" + server.unix_socket) as client:
                    self.assertEqual(client.echo(b"x"), b"x")
                server.stop()
                self.assertEqual(os.listdir(directory), [])

    def test_sockets_left_by_a_killed_server_are_replaced(self):
        with Shoald() as other:
            directory = os.path.join(other.tmp, "sockets")
            server = Shoald(f"--socket-dir={directory}")
            server.kill()
            self.assertTrue(os.listdir(directory))
            with Shoald(f"--socket-dir={directory}") as again, \
                    Client("unix:" + again.unix_socket) as client:
                self.assertEqual(client.echo(b"x"), b"x")

    def test_sockets_of_a_living_server_are_left_alone(self):
        with Shoald() as other:
            directory = os.path.join(other.tmp, "sockets")
            with Shoald(f"--socket-dir={directory}") as server:
                with self.assertRaisesRegex(AssertionError, "another server has its sockets"):
                    Shoald(f"--socket-dir={directory}")
                with Client("unix:" + server.unix_socket) as client:
                    self.assertEqual(client.echo(b"x"), b"x")

    def test_without_sockets(self):
        with Shoald("--no-unix-socket") as server, Client(server.address) as client:
            self.assertIsNone(server.unix_socket)
            planes = client.info().planes
            self.assertEqual((planes.unix_socket, planes.lease_socket), ("", ""))
            self.assertEqual(os.listdir(server.tmp), ["stderr"])

    def test_without_http(self):
        with Shoald("--http-port=-1") as server, Client(server.address) as client:
            self.assertIsNone(server.http)
            self.assertEqual(client.echo(b"x"), b"x")


class TwoServersTest(unittest.TestCase):

    def test_side_by_side(self):
        with Shoald() as one, Shoald() as two, Client(one.address) as first, \
                Client(two.address) as second:
            self.assertEqual(len({one.port, two.port}), 2)
            self.assertNotEqual(one.unix_socket, two.unix_socket)
            self.assertNotEqual(first.info().instance_id, second.info().instance_id)
            first.put(X, "x")
            self.assertEqual(error_of(lambda: second.get("x")).code(), grpc.StatusCode.NOT_FOUND)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                floods = [pool.submit(lambda c=client: [c.echo(bytes(1000)) for _ in range(100)])
                          for client in (first, second)]
            for flood in floods:
                self.assertEqual(flood.result(), [bytes(1000)] * 100)
            np.testing.assert_array_equal(first.get("x"), X)


if __name__ == "__main__":
    unittest.main()
