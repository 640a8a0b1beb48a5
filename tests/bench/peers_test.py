"""Runs `shoal-bench tasks --peers`: the real peers on tiny floods, and fakes that fail."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

BENCH = pathlib.Path()
SCHEMA = {}
PYTHON = pathlib.Path()
PEERS = {"dask": "distributed ", "ipyparallel": "ipyparallel "}

READY = """echo 'ready {"version": "fake 1", "python": "3", "workers": 1, "way": "one_by_one"}'\n"""


def tasks(*arguments, **environment):
    return subprocess.run([BENCH, "tasks", "--count", "50", "--repeat", "2", *arguments],
                          capture_output=True, text=True, timeout=280,
                          env=dict(os.environ, **environment))


def rows_of(done):
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    return document["rows"]


class RealPeersTest(unittest.TestCase):
    def setUp(self):
        if not PYTHON.exists():
            self.skipTest("scripts/bench-peers has not been run")

    def test_tiny_floods_are_right_and_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            done = tasks("--batched", "--workers", "1", "--peers", "ipyparallel,dask",
                         "--peer-python", PYTHON, "--json", "-", TMPDIR=folder, HOME=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        rows = rows_of(done)
        for name, version in PEERS.items():
            (row,) = [row for row in rows if row["subject"] == name]
            self.assertEqual((row["count"], row["wrong"], row["plane"]), (50, 0, "tcp"))
            self.assertLessEqual(row["sent_s"], row["roundtrip_s"])
            self.assertIn(version, row["about"])
            self.assertGreater(row["cpu_server_us_per_task"], 0)
            self.assertGreater(row["peak_rss_bytes"], 1 << 20)
            self.assertIsNone(row["p50_us"])
        shoal = [row for row in rows if row["subject"] == "shoal"]
        self.assertEqual({row["mode"] for row in shoal}, {"one_by_one", "batched"})
        for row in shoal:
            for name in PEERS:
                self.assertGreater(row["ratio"][name], 1)

    def test_nothing_is_left_when_the_bench_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            bench = subprocess.Popen(
                [BENCH, "tasks", "--ceilings-only", "--count", "50", "--repeat", "1000000",
                 "--peers", "dask,ipyparallel", "--peer-python", PYTHON, "--workers", "1"],
                stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=folder))
            for line in bench.stdout:
                if "ipyparallel: " in line:  # Both are up.
                    break
            self.assertGreater(len(processes_in(folder)), 4)
            bench.terminate()
            bench.communicate(timeout=60)
            while processes_in(folder):  # Until the test's own limit.
                pass


def processes_in(folder):
    """Processes whose working directory lies in `folder`, zombies not."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(folder):
                found.append(entry.name)
        except OSError:
            pass
    return found


class FakePeersTest(unittest.TestCase):
    """A shell script in the place of Python, that says it has every package."""

    def run_fake(self, body, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder, "python")
            python.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\n' + body)
            python.chmod(0o755)
            return tasks("--ceilings-only", "--peers", "dask", "--peer-python", python,
                         "--json", "-", *arguments)

    def test_wrong_results_end_the_run_with_1(self):
        done = self.run_fake(READY + """
            while read count; do
              echo "flood {\\"count\\": $count, \\"sent_s\\": 1, \\"roundtrip_s\\": 2," \\
                "\\"cpu_client_s\\": 0, \\"cpu_server_s\\": 0, \\"peak_rss_bytes\\": 0," \\
                "\\"wrong\\": 1}"
            done""")
        self.assertEqual(done.returncode, 1)
        (row,) = [row for row in rows_of(done) if row["subject"] == "dask"]
        self.assertEqual(row["wrong"], 2)
        self.assertEqual(row["ops_per_s"], 25)

    def test_one_that_hangs_is_ended_and_the_rest_is_measured(self):
        done = self.run_fake(READY + "read count\nexec cat\n", "--peer-timeout", "3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("DEADLINE_EXCEEDED: dask: no answer within 3 s; it was ended", done.stderr)
        rows = rows_of(done)
        self.assertEqual({row["subject"] for row in rows}, {"grpc_unary", "grpc_messages"})
        for row in rows:
            self.assertNotIn("dask", row["ratio"])

    def test_one_that_does_not_start_is_named(self):
        done = self.run_fake("exit 3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("dask: ", done.stderr)

    def test_without_the_package_the_script_that_installs_it_is_named(self):
        for python in ("false", "/nonexistent/python"):
            done = tasks("--ceilings-only", "--peers", "ipyparallel", "--peer-python", python)
            self.assertEqual(done.returncode, 1)
            self.assertIn("FAILED_PRECONDITION: ipyparallel: ", done.stderr)
            self.assertIn("scripts/bench-peers", done.stderr)

    def test_flags_that_make_no_sense_are_refused(self):
        for flags in (["--peers", "ray"], ["--peers", "dask,dask"],
                      ["--peers", "dask", "--plane", "unix"],
                      ["--peers", "dask", "--peer-count", "0"]):
            self.assertEqual(tasks("--ceilings-only", *flags).returncode, 2, flags)


if __name__ == "__main__":
    BENCH = pathlib.Path(sys.argv[1])
    SCHEMA = json.loads(pathlib.Path(sys.argv[2]).read_text())
    PYTHON = pathlib.Path(sys.argv[3])
    result = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], exit=False).result
    for test, reason in result.skipped:
        print(f"skipped {test}: {reason}")
    if result.wasSuccessful() and result.skipped:
        sys.exit(77)  # What CTest knows as skipped.
    sys.exit(not result.wasSuccessful())
