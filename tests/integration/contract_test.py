"""A generated client without any code of Shoal's works against a bare port: the service itself."""

import concurrent.futures
import queue
import re
import unittest
import urllib.error
import urllib.request

import grpc
import numpy as np
from google.protobuf import descriptor_pb2

import health_pb2
import reflection_pb2
from shoal.v1 import cluster_pb2, task_pb2, worker_pb2
from harness.case import ServerCase
from harness.client import TIMEOUT, Client, details_of
from harness.server import Shoald, eventually

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICES = ["shoal.v1." + name + "Service"
            for name in ("Array", "Cluster", "Compute", "Task", "Worker")]


class ClusterTest(ServerCase):

    def test_server_info_says_what_the_server_is(self):
        info = self.client.info()
        self.assertRegex(info.version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(info.worker_count, 2)
        self.assertEqual(info.backend, "cpu")
        self.assertEqual(info.planes.unix_socket, self.server.unix_socket)
        self.assertTrue(info.planes.lease_socket)
        self.assertFalse(info.draining)
        limits = info.limits
        self.assertEqual((limits.inline_bytes, limits.chunk_bytes), (256 << 10, 1 << 20))
        self.assertEqual((limits.credit_chunks, limits.rank, limits.arguments), (8, 32, 64))
        self.assertGreater(limits.message_bytes, limits.chunk_bytes)
        self.assertEqual((limits.session_tasks, limits.queued_tasks), (65536, 1_000_000))
        self.assertEqual(limits.resume_timeout.seconds, 60)
        outputs = {op.name: op.output for op in info.ops}
        self.assertEqual(
            {outputs[op] for op in ("axpy", "add", "multiply", "sort")},
            {cluster_pb2.OP_OUTPUT_LIKE_ARGUMENTS})
        self.assertEqual({outputs[op] for op in ("sum", "dot")}, {cluster_pb2.OP_OUTPUT_SCALAR})
        self.assertEqual(outputs["echo"], cluster_pb2.OP_OUTPUT_EACH_ARGUMENT)
        axpy, = (op for op in info.ops if op.name == "axpy")
        self.assertEqual([param.name for param in axpy.params], ["a"])
        self.assertEqual((axpy.arguments_min, axpy.arguments_max), (2, 2))

    def test_the_unix_socket_serves_the_same_server(self):
        with Client("unix:" + self.server.unix_socket) as client:
            self.assertEqual(client.info().instance_id, self.client.info().instance_id)
            self.assertEqual(client.echo(b"over the socket"), b"over the socket")

    def test_workers_are_listed_with_their_memory(self):
        workers = self.client.list_workers()
        self.assertEqual([worker.id for worker in workers], [0, 1])
        for worker in workers:
            self.assertEqual(worker.state, cluster_pb2.WorkerInfo.STATE_READY)
            self.assertEqual((worker.backend, worker.threads, worker.address), ("cpu", 1, ""))
            self.assertGreater(worker.memory_limit_bytes, 300 << 20)

    def test_throughput_counts_calls_by_op_route_and_size(self):
        def count():
            rows = self.client.cluster.GetThroughput(
                cluster_pb2.GetThroughputRequest(op="echo"), timeout=TIMEOUT).rows
            return {(row.route, row.plane, row.bytes_min): row for row in rows}
        for _ in range(3):
            self.client.echo(bytes(1000), "FRONT")
        rows = count()
        self.assertEqual({row.op for row in rows.values()}, {"echo"})
        row = rows[1, "inline", 1024]  # 1,000 bytes in and 1,000 out.
        self.assertEqual((row.call_count, row.failed_count), (3, 0))
        self.assertEqual((row.bytes_in, row.bytes_out), (3000, 3000))
        self.assertGreater(row.bytes_per_second, 0)
        self.assertGreaterEqual(row.max_ns * 9 / 8, row.p50_ns)
        self.client.echo(bytes(1000), "FRONT")
        self.assertEqual(count()[1, "inline", 1024].call_count, 4)

    def test_calls_not_built_yet_say_what_to_use(self):
        cases = [
            (self.client.tasks.Submit, task_pb2.SubmitRequest(), "Session"),
            (self.client.tasks.SubmitBatch, task_pb2.SubmitBatchRequest(), "Session"),
            (self.client.tasks.Wait, task_pb2.WaitRequest(), "Session"),
            (lambda request, timeout: list(self.client.tasks.Watch(request, timeout=timeout)),
             task_pb2.WatchRequest(), "Session"),
            (self.client.tasks.Cancel, task_pb2.CancelRequest(), "Session"),
            (self.client.tasks.Resubmit, task_pb2.ResubmitRequest(), "Session"),
            (self.client.tasks.List, task_pb2.ListTasksRequest(), "Session"),
            (self.client.tasks.Purge, task_pb2.PurgeRequest(), "Session"),
            (lambda request, timeout: list(
                self.client.workers.Connect(iter([request]), timeout=timeout)),
             worker_pb2.ConnectRequest(), "--workers"),
            (lambda request, timeout: list(
                self.client.workers.PullShard(request, timeout=timeout)),
             worker_pb2.PullShardRequest(), "--workers"),
            (self.client.cluster.Dump, cluster_pb2.DumpRequest(), "ListWorkers"),
        ]
        for method, request, instead in cases:
            with self.subTest(request=type(request).__name__):
                error = self.expect_error("UNIMPLEMENTED", instead,
                                          lambda: method(request, timeout=TIMEOUT))
                self.assertIn("not built yet", error.details())
                self.assertEqual(details_of(error)["ErrorInfo"].domain, "shoal")


class HealthTest(ServerCase):

    NAMES = ["", "shoal.v1.ComputeService", "shoal.v1.ArrayService", "shoal.v1.ClusterService",
             "worker/0", "worker/1"]

    def check(self, name):
        return self.client.health.Check(health_pb2.HealthCheckRequest(service=name),
                                        timeout=TIMEOUT).status

    def test_check(self):
        for name in self.NAMES:
            self.assertEqual(self.check(name), SERVING, name)

    def test_unknown_names_are_not_found(self):
        for name in ("no.such.Service", "worker/2", "worker/", "shoal.v1.TaskService"):
            with self.subTest(name):
                self.expect_error("NOT_FOUND", "", lambda: self.check(name))

    def test_watch_begins_with_the_state(self):
        for name, state in [(name, SERVING) for name in self.NAMES] + [
                ("worker/9", health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)]:
            with self.subTest(name):
                watch = self.client.health.Watch(health_pb2.HealthCheckRequest(service=name),
                                                 timeout=TIMEOUT)
                self.assertEqual(next(watch).status, state)
                watch.cancel()


class ReflectionTest(ServerCase):

    def ask(self, **request):
        request = reflection_pb2.ServerReflectionRequest(**request)
        response, = self.client.reflection.ServerReflectionInfo(iter([request]), timeout=TIMEOUT)
        return response

    def test_lists_every_service(self):
        listed = {service.name
                  for service in self.ask(list_services="*").list_services_response.service}
        self.assertLessEqual(set(SERVICES) | {"grpc.health.v1.Health"}, listed)

    def test_hands_out_the_contract(self):
        for name in SERVICES:
            files = self.ask(file_containing_symbol=name).file_descriptor_response
            services = {}
            for data in files.file_descriptor_proto:
                file = descriptor_pb2.FileDescriptorProto.FromString(data)
                services.update({f"{file.package}.{s.name}": s for s in file.service})
            self.assertIn(name, services)
            self.assertTrue(services[name].method)


class HttpTest(ServerCase):

    # A metric, its labels, its value: the text format of Prometheus.
    SAMPLE = re.compile(r'^([a-z_]+)(\{(?:[a-z_]+="[^"]*",?)*\})? (\S+)$')

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.server.http}{path}", timeout=TIMEOUT) as reply:
            return reply.read().decode()

    def samples(self):
        found = {}
        for line in self.get("/metrics").splitlines():
            if line.startswith("#"):
                self.assertRegex(line, r"^# (HELP|TYPE) [a-z_]+ ")
                continue
            match = self.SAMPLE.match(line)
            self.assertTrue(match, line)
            found[match[1] + (match[2] or "")] = float(match[3])
        return found

    def total(self, name, *labels):
        return sum(value for key, value in self.samples().items()
                   if key.startswith(name + "{") and all(label in key for label in labels))

    def test_counters_move(self):
        counters = [("shoal_calls_total", ('op="echo"', 'outcome="ok"'), 1),
                    ("shoal_calls_total", ('op="echo"', 'outcome="error"'), 0),
                    ("shoal_call_bytes_total", ('op="echo"', 'direction="in"'), 5000),
                    ("shoal_call_bytes_total", ('op="echo"', 'direction="out"'), 5000),
                    ("shoal_call_seconds_count", ('route="front"', 'plane="inline"'), 1)]
        before = [self.total(name, *labels) for name, labels, _ in counters]
        self.client.echo(bytes(5000), "FRONT")
        for (name, labels, step), value in zip(counters, before):
            self.assertEqual(self.total(name, *labels), value + step, name)

    def test_gauges_follow_the_arrays(self):
        before = self.samples()["shoal_arrays"]
        key = self.client.put(np.zeros(1 << 16, np.uint8)).id
        now = self.samples()
        self.assertEqual((now["shoal_arrays"], now["shoal_array_bytes"]), (before + 1, 1 << 16))
        self.assertGreaterEqual(self.total("shoal_worker_memory_bytes", 'kind="used"'), 1 << 16)
        self.client.free(key)
        self.assertEqual(self.samples()["shoal_arrays"], before)

    def test_gauges_count_sessions(self):
        requests = queue.SimpleQueue()
        session = self.client.compute.Session(iter(requests.get, None), timeout=TIMEOUT)
        next(session)
        self.assertEqual(self.samples()["shoal_sessions"], 1)
        requests.put(None)
        self.assertEqual(list(session), [])
        eventually(lambda: self.samples()["shoal_sessions"] == 0, "the session is gone")

    def test_alive_and_ready(self):
        self.assertEqual(self.get("/healthz"), "ok\n")
        self.assertEqual(self.get("/readyz"), "ok\n")

    def test_unknown_paths(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.get("/secret")
        self.assertEqual(caught.exception.code, 404)


class DrainTest(unittest.TestCase):

    def test_drain_refuses_work_and_says_so_everywhere(self):
        with Shoald() as server, Client(server.address) as client:
            watch = client.health.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
            self.assertEqual(next(watch).status, SERVING)
            client.cluster.Drain(cluster_pb2.DrainRequest(), timeout=TIMEOUT)
            self.assertEqual(next(watch).status, NOT_SERVING)
            watch.cancel()

            with self.assertRaises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(f"http://{server.http}/readyz", timeout=TIMEOUT)
            self.assertEqual(caught.exception.code, 503)
            with urllib.request.urlopen(f"http://{server.http}/healthz", timeout=TIMEOUT) as reply:
                self.assertEqual(reply.status, 200)
            self.assertTrue(client.info().draining)
            self.assertEqual({worker.state for worker in client.list_workers()},
                             {cluster_pb2.WorkerInfo.STATE_DRAINING})
            with self.assertRaises(grpc.RpcError) as refused:
                client.echo(b"x")
            self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
            details = details_of(refused.exception)
            self.assertEqual(details["ErrorInfo"].reason, "DRAINING")
            self.assertIn("RetryInfo", details)
            client.cluster.Drain(cluster_pb2.DrainRequest(), timeout=TIMEOUT)  # Twice is as once.


class ManyClientsTest(ServerCase):

    def test_threads_share_a_channel_and_get_their_own_answers(self):
        def ask(number):
            payload = number.to_bytes(4, "little") * 500
            return self.client.echo(payload, "WORKER") == payload
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertTrue(all(pool.map(ask, range(400))))
        eventually(lambda: all(worker.running_count == 0 for worker in self.client.list_workers()),
                   "nothing runs any more")


if __name__ == "__main__":
    unittest.main()
