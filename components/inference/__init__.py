"""The GPU inference tier: the gateway, the models behind it with their releases, and batch work."""

from components.inference.batch import BatchJob, BatchJobArgs
from components.inference.gateway import PROXIES, InferenceGateway, InferenceGatewayArgs, base_url
from components.inference.release import ModelRelease, ModelReleaseArgs
from components.inference.served import ServedModel, ServedModelArgs

__all__ = [
    "PROXIES",
    "BatchJob",
    "BatchJobArgs",
    "InferenceGateway",
    "InferenceGatewayArgs",
    "ModelRelease",
    "ModelReleaseArgs",
    "ServedModel",
    "ServedModelArgs",
    "base_url",
]
