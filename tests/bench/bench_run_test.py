"""Runs the real shoal-bench on tiny sizes and checks what it writes against the schema."""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

BENCH = pathlib.Path()
SCHEMA = {}


def run(*arguments, expect=0):
    done = subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=250)
    if done.returncode != expect:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def results(*arguments):
    """The JSON of a run, valid by the schema."""
    document = json.loads(run(*arguments, "--json", "-").stdout)
    jsonschema.validate(document, SCHEMA)
    return document


CEILINGS = {"grpc_stream", "grpc_unary", "protobuf", "raw_tcp", "raw_unix", "signal", "memcpy"}


class SweepTest(unittest.TestCase):
    def test_every_ceiling_moves_every_size_right(self):
        # 0 and 1 byte, a chunk's end, and several chunks with a rest.
        for size in ("0", "1", "1MiB", "2500001"):
            document = results("sweep", "--ceilings-only", "-b", size, "-e", size,
                               "--op", "echo,put,get", "--repeat", "1", "--calls", "2")
            for op in ("echo", "put", "get"):
                rows = [row for row in document["rows"] if row["op"] == op]
                self.assertEqual({row["subject"] for row in rows}, CEILINGS)
            self.assertEqual({row["wrong"] for row in document["rows"]}, {0})

    def test_every_plane_and_route_and_several_callers(self):
        document = results("sweep", "--ceilings-only", "-b", "70000", "-e", "70000",
                           "--plane", "tcp,unix", "--route", "front,worker", "--repeat", "1",
                           "--concurrency", "1:2:2x", "--in-flight", "3")
        self.assertEqual(len(document["rows"]), 2 * 2 * 2 * len(CEILINGS))
        self.assertEqual({row["concurrency"] for row in document["rows"]}, {1, 2})
        self.assertEqual({row["wrong"] for row in document["rows"]}, {0})

    def test_ratios_are_of_the_same_run(self):
        rows = results("sweep", "--ceilings-only", "-b", "1KiB", "-e", "1KiB", "--repeat", "3",
                       "--ceilings", "raw_unix,memcpy")["rows"]
        unix, memcpy = (row["ratio"] for row in rows)
        self.assertLess(unix["memcpy"], 0.5)
        self.assertAlmostEqual(unix["memcpy"] * memcpy["raw_unix"], 1, delta=0.01)

    def test_apply_sends_two_arrays_and_gets_one(self):
        (row,) = results("sweep", "--ceilings-only", "-b", "4KiB", "-e", "4KiB", "--op", "apply",
                         "--ceilings", "grpc_stream", "--repeat", "1")["rows"]
        self.assertEqual((row["function"], row["dtype"]), ("axpy", "float32"))
        self.assertAlmostEqual(row["gib_in_per_s"], 2 * row["gib_out_per_s"], places=6)

    def test_csv_has_a_row_a_measurement(self):
        text = run("sweep", "--ceilings-only", "-b", "8", "-e", "32", "--csv", "--repeat", "1",
                   "--ceilings", "memcpy,signal").stdout
        table = list(csv.reader(io.StringIO(text)))
        self.assertEqual(len(table), 1 + 2 * 2)
        self.assertEqual({len(line) for line in table}, {len(table[0])})

    def test_bad_flags_end_with_2_and_say_why(self):
        for flags in (["--op", "fly"], ["-b", "x"], ["--dtype", "int3"], ["-b", "8", "-e", "4"],
                      ["--repeat", "0"], ["--op", "apply", "--dtype", "bool"], ["extra"]):
            done = run("sweep", "--ceilings-only", *flags, expect=2)
            self.assertIn("shoal-bench sweep:", done.stderr)


class ShoalTest(unittest.TestCase):
    """With the shoald that lies beside the program."""

    def test_every_op_and_plane_is_right(self):
        document = results("sweep", "-b", "8", "-e", "1100008", "-f", "400",
                           "--op", "echo,put,get,apply", "--plane", "tcp,unix,memfd",
                           "--ceilings", "grpc_stream", "--repeat", "1", "--calls", "2")
        rows = [row for row in document["rows"] if row["subject"] == "shoal"]
        self.assertEqual({(row["op"], row["plane"]) for row in rows},
                         {(op, plane) for op in ("echo", "put", "get", "apply")
                          for plane in ("tcp", "unix", "memfd")})
        for row in rows:
            self.assertEqual(row["wrong"], 0, row)
            self.assertGreater(row["ratio"]["grpc_stream"], 0)
            self.assertGreater(row["peak_rss_bytes"], 0)
            self.assertIsNotNone(row["roundtrip_s"])

    def test_routes_functions_and_several_in_flight(self):
        for flags in (["--op", "echo", "--route", "front,worker,device"],
                      ["--op", "apply", "--function", "sum", "--dtype", "int32"],
                      ["--op", "apply", "--function", "sort", "--dtype", "float64"],
                      ["--op", "echo,put", "--in-flight", "3", "--concurrency", "2"]):
            document = results("sweep", *flags, "-b", "4000", "-e", "300000", "-f", "75",
                               "--ceilings", "memcpy", "--repeat", "1", "--calls", "3")
            self.assertEqual({row["wrong"] for row in document["rows"]}, {0})

    def test_floods_of_tasks(self):
        rows = results("tasks", "--count", "100,5000", "--batched", "--alone", "--repeat", "1",
                       "--no-ceilings")["rows"]
        self.assertEqual({row["mode"] for row in rows}, {"one_by_one", "batched", "alone"})
        self.assertEqual({row["wrong"] for row in rows}, {0})

    def test_an_address_where_nobody_listens(self):
        done = run("sweep", "--address", "127.0.0.1:1", "-b", "8", "-e", "8", expect=1)
        self.assertIn("UNAVAILABLE", done.stderr)


class TasksTest(unittest.TestCase):
    def test_bare_floods(self):
        rows = results("tasks", "--ceilings-only", "--count", "50,200", "--alone",
                       "--repeat", "1")["rows"]
        self.assertEqual({row["subject"] for row in rows}, {"grpc_unary", "grpc_messages"})
        self.assertEqual({row["wrong"] for row in rows}, {0})
        for row in rows:
            self.assertLessEqual(row["sent_s"], row["roundtrip_s"])

    def test_ratios_are_of_the_same_mode_and_run(self):
        rows = results("tasks", "--ceilings-only", "--count", "300", "--repeat", "3")["rows"]
        unary, messages = (row["ratio"] for row in rows)
        self.assertAlmostEqual(unary["grpc_messages"] * messages["grpc_unary"], 1, delta=0.01)

    def test_flags_that_leave_nothing_to_measure_are_refused(self):
        done = run("tasks", "--ceilings-only", "--no-one-by-one", "--batched", expect=2)
        self.assertIn("nothing to measure", done.stderr)


class CollectivesTest(unittest.TestCase):
    def test_table_and_experiment_beside_mpi4py(self):
        rows = results("collectives", "-b", "64", "-e", "4KiB", "-f", "64", "--ranks", "2",
                       "--iterations", "2", "--experiment-counts", "1000",
                       "--experiment-ranks", "2", "--experiment-iterations", "5",
                       "--experiment-repeat", "1")["rows"]
        self.assertEqual({row["wrong"] for row in rows}, {0})
        self.assertEqual(len({row["op"] for row in rows}), 10)
        experiment = [row for row in rows if "iterations" in row]
        self.assertEqual({row["subject"] for row in experiment},
                         {"shoal_local", "shoal_view", "mpi4py"})
        self.assertEqual({row["dot"] for row in experiment}, {True, False})

    def test_without_mpi4py_the_rest_still_runs(self):
        rows = results("collectives", "--no-table", "--python", "/nonexistent/python",
                       "--experiment-counts", "10", "--experiment-ranks", "2",
                       "--experiment-repeat", "1")["rows"]
        self.assertEqual({row["subject"] for row in rows}, {"shoal_local", "shoal_view"})


class ReportTest(unittest.TestCase):
    def test_a_page_of_a_real_run(self):
        with tempfile.TemporaryDirectory() as folder:
            data, page = pathlib.Path(folder, "x.json"), pathlib.Path(folder, "x.html")
            run("sweep", "--ceilings-only", "-b", "8", "-e", "512", "--repeat", "1",
                "--json", data)
            jsonschema.validate(json.loads(data.read_text()), SCHEMA)
            self.assertEqual(run("report", data, "-o", page).stdout.strip(), str(page))
            self.assertIn("</html>", page.read_text())

    def test_bad_input_is_named(self):
        self.assertIn("nowhere.json", run("report", "nowhere.json", expect=1).stderr)
        run("report", expect=2)


class HelpTest(unittest.TestCase):
    def test_every_command_explains_itself(self):
        for command in ("sweep", "tasks", "collectives", "kernels", "report"):
            text = run(command, "--help").stdout
            self.assertIn("Examples:", text)
            self.assertIn(command, run("--help").stdout)
        run("nonsense", expect=2)


class SchemaTest(unittest.TestCase):
    def test_refuses_a_row_that_lacks_a_figure(self):
        document = results("sweep", "--ceilings-only", "-b", "8", "-e", "8", "--repeat", "1",
                           "--ceilings", "memcpy")
        for key in list(document["rows"][0]):
            broken = json.loads(json.dumps(document))
            del broken["rows"][0][key]
            with self.assertRaises(jsonschema.ValidationError, msg=key):
                jsonschema.validate(broken, SCHEMA)


if __name__ == "__main__":
    BENCH = pathlib.Path(sys.argv[1])
    SCHEMA = json.loads(pathlib.Path(sys.argv[2]).read_text())
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    unittest.main(argv=sys.argv[:1])
