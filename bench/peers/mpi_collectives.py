"""The mpi4py experiment: scatter, gather and broadcast of float64 arrays, timed.

Started by `shoal-bench collectives` through mpirun. Rank 0 prints one JSON object a line for each
operation and size: the seconds that the slowest rank spent in all iterations, from barrier to
barrier, and how many received elements were wrong.
"""

import argparse
import json

import numpy
from mpi4py import MPI

WARMUP = 5


def sent(rank, count):
    """What a rank sends: whole numbers, different for each rank."""
    return (numpy.arange(count, dtype=numpy.float64) * 7 + rank * 13) % 1021


def make_call(comm, operation, count):
    """The operation on buffers made once: (call, what arrives here, what must arrive here)."""
    rank, size = comm.Get_rank(), comm.Get_size()
    root = rank == 0
    if operation == "scatter":
        whole = sent(0, count * size) if root else None
        part = numpy.full(count, -1.0)
        expected = sent(0, count * size)[rank * count : (rank + 1) * count]
        return lambda: comm.Scatter(whole, part, root=0), part, expected
    if operation == "gather":
        part = sent(rank, count)
        whole = numpy.full(count * size, -1.0) if root else None
        expected = numpy.concatenate([sent(r, count) for r in range(size)]) if root else part
        return lambda: comm.Gather(part, whole, root=0), whole if root else part, expected
    part = sent(0, count) if root else numpy.full(count, -1.0)
    return lambda: comm.Bcast(part, root=0), part, sent(0, count)


def measure(comm, operation, count, options):
    """Seconds of the slowest rank for all iterations, and the number of wrong elements."""
    call, arrived, expected = make_call(comm, operation, count)
    # Each rank's dot product is of its share of the data.
    own = arrived if operation != "gather" else sent(comm.Get_rank(), count)
    for _ in range(WARMUP):
        call()
    comm.Barrier()
    begin = MPI.Wtime()
    if options.dot:
        for _ in range(options.iterations):
            call()
            numpy.dot(own, own)
    else:
        for _ in range(options.iterations):
            call()
    comm.Barrier()
    seconds = comm.allreduce(MPI.Wtime() - begin, op=MPI.MAX)
    wrong = comm.allreduce(int(numpy.count_nonzero(arrived != expected)), op=MPI.SUM)
    return seconds, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="10000,50000,200000", help="elements a rank")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--dot", action="store_true", help="a dot product after each call")
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    for operation in ("scatter", "gather", "broadcast"):
        for count in [int(text) for text in options.counts.split(",")]:
            seconds, wrong = measure(comm, operation, count, options)
            if comm.Get_rank() == 0:
                row = {"op": operation, "count": count, "ranks": comm.Get_size()}
                row.update(dot=options.dot, seconds=seconds, wrong=wrong)
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
