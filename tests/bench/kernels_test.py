"""Runs `shoal-bench kernels` on tiny arrays: with NumPy as a peer, without, and with wrong ones."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

BENCH = pathlib.Path()
SCHEMA = {}
SCRIPTS = pathlib.Path()
PYTHON = "/usr/bin/python3"
TINY = ["--elements", "1,1000", "--threads", "1,2", "--repeat", "2"]


def kernels(*arguments, expect=0):
    done = subprocess.run([BENCH, "kernels", "--json", "-", *arguments], capture_output=True,
                          text=True, timeout=280)
    if done.returncode != expect:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stderr}")
    return done


def rows_of(done):
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    return document["rows"]


def own(rows):
    return [row for row in rows if row["subject"] == "shoal"]


class NumPyTest(unittest.TestCase):
    def test_every_case_agrees_with_numpy(self):
        rows = rows_of(kernels(*TINY, "--peer-python", PYTHON, "--peers", "numpy,numpy_out"))
        self.assertEqual([row for row in rows if row["wrong"] != 0], [])
        for row in own(rows):
            if row["built"]:
                self.assertGreater(row["call_us"], 0)
                if row["case"] != "erf":  # NumPy has none.
                    self.assertGreater(row["ratio"]["numpy"], 0, row)
                self.assertIsNotNone(row["ulps"])
        # What one operation makes has the same bits.
        for row in rows:
            if row["subject"] == "numpy" and row["case"] in ("add", "hypot", "axpy", "sort"):
                self.assertEqual(row["ulps_from_shoal"], 0, row)
        self.assertGreaterEqual(len({row["case"] for row in rows}), 24)

    def test_ratios_are_of_the_same_run(self):
        rows = rows_of(kernels("--cases", "add", "--dtypes", "float64", "--elements", "5000",
                               "--threads", "1", "--repeat", "3", "--peer-python", PYTHON,
                               "--peers", "numpy"))
        speed = {row["subject"]: row for row in rows}
        self.assertEqual(set(speed), {"shoal", "stream", "stream_nt", "numpy"})
        product = speed["shoal"]["ratio"]["numpy"] * speed["numpy"]["ratio"]["shoal"]
        self.assertAlmostEqual(product, 1, delta=0.01)
        self.assertIsNone(speed["stream"]["of_limit"])


class WithoutPeersTest(unittest.TestCase):
    def test_absent_ones_are_named_and_the_rest_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = pathlib.Path(folder, "python")
            bare.write_text("#!/bin/sh\nexit 1\n")
            bare.chmod(0o755)
            for python in (bare, "/nonexistent/python"):
                done = kernels("--cases", "axpy", *TINY, "--peer-python", python)
                self.assertIn("# peers are left out: ", done.stderr)
                self.assertEqual({row["subject"] for row in rows_of(done)},
                                 {"shoal", "stream", "stream_nt"})
        done = kernels("--cases", "axpy", *TINY, "--peer-python=")
        self.assertNotIn("peers", done.stderr.partition("\n# ")[0])

    def test_programs_that_the_language_lacks_are_rows_without_figures(self):
        rows = rows_of(kernels("--cases", "erf", *TINY, "--peer-python="))
        for row in own(rows):
            self.assertEqual(row["built"], row["call_us"] is not None)

    def test_flags_that_make_no_sense_are_refused(self):
        for flags in (["--cases", "fly"], ["--elements", "0"], ["--elements", "8:4"],
                      ["--threads", "x"], ["--repeat", "0"], ["--peers", "matlab"],
                      ["--cases", "remainder", "--dtypes", "float32"], ["extra"]):
            done = kernels(*flags, "--peer-python=", expect=2)
            self.assertIn("shoal-bench kernels:", done.stderr)


class WrongPeersTest(unittest.TestCase):
    """The peers' own script, changed in one place, behind a shell script that passes for Python."""

    def run_changed(self, change, *arguments, expect=1):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "changed.py")
            script.write_text(f"import sys\nsys.path.insert(0, {str(SCRIPTS)!r})\n"
                              f"import array_kernels\n{change}\narray_kernels.main()\n")
            python = pathlib.Path(folder, "python")
            python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit 0\nshift 2\n'
                              f'exec {PYTHON} -B {script} "$@"\n')
            python.chmod(0o755)
            return kernels("--cases", "add", "--dtypes", "float32", "--elements", "1000",
                           "--threads", "1", "--repeat", "1", "--peers", "numpy",
                           "--peer-python", python, *arguments, expect=expect)

    def test_the_change_alone_is_what_is_noticed(self):
        self.assertEqual({row["wrong"] for row in rows_of(self.run_changed("", expect=0))}, {0})

    def test_one_that_computes_something_else_ends_the_run_with_1(self):
        done = self.run_changed('array_kernels.CASES["add"] = ("x - y", None, None, None)')
        (row,) = [row for row in rows_of(done) if row["subject"] == "numpy"]
        self.assertGreater(row["wrong"], 900)
        self.assertIn("were wrong", done.stderr)

    def test_one_wrong_bit_is_enough(self):
        done = self.run_changed(
            'array_kernels.CASES["add"] = ("np.nextafter(x + y, x + y + (np.arange(x.size) == 7))",'
            ' None, None, None)')
        (row,) = [row for row in rows_of(done) if row["subject"] == "numpy"]
        self.assertEqual(row["wrong"], 1)
        self.assertEqual(row["ulps_from_shoal"], 1)

    def test_a_result_of_another_size_is_wrong(self):
        done = self.run_changed('array_kernels.CASES["add"] = ("(x + y)[1:]", None, None, None)')
        (row,) = [row for row in rows_of(done) if row["subject"] == "numpy"]
        self.assertEqual(row["wrong"], 1000)

    def test_one_that_answers_nonsense_or_not_at_all_is_named(self):
        for change, text in (
                ('array_kernels.Peer.run = lambda *_: {"seconds": -1}', "not an answer"),
                ('array_kernels.Peer.load = lambda *_: 1 / 0', "ZeroDivisionError"),
                ('array_kernels.Peer.prepare = lambda *_: sys.exit(3)', "UNAVAILABLE"),
                ('array_kernels.Peer.load = lambda *_: sys.stdin.read()', "DEADLINE_EXCEEDED")):
            done = self.run_changed(change, "--peer-timeout", "2")
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    BENCH = pathlib.Path(sys.argv[1])
    SCHEMA = json.loads(pathlib.Path(sys.argv[2]).read_text())
    SCRIPTS = pathlib.Path(sys.argv[3])
    unittest.main(argv=sys.argv[:1])
