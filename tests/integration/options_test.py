"""Options: from the command line, from the environment, and what is wrong with them."""

import re
import socket
import unittest

from harness.client import Client
from harness.server import Shoald, run

# Every option: a value that is not its default, and how --show-config writes it.
OPTIONS = {
    "host": ("localhost", "localhost"), "port": ("1234", "1234"), "cluster-port": ("0", "0"),
    "http-port": ("-1", "-1"), "unix-socket": ("false", "false"), "socket-dir": ("/x", "/x"),
    "insecure": ("true", "true"), "backend": ("cpu", "cpu"), "workers": ("3", "3"),
    "threads": ("2", "2"), "memory-limit": ("1GiB", "1GiB"), "policy": ("least_load", "least_load"),
    "inline-limit": ("64KiB", "64KiB"), "chunk-size": ("2MiB", "2MiB"), "credits": ("4", "4"),
    "session-tasks": ("10", "10"), "queue-limit": ("11", "11"), "connection-limit": ("99", "99"),
    "resume-timeout": ("1s", "1s"),
    "drain-timeout": ("1m30s", "1m30s"), "log-level": ("debug", "debug"),
    "log-format": ("json", "json"),
}


def config_of(*options, env=None):
    """{name: (value, source)} as --show-config prints it."""
    result = run("--show-config", *options, env=env)
    assert result.returncode == 0, result.stderr
    lines = re.findall(r"^(\S+) = (.*?)\s*# (.*)$", result.stdout, re.M)
    return {name: (value, source) for name, value, source in lines}


class ConfigTest(unittest.TestCase):

    def test_the_table_above_is_whole(self):
        self.assertEqual(set(config_of()), set(OPTIONS))
        self.assertEqual({source for _, source in config_of().values()}, {"default"})

    def test_every_option_from_the_environment(self):
        env = {"SHOAL_" + name.upper().replace("-", "_"): value
               for name, (value, _) in OPTIONS.items()}
        config = config_of(env=env)
        for name, (_, shown) in OPTIONS.items():
            with self.subTest(name):
                value, source = config[name]
                self.assertEqual(value, shown)
                self.assertIn("SHOAL_" + name.upper().replace("-", "_"), source)

    def test_every_option_from_the_command_line_which_wins(self):
        env = {"SHOAL_" + name.upper().replace("-", "_"): value
               for name, (value, _) in OPTIONS.items()}
        options = [f"--{name}={value}" for name, (value, _) in OPTIONS.items()]
        for config in (config_of(*options), config_of(*options, env=env)):
            for name, (_, shown) in OPTIONS.items():
                self.assertEqual(config[name][0], shown)
                self.assertNotIn("SHOAL_", config[name][1])
                self.assertNotEqual(config[name][1], "default")

    def test_the_environment_reaches_the_server(self):
        env = {"SHOAL_CREDITS": "3", "SHOAL_CHUNK_SIZE": "64KiB", "SHOAL_INLINE_LIMIT": "1KiB"}
        with Shoald(env=env) as server, Client(server.address) as client:
            limits = client.info().limits
            self.assertEqual((limits.credit_chunks, limits.chunk_bytes, limits.inline_bytes),
                             (3, 64 << 10, 1 << 10))

    def test_help_and_version(self):
        help_text = run("--help")
        self.assertEqual(help_text.returncode, 0)
        for name in OPTIONS:
            self.assertIn(f"--{name}", help_text.stdout.replace("--[no-]", "--"))
        version = run("--version")
        self.assertRegex(version.stdout, r"^shoald \d+\.\d+\.\d+\n$")


class RefusalTest(unittest.TestCase):

    def test_wrong_options(self):
        cases = [
            (["--bogus"], "--bogus"), (["--prot=1"], "did you mean '--port'?"),
            (["--port=x"], "whole number"), (["--port=65536"], "65535"), (["--port=-1"], "0"),
            (["--workers=257"], "256"), (["--log-level=loud"], "debug"),
            (["--memory-limit=lots"], "lots"), (["--memory-limit=0%"], "0%"),
            (["--memory-limit=101%"], "101%"), (["--memory-limit=1MiB"], "64 MiB"),
            (["--chunk-size=1KiB"], "4"), (["--drain-timeout=-1s"], "drain-timeout"),
            (["--host=0.0.0.0"], "--insecure"), (["--host=::"], "--insecure"),
            (["--host=192.168.1.1"], "--insecure"), (["extra"], "extra")]
        for options, text in cases:
            with self.subTest(options):
                result = run("--port=0", "--http-port=0", *options)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(text, result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_wrong_environment(self):
        result = run(env={"SHOAL_WORKERS": "many"})
        self.assertEqual(result.returncode, 2)
        self.assertIn("SHOAL_WORKERS", result.stderr)

    def test_open_to_all_if_told_so(self):
        with Shoald("--host=0.0.0.0", "--insecure") as server, \
                Client(f"127.0.0.1:{server.port}") as client:
            self.assertEqual(client.echo(b"x"), b"x")

    def test_a_backend_that_is_not_there(self):
        result = run("--backend=cuda")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--backend cpu", result.stderr)


class PortTest(unittest.TestCase):

    def test_a_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            for options in (["--port", port, "--http-port=0"], ["--port=0", "--http-port", port]):
                with self.subTest(options):
                    result = run(*options)
                    self.assertEqual(result.returncode, 1)
                    last = result.stderr.splitlines()[-1]
                    self.assertRegex(last, r"^shoald: cannot listen .*" + port)

    def test_two_servers_do_not_share_a_port(self):
        with Shoald() as server:
            for options in (["--port", str(server.port), "--http-port=0"],
                            ["--port=0", "--http-port", server.http.rsplit(":", 1)[1]]):
                result = run(*options)
                self.assertEqual(result.returncode, 1)
            with Client(server.address) as client:
                self.assertEqual(client.echo(b"x"), b"x")

    def test_a_host_that_is_not_ours(self):
        result = run("--host=203.0.113.1", "--insecure", "--port=0", "--http-port=0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("203.0.113.1", result.stderr.splitlines()[-1])

    def test_a_socket_directory_that_cannot_be(self):
        for path, text in (("/proc/no/such", "/proc/no/such"), ("/tmp/" + "x" * 120, "too long")):
            result = run("--port=0", "--http-port=0", f"--socket-dir={path}")
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()
