"""What is installed runs from any folder: nothing inside it names the build or the source tree.

usage: package_test.py --build DIR --source DIR --config BUILD_TYPE
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

parser = argparse.ArgumentParser()
for option in ("--build", "--source", "--config"):
    parser.add_argument(option, required=True)
arguments, rest = parser.parse_known_args()


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60, **options).stdout


class PackageTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(dir=arguments.build)
        cls.addClassCleanup(cls.folder.cleanup)
        first = pathlib.Path(cls.folder.name, "first")
        output_of("cmake", "--install", arguments.build, "--prefix", str(first))
        # Moved after it was installed: a path that was written into a file is wrong now.
        cls.prefix = first.rename(first.with_name("somewhere else"))
        cls.programs = sorted((cls.prefix / "bin").glob("*"))

    def test_documents_and_contract_are_in_it(self):
        self.assertTrue((self.prefix / "share/doc/shoal/README.md").is_file())
        self.assertTrue(list((self.prefix / "share/shoal/proto/shoal/v1").glob("*.proto")))

    def test_every_program_tells_its_version_from_a_foreign_folder(self):
        for program in self.programs:
            with self.subTest(program.name):
                self.assertTrue(output_of(str(program), "--version", cwd="/").strip())

    def test_no_program_looks_for_libraries_in_a_build_folder(self):
        for program in self.programs:
            with self.subTest(program.name):
                dynamic = output_of("readelf", "-d", str(program))
                self.assertNotIn(arguments.build, dynamic)
                self.assertNotIn("not found", output_of("ldd", str(program)))

    def test_no_program_names_the_source_tree(self):
        if arguments.config != "Release":
            self.skipTest("debug information names it by design")
        for program in self.programs:
            with self.subTest(program.name):
                self.assertNotIn(arguments.source.encode() + b"/", program.read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + rest)
