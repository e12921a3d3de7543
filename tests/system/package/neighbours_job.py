#!/usr/bin/env python3
"""A job whose process also has PyPI's gRPC and Protocol Buffers, both at work. Its argument says who comes first,
`blazed` or `neighbours`; it prints one JSON object."""
import json
import sys
import threading
import time
from concurrent import futures

import blazed
from summing_host import SummingHost

METHOD = "/test.Echo/Echo"
PATIENCE_S = 60  # a limit for what takes a moment


def own_types():
    """A file of this process's own under the name of one of the shim's: whoever shared a registry would fall out."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="blazed/v1/tuner.proto", package="blazed.v1", syntax="proto3")
    field = file.message_type.add(name="Hello").field.add(name="text", number=1, label=1)
    field.type = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("blazed.v1.Hello"))


class Neighbours:
    """A server and a client of gRPC's that talk for as long as the job trains."""

    def __init__(self):
        import grpc

        echo = grpc.method_handlers_generic_handler("test.Echo", {"Echo": grpc.unary_unary_rpc_method_handler(
            lambda request, _context: request)})
        self.server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[echo])
        port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        self.call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary(METHOD)
        self.message, self.calls, self.wrong = own_types(), 0, 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._talk)
        self.thread.start()

    def _talk(self):
        while not self.ended.is_set():
            sent = self.message(text=f"call {self.calls}").SerializeToString()
            self.wrong += self.message.FromString(self.call(sent)).text != f"call {self.calls}"
            self.calls += 1

    def end(self):
        self.ended.set()
        self.thread.join()
        self.server.stop(None).wait()


def train(host, session, until):
    ends = time.monotonic() + PATIENCE_S
    while not until() and time.monotonic() < ends:
        host.step(session)


def main():
    first = sys.argv[1]
    neighbours = Neighbours() if first == "neighbours" else None
    host = SummingHost()
    with blazed.Session(host, blazed.Options(host_name="summing 1")) as session:
        host.describe(session)
        train(host, session, lambda: session.status().attached)
        neighbours = neighbours or Neighbours()
        train(host, session, lambda: host.built and neighbours.calls > 100)
        status = session.status()
    neighbours.end()
    json.dump({"state": status.state, "why_not": status.why_not, "library": status.library, "built": len(host.built),
               "calls": neighbours.calls, "wrong": neighbours.wrong}, sys.stdout)


if __name__ == "__main__":
    main()
