"""A client of NumPy arrays made of nothing but generated stubs."""

import grpc
import numpy as np

import health_pb2_grpc
import reflection_pb2_grpc
from shoal.v1 import array_pb2, array_service_pb2, array_service_pb2_grpc, cluster_pb2
from shoal.v1 import cluster_pb2_grpc, compute_pb2, compute_pb2_grpc, details_pb2, task_pb2_grpc
from shoal.v1 import worker_pb2_grpc
from harness.server import PATIENCE

TIMEOUT = 30 * PATIENCE
CHUNK = 1 << 20

# bfloat16 has no NumPy type: its arrays are uint16 here, and say so by name.
DTYPES = {
    "bool": (array_pb2.DTYPE_BOOL, np.bool_), "int8": (array_pb2.DTYPE_INT8, np.int8),
    "int16": (array_pb2.DTYPE_INT16, np.int16), "int32": (array_pb2.DTYPE_INT32, np.int32),
    "int64": (array_pb2.DTYPE_INT64, np.int64), "uint8": (array_pb2.DTYPE_UINT8, np.uint8),
    "uint16": (array_pb2.DTYPE_UINT16, np.uint16), "uint32": (array_pb2.DTYPE_UINT32, np.uint32),
    "uint64": (array_pb2.DTYPE_UINT64, np.uint64), "float16": (array_pb2.DTYPE_FLOAT16, np.float16),
    "bfloat16": (array_pb2.DTYPE_BFLOAT16, np.uint16),
    "float32": (array_pb2.DTYPE_FLOAT32, np.float32),
    "float64": (array_pb2.DTYPE_FLOAT64, np.float64),
    "complex64": (array_pb2.DTYPE_COMPLEX64, np.complex64),
    "complex128": (array_pb2.DTYPE_COMPLEX128, np.complex128)}
NUMPY = {number: dtype for number, dtype in DTYPES.values()}


def spec_of(array, dtype=None):
    return array_pb2.ArraySpec(dtype=DTYPES[dtype or array.dtype.name][0], shape=array.shape)


def inline(array, dtype=None):
    return array_pb2.Argument(
        inline=array_pb2.InlineArray(spec=spec_of(array, dtype), data=array.tobytes()))


def stored(key):
    return array_pb2.Argument(ref=ref(key))


def ref(key):
    return array_pb2.ArrayRef(name=key) if isinstance(key, str) else array_pb2.ArrayRef(id=key)


def store(name="", kind="UNSPECIFIED", workers=(), replace=False):
    distribution = array_pb2.Distribution(kind="KIND_" + kind, workers=workers)
    return array_pb2.Store(name=name, distribution=distribution, replace=replace)


def to_numpy(spec, data):
    return np.frombuffer(data, NUMPY[spec.dtype]).reshape(tuple(spec.shape))


def chunks_of(data, size=CHUNK, array=0, begin=0):
    for offset in range(begin, len(data), size):
        yield array_pb2.Chunk(array=array, offset=offset, data=bytes(data[offset:offset + size]))


def put_requests(array, data, store_as, size=CHUNK):
    """The messages of an upload: a header, then chunks."""
    header = array_service_pb2.PutHeader(spec=array, store=store_as)
    yield array_service_pb2.PutRequest(header=header)
    for chunk in chunks_of(data, size):
        yield array_service_pb2.PutRequest(chunk=chunk)


def error_of(call):
    """The grpc.RpcError that call() ends with; there must be one."""
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call went well")


def details_of(error):
    """The google.rpc details of a failed call, by short name: {"ErrorInfo": message, ...}."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return unpack(details_pb2.RpcStatus.FromString(value).details)
    return {}


def unpack(details):
    known = {}
    for detail in details:
        name = detail.type_url.removeprefix("type.googleapis.com/google.rpc.")
        known[name] = getattr(details_pb2, name).FromString(detail.value)
    return known


class Client:
    """All services of one server. `target` as gRPC takes it: host:port, or unix:path."""

    def __init__(self, target):
        # Unique arguments: channels of one process would share a connection otherwise.
        self.channel = grpc.insecure_channel(target, options=[
            ("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
            ("grpc.use_local_subchannel_pool", 1)])
        self.arrays = array_service_pb2_grpc.ArrayServiceStub(self.channel)
        self.compute = compute_pb2_grpc.ComputeServiceStub(self.channel)
        self.cluster = cluster_pb2_grpc.ClusterServiceStub(self.channel)
        self.tasks = task_pb2_grpc.TaskServiceStub(self.channel)
        self.workers = worker_pb2_grpc.WorkerServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)
        self.reflection = reflection_pb2_grpc.ServerReflectionStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def info(self):
        return self.cluster.GetServerInfo(cluster_pb2.GetServerInfoRequest(), timeout=TIMEOUT)

    def list_workers(self):
        return self.cluster.ListWorkers(cluster_pb2.ListWorkersRequest(), timeout=TIMEOUT).workers

    def used_bytes(self):
        """Payload bytes that the workers hold."""
        return sum(worker.memory_used_bytes for worker in self.list_workers())

    def echo(self, payload, route="UNSPECIFIED"):
        request = compute_pb2.EchoRequest(route="ROUTE_" + route, payload=payload)
        return self.compute.Echo(request, timeout=TIMEOUT).payload

    def apply(self, op, *arguments, destinations=(), **params):
        """One op on inline arrays (NumPy) or arguments; its outputs as messages."""
        request = call(op, *arguments, destinations=destinations, **params)
        return self.compute.Apply(request, timeout=TIMEOUT).outputs

    def apply_numpy(self, op, *arguments, **params):
        output, = self.apply(op, *arguments, **params)
        return to_numpy(output.spec, output.data)

    def apply_stream(self, request, data=(), size=CHUNK):
        """A streamed call: `data` are the bytes of each streamed argument, by its index."""
        def messages():
            yield compute_pb2.ApplyStreamRequest(call=request)
            for index, argument in dict(data).items():
                for chunk in chunks_of(argument, size, index):
                    yield compute_pb2.ApplyStreamRequest(chunk=chunk)
        first, received = None, {}
        for response in self.compute.ApplyStream(messages(), timeout=TIMEOUT):
            if response.HasField("call"):
                first = response.call
            if response.HasField("chunk"):
                part = received.setdefault(response.chunk.array, bytearray())
                assert response.chunk.offset == len(part), "chunks in order, without gaps"
                part += response.chunk.data
        return first, [to_numpy(output.spec, received.get(i, b""))
                       for i, output in enumerate(first.outputs) if output.streamed]

    def put(self, array, name="", kind="UNSPECIFIED", workers=(), dtype=None, replace=False):
        """Stores a NumPy array; what it became."""
        requests = put_requests(spec_of(array, dtype), memoryview(array.tobytes()),
                                store(name, kind, workers, replace))
        *_, last = self.arrays.Put(requests, timeout=TIMEOUT)
        return last.array

    def get(self, key, **options):
        """A stored array, or the part of its bytes that `options` name."""
        info, data = None, bytearray()
        request = array_service_pb2.GetRequest(array=ref(key), **options)
        for response in self.arrays.Get(request, timeout=TIMEOUT):
            if response.HasField("array"):
                info = response.array
            if response.HasField("chunk"):
                data += response.chunk.data
        if options.get("offset") or options.get("byte_count"):
            return bytes(data)
        return to_numpy(info.spec, bytes(data))

    def describe(self, key):
        request = array_service_pb2.DescribeRequest(array=ref(key))
        return self.arrays.Describe(request, timeout=TIMEOUT).array

    def list(self, **options):
        return self.arrays.List(array_service_pb2.ListRequest(**options), timeout=TIMEOUT)

    def free(self, *keys, missing_ok=False):
        request = array_service_pb2.FreeRequest(arrays=[ref(key) for key in keys],
                                                missing_ok=missing_ok)
        return self.arrays.Free(request, timeout=TIMEOUT).freed_bytes

    def redistribute(self, key, kind, workers=()):
        request = array_service_pb2.RedistributeRequest(
            array=ref(key), distribution=array_pb2.Distribution(kind="KIND_" + kind,
                                                                workers=workers))
        return self.arrays.Redistribute(request, timeout=TIMEOUT)


def call(op, *arguments, destinations=(), route="UNSPECIFIED", want_timing=False, **params):
    """An ApplyRequest. Arguments are messages or NumPy arrays, params numbers."""
    request = compute_pb2.ApplyRequest(op=op, destinations=destinations, route="ROUTE_" + route,
                                       want_timing=want_timing)
    for argument in arguments:
        message = inline(argument) if isinstance(argument, (np.ndarray, np.generic)) else argument
        request.arguments.append(message)
    for name, value in params.items():
        if isinstance(value, bool):
            request.params.add(name=name, bool_value=value)
        elif isinstance(value, int):
            request.params.add(name=name, int_value=value)
        else:
            request.params.add(name=name, float_value=value)
    return request


def streamed(array, dtype=None):
    return array_pb2.Argument(streamed=spec_of(array, dtype))
