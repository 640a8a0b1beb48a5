"""A shoald process: started on free ports, watched, stopped, and looked at from outside."""

import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time

BIN = pathlib.Path(os.environ["SHOAL_TEST_BIN"])
SANITIZED = bool(os.environ.get("SHOAL_TEST_SANITIZE"))
# A sanitizer makes everything slower, and memory bounds meaningless.
PATIENCE = 8 if SANITIZED else 1
MIB = 1 << 20

_DEFAULTS = {"--host": "127.0.0.1", "--port": "0", "--http-port": "0", "--workers": "2",
             "--threads": "1", "--memory-limit": "1GiB",
             "--drain-timeout": f"{30 * PATIENCE}s"}
_FINDINGS = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|CHECK failed")


def eventually(condition, what, timeout=10):
    """Waits until condition() is true, and returns what it came to."""
    deadline = time.monotonic() + timeout * PATIENCE
    pause = threading.Event()
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout * PATIENCE} s")
        pause.wait(0.01)


def command_line(options):
    """The server's command: the options given, and the tests' defaults for all others."""
    given = {option.split("=")[0] for option in options}
    defaults = [f"{name}={value}" for name, value in _DEFAULTS.items() if name not in given]
    return [str(BIN / "shoald"), *defaults, *options]


def run(*options, env=None, timeout=30):
    """Runs shoald to its end, with exactly these options: such with which it does not serve."""
    return subprocess.run([str(BIN / "shoald"), *options], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})},
                          timeout=timeout * PATIENCE, check=False)


class Shoald:
    """Ready when the constructor returns. Stop it with `stop`, or leave a with-block.

    `prefix` is a command that runs the server: prlimit and its options.
    """

    def __init__(self, *options, env=None, ready_within=30, prefix=()):
        self._ended = False
        self.tmp = tempfile.mkdtemp(prefix="shoal-test-")
        self._log = open(os.path.join(self.tmp, "stderr"), "w+", errors="replace")
        # Should this test die, its server dies too.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *prefix, *command_line(options)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, text=True,
            env={**os.environ, "TMPDIR": self.tmp, **(env or {})})
        self.pid = self.process.pid
        self.banner = self._read_banner(ready_within * PATIENCE)
        self.address = self._from_banner("listening on ")
        self.port = int(self.address.rsplit(":", 1)[1])
        self.unix_socket = self._from_banner("unix socket ")
        self.http = self._from_banner("http on ")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and not self._ended:
            self.stop()
        else:
            self.kill()

    def _read_banner(self, timeout):
        lines, pending = [], ""
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while "shoald: ready" not in lines:
                if not selector.select(deadline - time.monotonic()):
                    self.kill()
                    raise AssertionError(f"not ready within {timeout} s: {lines} {self.log()}")
                piece = os.read(self.process.stdout.fileno(), 4096).decode()
                if not piece:
                    self.process.wait()
                    ended = f"shoald ended: {self.process.returncode} {self.log()}"
                    self._forget()
                    raise AssertionError(ended)
                pending += piece
                *whole, pending = pending.split("\n")
                lines += whole
        return lines

    def _from_banner(self, text):
        for line in self.banner:
            if line.startswith("shoald: " + text):
                return line.removeprefix("shoald: " + text)
        return None

    def log(self):
        """What it has written to stderr so far."""
        self._log.flush()
        return pathlib.Path(self._log.name).read_text(errors="replace")

    def _end_of_log(self):
        return "\n".join(self.log().splitlines()[-60:])

    def alive(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def ends(self, code=0, within=10):
        """Waits for its end, and checks that it was a clean one."""
        try:
            found = self.process.wait(within * PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {within * PATIENCE} s: "
                                 + self._end_of_log())
        self._ended = True
        if found != code or _FINDINGS.search(self.log()):
            raise AssertionError(f"exit code {found}, not {code}: {self._end_of_log()}")

    def stop(self):
        """SIGTERM. An unclean end, or a sanitizer's finding, fails the test."""
        try:
            if self.alive():
                self.signal(signal.SIGTERM)
            self.ends(within=30)
        finally:
            self.kill()

    def kill(self):
        if self.alive():
            self.process.kill()
            self.process.wait()
        self._forget()

    def _forget(self):
        self._ended = True
        self._log.close()
        self.process.stdout.close()
        shutil.rmtree(self.tmp, ignore_errors=True)

    def memory(self, field="VmRSS"):
        """Bytes, from /proc: VmRSS is now, VmHWM the peak since the last `reset_peak`."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.M).group(1)) * 1024

    def reset_peak(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def cpu_seconds(self):
        """Processor time that it has used."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))
