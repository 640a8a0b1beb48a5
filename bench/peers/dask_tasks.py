"""Floods of empty tasks through Dask (`distributed`), for `shoal-bench tasks --peers dask`.

A scheduler and one process of one thread a worker, all on loopback, as `dask scheduler` and
`dask worker` start them; the client is this process.
"""

import operator
import os
import subprocess
import sys

import peer


# What makes Dask's floods faster. Without the first a worker gets its next task only when it has
# ended one (four times slower); the second is its profiler.
SETTINGS = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "inf",
            "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


class DaskPeer:
    NAME = "dask"

    def __init__(self, workers):
        # Imported here: the environment says where Dask's files go.
        import distributed

        DaskPeer.VERSION = f"distributed {distributed.__version__}"
        environment = dict(os.environ, **SETTINGS)
        file = os.path.join(os.getcwd(), "scheduler.json")

        def start(program, *arguments):
            command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", file,
                       "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0",
                       "--no-dashboard", *arguments]
            return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=log)

        with open("cluster.log", "wb") as log:
            self.processes = [start("dask_scheduler", "--port", "0")]
            for index in range(workers):
                self.processes.append(start("dask_worker", "--nthreads", "1", "--no-nanny",
                                            "--name", str(index), "--local-directory", os.getcwd()))
        self.client = distributed.Client(scheduler_file=file, set_as_default=False)
        self.client.wait_for_workers(workers)

    # operator.index returns its argument: a task of C, named in few bytes.
    def submit(self, count, sent):
        futures = [self.client.submit(operator.index, i, pure=False) for i in range(count)]
        sent()
        return self.client.gather(futures)

    def map(self, count, sent):
        futures = self.client.map(operator.index, range(count), pure=False)
        sent()
        return self.client.gather(futures)

    WAYS = {"one_by_one": submit, "batched": map}

    def settle(self):
        # The futures are gone: the scheduler forgets their tasks, and tells the workers.
        while self.client.run_on_scheduler(_task_count) > 0:
            pass

    def close(self):
        self.client.close()
        # Workers first: one that has lost its scheduler waits for it.
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def _task_count(dask_scheduler):
    return len(dask_scheduler.tasks)


if __name__ == "__main__":
    peer.run(DaskPeer)
