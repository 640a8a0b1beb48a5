"""Plane A spoken by hand: the lease socket, and memory that the server has mapped too."""

import mmap
import os
import socket
import struct

from shoal.v1 import array_pb2

MAGIC = 0x314C4853
ACQUIRE, RELEASE = 1, 2
REQUEST = struct.Struct("<IIQ")
REPLY = struct.Struct("<IIQQQQQ")


class Lease:

    def __init__(self, number, token, memory):
        self.id, self.token, self.memory = number, token, memory

    def place(self, offset=0, **other):
        fields = {"lease_id": self.id, "lease_token": self.token, **other}
        return array_pb2.LeaseRef(offset=offset, **fields)

    def argument(self, spec, offset=0, **other):
        return array_pb2.Argument(
            leased=array_pb2.LeasedArray(spec=spec, location=self.place(offset, **other)))

    def destination(self, offset=0, **other):
        return array_pb2.Destination(leased=self.place(offset, **other))


class LeaseSocket:

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
        self.socket.connect(path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, kind, value):
        """(code, id, token, bytes, needed, available), descriptor or None."""
        self.socket.sendall(REQUEST.pack(MAGIC, kind, value))
        data, descriptors = b"", []
        while len(data) < REPLY.size:
            piece, received, _, _ = socket.recv_fds(self.socket, REPLY.size - len(data), 4)
            if not piece:
                raise ConnectionError("the lease socket was closed")
            data += piece
            descriptors += received
        magic, *fields = REPLY.unpack(data)
        assert magic == MAGIC and len(descriptors) <= 1
        return tuple(fields), descriptors[0] if descriptors else None

    def acquire(self, size):
        (code, number, token, granted, _, _), descriptor = self.ask(ACQUIRE, size)
        assert code == 0 and granted >= size, code
        with os.fdopen(descriptor) as file:
            return Lease(number, token, mmap.mmap(file.fileno(), granted))

    def release(self, lease):
        (code, *_), descriptor = self.ask(RELEASE, lease.id)
        assert descriptor is None
        return code
