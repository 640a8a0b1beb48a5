"""The command line tool against a real server, with .npy files that NumPy wrote and reads."""

import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import grpc
import numpy as np

from shoal.v1 import cluster_pb2
from harness.case import ServerCase
from harness.client import Client
from harness.server import BIN, MIB, PATIENCE, Shoald, eventually

X = np.arange(6.0).reshape(2, 3)
Y = np.ones((2, 3))


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


class CliCase(ServerCase):

    OPTIONS = ("--workers=3",)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="shoal-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.save("x", X)
        self.save("y", Y)
        self.addCleanup(lambda: eventually(self.free_all, "all is freed"))

    def free_all(self):
        try:
            self.client.free(*(array.id for array in self.client.list().arrays))
        except grpc.RpcError as error:  # What was given up may run a moment longer.
            return error.code() != grpc.StatusCode.FAILED_PRECONDITION
        return True

    def save(self, name, array):
        np.save(self.folder / f"{name}.npy", array)

    def load(self, name):
        return np.load(self.folder / f"{name}.npy")

    def run_tool(self, *words, data=b"", code=0, address=None):
        result = subprocess.run(
            [str(BIN / "shoal"), *words], input=data, capture_output=True, check=False,
            cwd=self.folder, timeout=60 * PATIENCE,
            env={**os.environ, "SHOAL_ADDRESS": address or self.server.address})
        self.assertEqual(result.returncode, code, result.stderr.decode())
        if code:
            self.assertEqual(result.stdout, b"")
            self.assertTrue(result.stderr)
        return result

    def tool(self, *words, data=b""):
        return self.run_tool(*words, data=data).stdout

    def json(self, *words):
        return json.loads(self.tool(*words, "--json"))


class ArrayTest(CliCase):

    def test_put_list_get_and_remove(self):
        put = self.json("put", "x.npy", "--name", "x", "--distribution", "block")
        self.assertEqual((put["name"], put["dtype"], put["shape"], put["bytes"], put["complete"]),
                         ("x", "float64", [2, 3], 48, True))
        self.assertEqual([(s["begin"], s["end"]) for s in put["shards"]], [(0, 3), (3, 6), (6, 6)])
        np.testing.assert_array_equal(self.client.get("x"), X)
        self.assertEqual(self.json("ls")["arrays"], [put])
        self.assertIn(b"float64", self.tool("ls"))
        self.tool("get", "x", "-o", "again.npy")
        np.testing.assert_array_equal(self.load("again"), X)
        np.testing.assert_array_equal(np.load(io.BytesIO(self.tool("get", "x", "-o", "-"))), X)
        self.tool("get", f"#{put['id']}", "-o", "by_id.npy")
        np.testing.assert_array_equal(self.load("by_id"), X)
        self.assertEqual(self.json("rm", "x"), {"freed_bytes": 48})
        self.assertEqual(self.json("ls")["arrays"], [])
        self.assertEqual(self.json("rm", "-f", "x"), {"freed_bytes": 0})

    def test_every_dtype_order_and_shape(self):
        random = np.random.default_rng(1)
        for dtype in ("?", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "<f2", "<f4",
                      "<f8", "<c8", "<c16", ">i4", ">f8", ">c16", ">u2"):
            for shape, order in (((), "C"), ((0, 3), "C"), ((4, 5, 6), "F"), ((1000,), "C")):
                with self.subTest(dtype=dtype, shape=shape, order=order):
                    x = np.asarray(random.integers(0, 100, shape).astype(dtype), order=order)
                    self.save("any", x)
                    self.tool("put", "any.npy", "--name", "any", "--replace")
                    got = np.load(io.BytesIO(self.tool("get", "any", "-o", "-")))
                    self.assertEqual((got.dtype, got.shape),
                                     (x.dtype.newbyteorder("<"), x.shape))
                    np.testing.assert_array_equal(got, x)

    def test_large_files(self):
        x = np.random.default_rng(2).random(4 * MIB)
        self.save("large", x)
        for plane in ("tcp", "unix", "memfd"):
            self.tool("put", "large.npy", "--name", "large", "--replace", "--plane", plane)
            self.tool("get", "large", "-o", "back.npy", "--plane", plane)
            np.testing.assert_array_equal(self.load("back"), x)

    def test_what_is_no_npy_file(self):
        good = npy(X)
        bad = {"empty": b"", "text": b"hello", "cut": good[:-1], "header": good[:20],
               "magic": b"\x93NUMPX" + good[6:],
               "version": good[:6] + b"\x09" + good[7:],
               "pickled": npy(X).replace(b"<f8", b"|O8"),
               "shape": npy(X).replace(b"(2, 3)", b"(2,-3)")}
        for name, data in bad.items():
            with self.subTest(name):
                (self.folder / "bad.npy").write_bytes(data)
                error = self.run_tool("put", "bad.npy", code=1).stderr
                self.assertIn(b"bad.npy", error)
        self.assertEqual(self.json("ls")["arrays"], [])


class ComputeTest(CliCase):

    def test_apply_to_files(self):
        self.tool("apply", "axpy", "--param", "a=2", "x=x.npy", "y=y.npy", "-o", "out.npy")
        np.testing.assert_array_equal(self.load("out"), 2 * X + Y)

    def test_apply_in_pipes(self):
        out = self.tool("apply", "multiply", "-", "y.npy", "-o", "-", data=npy(X + 1))
        np.testing.assert_array_equal(np.load(io.BytesIO(out)), (X + 1) * Y)

    def test_apply_to_what_the_server_holds(self):
        key = self.client.put(X, "x").id
        for name in ("@x", f"@#{key}", "x=@x"):
            result = self.json("apply", "sum", name)
            self.assertEqual(result["outputs"][0]["values"], [15.0])
        self.tool("apply", "add", "@x", "y.npy", "--store", "sum", "-d", "single:1")
        np.testing.assert_array_equal(self.client.get("sum"), X + Y)
        self.assertEqual(self.client.describe("sum").shards[0].worker, 1)

    def test_results_are_printed_without_an_output(self):
        self.assertIn(b"15", self.tool("apply", "sum", "x.npy"))

    def test_integers_stay_exact_in_json(self):
        self.save("big", np.array([2**63 - 1, 2**53 + 1], np.int64))
        values = self.json("apply", "echo", "big.npy")["outputs"][0]["values"]
        self.assertEqual([int(value) for value in values], [2**63 - 1, 2**53 + 1])

    def test_echo(self):
        for route in ("front", "worker", "device"):
            result = self.json("echo", "--bytes", "3MiB", "--count", "3", "--route", route)
            self.assertEqual((result["bytes"], result["count"], result["wrong"]), (3 * MIB, 3, 0))
        self.tool("echo", "x.npy", "-o", "same.npy")
        np.testing.assert_array_equal(self.load("same"), X)


class ClusterTest(CliCase):

    def test_info(self):
        info = self.json("info")
        self.assertEqual((info["worker_count"], info["backend"]), (3, "cpu"))
        self.assertEqual(info["instance_id"], self.client.info().instance_id)
        self.assertIn("axpy", [op["name"] for op in info["ops"]])
        self.assertIn(b"factor of x", self.tool("info", "axpy"))

    def test_workers(self):
        self.assertEqual([(w["id"], w["state"]) for w in self.json("workers")["workers"]],
                         [(0, "ready"), (1, "ready"), (2, "ready")])

    def test_stats(self):
        self.tool("echo", "--bytes", "1KiB", "--count", "7", "--plane", "tcp")
        rows = [row for row in self.json("stats", "echo")["rows"] if row["plane"] == "inline"
                and row["bytes_min"] == 2048]
        self.assertEqual(len(rows), 1)
        self.assertGreaterEqual(rows[0]["call_count"], 7)
        self.assertIn(b"echo", self.tool("stats"))


class ExitCodeTest(CliCase):

    def test_exit_codes(self):
        self.client.put(X, "taken")
        cases = [
            (1, ("put", "x.npy", "--name", "taken"), "ALREADY_EXISTS"),
            (1, ("apply", "bogus", "x.npy"), "GetServerInfo"),
            (1, ("apply", "add", "x.npy"), "argument"),
            (2, (), "shoal"), (2, ("frobnicate",), "frobnicate"), (2, ("put",), "FILE"),
            (2, ("get", "x", "--bogus"), "--bogus"), (2, ("apply", "axpy", "-p", "a"), "a"),
            (3, ("get", "none"), "none"), (3, ("rm", "none"), "none"),
            (3, ("put", "none.npy"), "none.npy"), (3, ("apply", "sum", "@none"), "none"),
            (4, ("info", "--address", "localhost:1"), "refused"),
            (4, ("info", "--address", "unix:/no/such/socket"), "/no/such/socket")]
        for code, words, text in cases:
            with self.subTest(words):
                self.assertIn(text, self.run_tool(*words, code=code).stderr.decode())

    def test_two_outputs_to_one_file_are_refused_before_the_call(self):
        os.symlink("here.npy", self.folder / "there.npy")
        self.save("here", X)
        before = sum(row["call_count"] for row in self.json("stats", "echo")["rows"])
        for first, second in (("z.npy", "z.npy"), ("z.npy", "./z.npy"),
                              ("z.npy", str(self.folder / "z.npy")), ("here.npy", "there.npy")):
            with self.subTest(first=first, second=second):
                result = self.run_tool("apply", "echo", "x.npy", "y.npy", "-o", first,
                                       "-o", second, code=2)
                self.assertIn(b"two outputs", result.stderr)
        self.assertFalse((self.folder / "z.npy").exists())
        after = sum(row["call_count"] for row in self.json("stats", "echo")["rows"])
        self.assertEqual(after, before)
        self.tool("apply", "echo", "x.npy", "y.npy", "-o", "/dev/null", "-o", "/dev/null")

    def test_npy_versions(self):
        for major in (1, 2, 3):
            with open(self.folder / "versioned.npy", "wb") as file:
                np.lib.format.write_array(file, X, version=(major, 0))
            self.assertEqual(self.json("apply", "sum", "versioned.npy")["outputs"][0]["values"],
                             [15.0])
        data = (self.folder / "versioned.npy").read_bytes()
        (self.folder / "versioned.npy").write_bytes(data[:6] + b"\x04" + data[7:])
        result = self.run_tool("apply", "sum", "versioned.npy", code=1)
        self.assertIn(b"versioned.npy: .npy format version 4.0 is not known", result.stderr)

    def test_a_timeout(self):
        self.save("slow", np.random.default_rng(1).random(8 * MIB))
        self.tool("put", "slow.npy", "--name", "slow")
        self.run_tool("apply", "sort", "@slow", "--store", "s", "--timeout", "20ms", code=4)

    def test_a_draining_server(self):
        with Shoald() as server, Client(server.address) as client:
            client.cluster.Drain(cluster_pb2.DrainRequest())
            self.run_tool("apply", "sum", "x.npy", "--timeout", "2s", code=4,
                          address=server.address)

    def test_help_and_completion(self):
        self.assertIn(b"Exit codes", self.tool("--help"))
        self.assertIn(b"shoal apply axpy", self.tool("apply", "--help"))
        self.assertRegex(self.tool("--version"), rb"^shoal \d+\.\d+\.\d+\n$")
        script = self.tool("completion", "bash").decode()
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


if __name__ == "__main__":
    unittest.main()
