"""The fuzz driver finds a planted fault, keeps the input that shows it, and replays it.

usage: fuzz_driver_test.py PLANTED_FAULT_PROGRAM CORPUS
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CORPUS = sys.argv.pop(1), sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)


class FuzzDriverTest(unittest.TestCase):

    def test_a_planted_fault_is_found_kept_and_replayed(self):
        with tempfile.TemporaryDirectory() as found:
            result = run(f"--corpus={CORPUS}", "--seconds=30", "--seed=1", f"--found={found}")
            self.assertNotEqual(result.returncode, 0)
            kept = pathlib.Path(found, "crash-1")
            self.assertIn(f"the input is in {kept}", result.stderr)
            self.assertEqual(kept.read_bytes()[:2], b"SH")
            self.assertGreater(len(kept.read_bytes()), 8)
            self.assertNotEqual(run(kept, f"--found={found}").returncode, 0, "replay")

    def test_seeds_alone_pass(self):
        result = run(f"--corpus={CORPUS}", "--seconds=0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 seeds, 0 damaged inputs", result.stdout)

    def test_no_seed_is_an_error(self):
        self.assertEqual(run("--seconds=0").returncode, 2)


if __name__ == "__main__":
    unittest.main()
