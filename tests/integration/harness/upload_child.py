"""A process of its own that uploads half of an array and then waits to be killed.

usage: upload_child.py TARGET NAME MIB
"""

import sys
import threading

from shoal.v1 import array_pb2, array_service_pb2
from harness.client import Client, store

MIB = 1 << 20


def main(target, name, size):
    client = Client(target)

    def messages():
        spec = array_pb2.ArraySpec(dtype=array_pb2.DTYPE_UINT8, shape=[size * MIB])
        yield array_service_pb2.PutRequest(
            header=array_service_pb2.PutHeader(spec=spec, store=store(name)))
        for i in range(size // 2):
            yield array_service_pb2.PutRequest(
                chunk=array_pb2.Chunk(offset=i * MIB, data=bytes([i % 251]) * MIB))
        threading.Event().wait()

    for response in client.arrays.Put(messages()):
        print(response.array_id, response.acknowledged_bytes, flush=True)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
