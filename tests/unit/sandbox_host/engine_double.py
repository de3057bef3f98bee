"""An engine for one program: a monitor and a log in this process, which remember what they were told."""

from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, resource_pb2, resource_pb2_grpc


@dataclass
class EngineDouble:
    """What it was told: `resources` (type, name), `outputs` of the stack, `errors` that were logged."""

    address: str = ""
    resources: list[tuple[str, str]] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


class Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """Accepts every resource."""

    def __init__(self, told: EngineDouble) -> None:
        self._told = told

    def SupportsFeature(self, request: Any, context: Any) -> Any:  # noqa: N802
        return resource_pb2.SupportsFeatureResponse(hasSupport=False)

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._told.resources.append((request.type, request.name))
        urn = f"urn:pulumi:dev::trial::{request.type}::{request.name}"
        return resource_pb2.RegisterResourceResponse(urn=urn, id="an-id", object=request.object)

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._told.outputs.update(dict(request.outputs))
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request: Any, context: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()


class Log(engine_pb2_grpc.EngineServicer):
    """Remembers errors."""

    def __init__(self, told: EngineDouble) -> None:
        self._told = told

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802
        if request.severity == engine_pb2.ERROR:
            self._told.errors.append(request.message)
        return empty_pb2.Empty()


@contextmanager
def engine_double() -> Iterator[EngineDouble]:
    """A running double; `address` serves as that of the monitor and of the engine."""
    told = EngineDouble()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(Monitor(told), server)
    engine_pb2_grpc.add_EngineServicer_to_server(Log(told), server)
    told.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield told
    finally:
        server.stop(None).wait()
