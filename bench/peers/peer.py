"""What the peers of `shoal-bench tasks` share: the conversation, the clock, the processes.

A peer is a class with

  NAME, VERSION       what is measured
  __init__(workers)   starts a cluster of so many worker processes and connects to it
  WAYS                {"one_by_one": method, "batched": method}: each submits tasks 0 to count - 1,
                      calls sent() when the last submit has returned, and returns the results
  settle()            waits until nothing of the last flood is left to do
  close()             ends the cluster

Every task returns its own number. Before the first flood both ways are tried, and the faster one is
used from then on. Without --count the program prints `ready {...}` and then answers each line with
a number on its standard input by `flood {...}`, until that ends. With --count it makes --repeat
floods and prints one JSON object, their medians.
"""

import argparse
import ctypes
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import sys
import tempfile
import time

TRIES = 3
TRY_COUNT = 500
WARMUP_COUNT = 100
_PR_SET_CHILD_SUBREAPER = 36


def keep_to(folder):
    """Has everything that this process and its children write lie in `folder`."""
    for name in ("HOME", "TMPDIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
                 "JUPYTER_RUNTIME_DIR", "DASK_CONFIG", "DASK_TEMPORARY_DIRECTORY"):
        os.environ[name] = folder
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    tempfile.tempdir = folder
    os.chdir(folder)


def descendants():
    """The ids of all processes below this one."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name, in parentheses, may itself hold spaces and parentheses.
            parent = entry.joinpath("stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue  # It has just ended.
        children.setdefault(int(parent), []).append(int(entry.name))
    found, pending = [], [os.getpid()]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def end_descendants():
    """Ends every process below this one, also those that appear meanwhile."""
    give_up = time.monotonic() + 3
    while (pids := descendants()) and time.monotonic() < give_up:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return  # None is left: as a subreaper this process would have inherited it.
        time.sleep(0.01)


def end_on_signals(folder):
    """Has SIGTERM, and its own clock, end this process with its children and its files."""

    def end(number, _frame):
        if number == signal.SIGALRM:
            print(f"{sys.argv[0]}: ended, it took too long", file=sys.stderr, flush=True)
        end_descendants()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGALRM, end)


def cpu_seconds(pids):
    """Processor time of these processes so far: of each the kernel's CPU clock."""
    total = 0.0
    for pid in pids:
        try:
            total += time.clock_gettime((~pid << 3) | 2)  # As clock_getcpuclockid has it.
        except OSError:
            pass
    return total


def reset_peaks(pids):
    for pid in pids:
        try:
            pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
        except OSError:
            pass


def peak_bytes(pids):
    total = 0
    for pid in pids:
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in status.splitlines()
                     if line.startswith("VmHWM:"))
    return total


def count_wrong(results, count):
    """Tasks whose result is not their number, those without one, and results of no task."""
    wrong = sum(1 for index, result in enumerate(results[:count]) if result != index)
    return wrong + abs(len(results) - count)


class Runner:
    """Floods of one peer, each bounded by `timeout` seconds."""

    def __init__(self, peer_class, options):
        self.timeout = options.timeout
        signal.alarm(self.timeout)
        self.peer = peer_class(options.workers)
        self.tried = {}
        self.way = options.way or self.faster_way(min(options.expect, TRY_COUNT))
        signal.alarm(0)
        self.about = {"name": peer_class.NAME, "version": peer_class.VERSION,
                      "python": platform.python_version(), "workers": options.workers,
                      "way": self.way, "tried": self.tried}

    def faster_way(self, count):
        seconds = {way: [] for way in self.peer.WAYS}
        for way in seconds:
            self.flood(way, WARMUP_COUNT)
        for _ in range(TRIES):
            for way, times in seconds.items():
                times.append(self.flood(way, count)["roundtrip_s"])
        self.tried = {way: count / statistics.median(times) for way, times in seconds.items()}
        return max(self.tried, key=self.tried.get)

    def flood(self, way, count):
        servers = descendants()
        reset_peaks(servers)
        client_before, server_before = time.process_time(), cpu_seconds(servers)
        times = []
        begin = time.perf_counter()
        results = self.peer.WAYS[way](self.peer, count, lambda: times.append(time.perf_counter()))
        end = time.perf_counter()
        row = {"count": count, "sent_s": times[0] - begin, "roundtrip_s": end - begin,
               "cpu_client_s": time.process_time() - client_before,
               "cpu_server_s": cpu_seconds(servers) - server_before,
               "peak_rss_bytes": peak_bytes(servers), "wrong": count_wrong(results, count)}
        del results
        self.peer.settle()
        return row

    def bounded_flood(self, count):
        signal.alarm(self.timeout)
        row = self.flood(self.way, count)
        signal.alarm(0)
        return row

    def close(self):
        signal.alarm(self.timeout)
        self.peer.close()
        signal.alarm(0)


def serve(runner):
    print("ready", json.dumps(runner.about), flush=True)
    for line in sys.stdin:
        print("flood", json.dumps(runner.bounded_flood(int(line))), flush=True)


def measure(runner, options):
    rows = [runner.bounded_flood(options.count) for _ in range(options.repeat)]
    result = dict(runner.about)
    for key in rows[0]:
        result[key] = (sum if key == "wrong" else statistics.median)(row[key] for row in rows)
    print(json.dumps(result), flush=True)


def parse(peer_class):
    parser = argparse.ArgumentParser(description=f"Floods of empty tasks through {peer_class.NAME}")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tasks")
    parser.add_argument("--count", type=int, help="tasks of a flood; default: as asked on stdin")
    parser.add_argument("--repeat", type=int, default=3, help="floods, with --count")
    parser.add_argument("--way", choices=sorted(peer_class.WAYS), help="default: the faster one")
    parser.add_argument("--expect", type=int, help="about how many tasks a flood will have")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a flood, or to start")
    parser.add_argument("--temporary", help="where files go; default: a folder that is removed")
    options = parser.parse_args()
    options.expect = options.count or options.expect or TRY_COUNT
    return options


def run(peer_class):
    options = parse(peer_class)
    # What a child leaves behind stays below this process, where it is found.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(dir=options.temporary) as folder:
        end_on_signals(folder)
        keep_to(folder)
        try:
            runner = Runner(peer_class, options)
            if options.count:
                measure(runner, options)
            else:
                serve(runner)
            runner.close()
        finally:
            end_descendants()
            os.chdir("/")
