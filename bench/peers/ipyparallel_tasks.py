"""Floods of empty tasks through ipyparallel, for `shoal-bench tasks --peers ipyparallel`.

A controller and one engine a worker, all on loopback, as `ipyparallel.Cluster` starts them; tasks
go through a load-balanced view of a client in this process.
"""

import logging
import operator
import os

import peer


# So many tasks may wait at an engine. By default it gets the next one only when it has ended one,
# which is slower.
CONTROLLER = ["--TaskScheduler.hwm=16"]


class IpyparallelPeer:
    NAME = "ipyparallel"

    def __init__(self, workers):
        # Imported here: the environment says where its files go.
        import ipyparallel

        IpyparallelPeer.VERSION = f"ipyparallel {ipyparallel.__version__}"
        self.cluster = ipyparallel.Cluster(
            n=workers, controller_ip="127.0.0.1", profile_dir=os.path.join(os.getcwd(), "profile"),
            controller_args=CONTROLLER, log_level=logging.ERROR)
        self.client = self.cluster.start_and_connect_sync(n=workers, activate=False)
        self.view = self.client.load_balanced_view()

    # operator.index returns its argument: a task of C, named in few bytes.
    def apply(self, count, sent):
        pending = [self.view.apply_async(operator.index, i) for i in range(count)]
        sent()
        self.view.wait(pending)
        return [result.get() for result in pending]

    def map(self, count, sent):
        pending = self.view.map_async(operator.index, range(count), chunksize=1)
        sent()
        return pending.get()

    WAYS = {"one_by_one": apply, "batched": map}

    def settle(self):
        self.client.purge_local_results("all")

    def close(self):
        self.client.close()
        self.cluster.stop_cluster_sync()


if __name__ == "__main__":
    peer.run(IpyparallelPeer)
