"""Every check finds what it is there to find: each case plants a fault in a tree of its own."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "#pragma once\n"


class Tree:
    """A small tree of files, removed at the end of the test."""

    def __init__(self, test, files):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/layers.toml", self.root / "scripts/layers.toml")
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def check(self, name):
        """(exit status, output) of that check over this tree."""
        script = ROOT / f"scripts/check_{name}.py"
        result = subprocess.run([sys.executable, script, "--root", self.root], text=True,
                                capture_output=True, stdin=subprocess.DEVNULL)
        return result.returncode, result.stdout + result.stderr


class CheckCase(unittest.TestCase):

    def assert_finds(self, check, files, *expected):
        status, output = Tree(self, files).check(check)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)
        self.assertIn(f"{len(expected)} problem(s)", output)

    def assert_content(self, check, files):
        status, output = Tree(self, files).check(check)
        self.assertEqual(status, 0, output)


class LayersTest(CheckCase):

    def test_what_the_table_allows_passes(self):
        self.assert_content("layers", {
            "base/ids.h": HEADER + "#include <vector>\n#include \"absl/hash/hash.h\"\n",
            "server/plan/shape.h": HEADER + "#include \"base/ids.h\"\n",
            "server/worker/events.h": HEADER + "#include \"server/plan/shape.h\"\n",
            "server/wire/decode.cc": "#include \"server/worker/events.h\"\n"
                                     "#include \"shoal/v1/array.pb.h\"\n",
            "client/include/shoal/array.h": HEADER + "#include \"absl/types/span.h\"\n",
            "client/src/array.cc": "#include \"shoal/array.h\"\n",
            "transport/grpc/channel.h": HEADER,
            "transport/grpc/channel.cc": "#include <grpcpp/grpcpp.h>\n",
            "client/src/transports.cc": "#include \"transport/grpc/channel.h\"\n",
            "server/device/device.h": HEADER,
            "server/device/cpu/cpu_device.cc": "#include \"server/device/device.h\"\n",
            "tests/server/plan/shape_test.cc": "#include \"server/plan/shape.h\"\n"
                                               "#include <gtest/gtest.h>\n",
        })

    def test_layers_that_may_not_be_included_are_found(self):
        files = {
            "base/ids.h": HEADER,
            "server/app/flags.h": HEADER,
            "server/device/device.h": HEADER + "#include \"server/device/cpu/pool.h\"\n",
            "server/device/cpu/pool.h": HEADER,
            "server/scheduler/state.h": HEADER,
            "server/wire/decode.cc": "#include \"server/scheduler/state.h\"\n",
            "server/runtime/loop.cc": "#include \"server/app/flags.h\"\n",
            "base/a.cc": "\n#include \"server/scheduler/state.h\"\n",
            "bench/b.cc": "#include \"server/app/flags.h\"\n",
            "client/include/shoal/c.h": HEADER + "#include \"base/ids.h\"\n",
            "client/src/d.cc": "#include \"transport/grpc/stream.h\"\n",
            "transport/grpc/stream.h": HEADER + "#include \"client/src/e.h\"\n",
            "client/src/e.h": HEADER,
        }
        self.assert_finds(
            "layers", files,
            "server/device/device.h:2: server/device may not include server/device/cpu",
            "server/wire/decode.cc:1: server/wire may not include server/scheduler",
            "server/runtime/loop.cc:1: server/runtime may not include server/app",
            "base/a.cc:2: base may not include server/scheduler",
            "bench/b.cc:1: bench may not include server/app",
            "client/include/shoal/c.h:2: client/include/shoal may not include base",
            "client/src/d.cc:1: client/src may not include transport/grpc",
            "transport/grpc/stream.h:2: transport/grpc may not include ")

    def test_libraries_that_may_not_be_used_are_found(self):
        files = {
            "base/a.cc": "#include <httplib.h>\n",
            "client/include/shoal/b.h": HEADER + "#include \"absl/container/btree_map.h\"\n",
            "server/runtime/c.cc": "#include <grpcpp/grpcpp.h>\n",
            "server/worker/d.cc": "#include \"shoal/v1/array.pb.h\"\n",
            "client/include/shoal/e.h": HEADER + "#include <grpcpp/grpcpp.h>\n",
            "client/src/f.cc": "#include <grpcpp/grpcpp.h>\n",
            "transport/g.h": HEADER + "#include <grpcpp/grpcpp.h>\n",
        }
        self.assert_finds(
            "layers", files,
            "base/a.cc:1: base may not include http",
            "client/include/shoal/b.h:2: client/include/shoal may not include absl (",
            "server/runtime/c.cc:1: server/runtime may not include grpc",
            "server/worker/d.cc:1: server/worker may not include generated",
            "client/include/shoal/e.h:2: client/include/shoal may not include grpc",
            "client/src/f.cc:1: client/src may not include grpc",
            "transport/g.h:2: transport may not include grpc")

    def test_files_and_includes_that_nobody_knows_are_found(self):
        self.assert_finds(
            "layers", {"stray/a.cc": "", "server/b.h": HEADER,
                       "base/c.cc": "#include \"d.h\"\n", "base/d.h": HEADER,
                       "base/e.cc": "#include <boost/asio.hpp>\n"},
            "stray/a.cc:1: belongs to no layer",
            "server/b.h:1: belongs to no layer",
            "base/c.cc:1: \"d.h\" is no file from the repository root",
            "base/e.cc:1: \"boost/asio.hpp\" is no file")

    def test_pure_folders_keep_their_bars_and_name_the_replacement(self):
        self.assert_finds(
            "layers", {
                "server/worker/a.cc": "#include <mutex>\n",
                "server/plan/b.cc": "auto t = std::chrono::steady_clock::now();\n",
                "server/scheduler/c.cc": "// std::unordered_map would be wrong\n"
                                         "const char* kText = \"unordered_\";\n"
                                         "std::unordered_map<int, int> m;\n",
                "server/runtime/d.cc": "#include <mutex>\nstd::mutex m;\n",
            },
            "server/worker/a.cc:1: server/worker is pure: no <mutex>; a core is called by one",
            "server/plan/b.cc:1: server/plan is pure: no `::now(`; time arrives with the event",
            "server/scheduler/c.cc:3: server/scheduler is pure: no `unordered_`; its walk order")


class SizeTest(CheckCase):

    def test_limits_are_sharp(self):
        fitting = {"base/a.h": "\n" * 300, "base/a.cc": "\n" * 500, "tests/a_test.cc": "\n" * 500}
        self.assert_content("size", fitting)
        self.assert_finds("size", {name: text + "\n" for name, text in fitting.items()},
                          "base/a.h:301: 301 lines, 300 are allowed",
                          "base/a.cc:501: 501 lines, 500 are allowed",
                          "tests/a_test.cc:501: 501 lines, 500 are allowed")


class StyleTest(CheckCase):

    def test_each_rule_finds_its_line(self):
        home = "/" + "home/somebody"
        self.assert_finds(
            "style", {
                "docs/a.md": f"see {home}/shoal\n",
                "base/b.cc": "int x;  // TO" + "DO: later\n",
                "tests/c_test.cc": "std::this_thread::sleep" + "_for(1s);\n",
                "base/d.cc": "x" * 101 + "\n",
                "base/e.h": "int y;\n",
                "base/f.cc": "throw std::runtime_error(\"no\");\n",
                "base/g.cc": "int z;  // NOLI" + "NT\n",
                "base/h.cc": "no end",
                "tests/i_test.py": "time.sl" + "eep(1)\n",
                "scripts/j": f"#!/bin/bash\ncd {home}/\n",
            },
            "docs/a.md:1: names a path", "base/b.cc:1: unfinished work",
            "tests/c_test.cc:1: a test never sleeps", "base/d.cc:1: 101 columns",
            "base/e.h:1: a header begins with", "base/f.cc:1: nothing is thrown",
            "base/g.cc:1: switches off more than", "base/h.cc:1: the last line",
            "tests/i_test.py:1: a test never sleeps", "scripts/j:2: names a path")

    def test_what_is_allowed_passes(self):
        self.assert_content("style", {
            "docs/a.md": "x" * 200 + "\n",  # Prose is wrapped by whoever shows it.
            "server/runtime/b.cc": "std::this_thread::sleep" + "_for(1s);\n",
            "base/c.cc": "int z;  // NOLI" + "NT(some-check): the reason\n",
            "tests/fuzz/corpus/d/no_end": "no end",
        })


class FormatTest(CheckCase):

    def test_a_file_that_clang_format_would_change_is_found(self):
        style = (ROOT / ".clang-format").read_text()
        self.assert_content("format", {".clang-format": style, "base/a.cc": "int x = 1;\n"})
        self.assert_finds("format", {".clang-format": style, "base/a.cc": "int  x=1 ;\n"},
                          "base/a.cc:1:")


class MirrorTest(CheckCase):

    def test_a_source_has_a_test_or_a_reason(self):
        self.assert_content("mirror", {
            "base/a.cc": "", "tests/base/a_test.cc": "", "server/app/main.cc": "",
            "bench/not_mirrored.cc": "",
            "scripts/untested.txt": "# why\nentries 1\nserver/app/main.cc: integration tests\n"})
        self.assert_finds("mirror", {"base/a.cc": "", "scripts/untested.txt": "entries 0\n"},
                          "base/a.cc:1: has no test tests/base/a_test.cc")
        self.assert_finds("mirror", {
            "base/a.cc": "",
            "scripts/untested.txt": "entries 1\nbase/a.cc: tests/base/b_test.cc\n"},
                          "scripts/untested.txt:2: tests/base/b_test.cc is gone")

    def test_the_list_only_shrinks(self):
        self.assert_finds(
            "mirror", {
                "base/a.cc": "", "tests/base/a_test.cc": "", "base/c.cc": "",
                "scripts/untested.txt": "entries 4\nbase/a.cc: was hard\nbase/b.cc: gone\n"
                                        "base/c.cc:\n"},
            "base/a.cc has its test: take the line out", "base/b.cc is gone: take the line out",
            "scripts/untested.txt:4: wants `path: reason`", "says `entries 4`, has 3")


class CountTest(unittest.TestCase):

    def count(self, *cases):
        tree = Tree(self, {"a.xml": f"<testsuite>{''.join(cases)}</testsuite>"})
        result = subprocess.run([ROOT / "scripts/count_tests.py", tree.root / "a.xml"],
                                capture_output=True, text=True)
        return result.returncode, result.stdout

    def test_only_what_ran_and_held_has_passed(self):
        good = '<testcase name="a" status="run"/>'
        self.assertEqual(self.count(good), (0, "1 passed, 0 failed\n"))
        self.assertEqual(
            self.count(good, '<testcase name="b" status="fail"><failure message=""/></testcase>'),
            (1, "failed: b\n1 passed, 1 failed\n"))
        self.assertEqual(
            self.count(good, '<testcase name="c" status="notrun">'
                       '<skipped message="SKIP_RETURN_CODE=77"/></testcase>'),
            (0, "skipped: c\n1 passed, 0 failed\n"))
        self.assertEqual(
            self.count(good, '<testcase name="d" status="notrun">'
                       '<skipped message="Unable to find executable"/></testcase>'),
            (1, "failed: d\n1 passed, 1 failed\n"))

    def test_nothing_is_not_success(self):
        self.assertEqual(self.count(), (1, "no test was found\n0 passed, 1 failed\n"))
        result = subprocess.run([ROOT / "scripts/count_tests.py", "absent.xml"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("0 passed, 1 failed", result.stdout)


class SnippetsTest(unittest.TestCase):

    def extract(self, files):
        tree = Tree(self, files)
        output = tree.root / "snippets.cc"
        subprocess.run([ROOT / "scripts/extract_snippets.py", "--root", tree.root,
                        "--include-root", "client/include", "--output", output, *files],
                       check=True)
        return output.read_text()

    def test_statements_become_a_function_and_includes_move_up(self):
        text = self.extract({"README.md": "# x\n```cpp\n#include <vector>\nint x = 1;\n```\n"
                                          "```c++\nnot taken\n```\n```\nneither\n```\n"})
        self.assertIn("// 1 snippets", text)
        self.assertLess(text.index("#include <vector>"), text.index("namespace snippet_0 {"))
        self.assertIn('absl::Status Run() {\n#line 3 "README.md"\n\nint x = 1;\n'
                      "return absl::OkStatus(); } }", text)
        self.assertNotIn("taken", text)
        self.assertNotIn("neither", text)

    def test_definitions_stay_as_they_are(self):
        text = self.extract({"docs/a.md": "```cpp\nint main() {\n  return 0;\n}\n```\n"})
        self.assertIn('namespace snippet_0 {\n#line 2 "docs/a.md"\nint main() {', text)

    def test_examples_in_headers_lose_their_slashes_and_include_their_header(self):
        text = self.extract({"client/include/shoal/a.h": HEADER + "/// Does.\n/// ```cpp\n"
                             "/// if (x) {\n///   F();\n/// }\n/// ```\nint F();\n"})
        self.assertIn('#include "shoal/a.h"', text)
        self.assertIn("Run() {\n#line 4 \"client/include/shoal/a.h\"\nif (x) {\n  F();\n}\n", text)


class ContractTest(CheckCase):
    PROTO = """syntax = "proto3";
package shoal.v1;
message EchoRequest { int64 size = 1; }
message EchoResponse {}
service EchoService { rpc Echo(EchoRequest) returns (EchoResponse); }
"""
    GOLDEN = """field shoal.v1.EchoRequest 1 int64 size
rpc shoal.v1.EchoService/Echo (shoal.v1.EchoRequest) (shoal.v1.EchoResponse)
"""

    def check(self, proto, golden=GOLDEN):
        return Tree(self, {"proto/shoal/v1/echo.proto": proto,
                           "proto/contract.golden": golden}).check("contract")

    def test_the_contract_as_it_was_passes(self):
        self.assertEqual(self.check(self.PROTO), (0, ""))

    def test_what_breaks_clients_is_refused(self):
        for before, after in (("int64 size = 1", "int64 size = 2"),
                              ("int64 size = 1", "int32 size = 1"),
                              ("int64 size = 1", "int64 length = 1"),
                              ("int64 size = 1", "repeated int64 size = 1"),
                              ("int64 size = 1;", ""),
                              ("rpc Echo(", "rpc Repeat("),
                              ("returns (Echo", "returns (stream Echo")):
            status, output = self.check(self.PROTO.replace(before, after))
            self.assertEqual(status, 1, after)
            self.assertIn("clients rely on this", output)

    def test_an_addition_has_to_be_listed(self):
        status, output = self.check(self.PROTO.replace("size = 1;", "size = 1; bool fast = 2;"))
        self.assertEqual(status, 1)
        self.assertIn("new, to be added with --update: field shoal.v1.EchoRequest 2 bool fast",
                      output)


if __name__ == "__main__":
    unittest.main()
