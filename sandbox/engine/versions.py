"""The one table of what the engine builder makes and fetches: programs and definitions, each at one version.

go.mod and go.sum of `modules/<folder>/` pin the same versions and all that they need; a test holds them to this table.
Times and sizes were measured from empty caches on two cores, one tool after another in this order: what one tool
has left there the next one does not need, so sizes are rounded up. They serve for estimates and the check of the disk.
"""

from dataclasses import dataclass
from typing import Final, Literal

Group = Literal["engine", "tools"]

GO_SWITCHES: Final = (1, 21)
"""The first Go that fetches a newer Go by itself when a go.mod asks for it."""


@dataclass(frozen=True)
class Tool:
    """A program built from a Go module.

    `folder` is the folder below `modules/`; `package` what `go build` is given there (`.` for a main.go of ours).
    `symbols` are the Go variables, with values, that the linker sets so that the program knows its version. `seconds`
    is the build time and `cache_mb` and `modules_mb` what Go's two caches grow by, all when nothing of it is there yet.
    """

    name: str
    group: Group
    folder: str
    module: str
    version: str
    package: str
    purpose: str
    licence: str
    seconds: int
    cache_mb: int
    modules_mb: int
    symbols: tuple[tuple[str, str], ...] = ()

    @property
    def shown_version(self) -> str:
        """The version that the program itself tells."""
        return self.symbols[0][1] if self.symbols else self.version


@dataclass(frozen=True)
class Family:
    """Custom resource definitions that lie as YAML files in `folder` of a Go module."""

    name: str
    module: str
    version: str
    folder: str
    purpose: str
    licence: str


# Without these the API server calls itself v0.0.0, and clients that ask for its version stumble.
_KUBERNETES: Final = (
    ("k8s.io/component-base/version.gitVersion", "v1.36.3"),
    ("k8s.io/component-base/version.gitMajor", "1"),
    ("k8s.io/component-base/version.gitMinor", "36"),
)

TOOLS: Final = (
    Tool(
        name="pulumi",
        group="engine",
        folder="pulumi-cli",
        module="github.com/pulumi/pulumi/pkg/v3",
        version="v3.274.1",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        purpose="the engine and its command line",
        licence="Apache-2.0",
        seconds=314,
        cache_mb=1900,
        modules_mb=1500,
        symbols=(("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", "v3.274.1"),),
    ),
    Tool(
        name="pulumi-resource-kubernetes",
        group="engine",
        folder="kubernetes-provider",
        module="github.com/pulumi/pulumi-kubernetes/provider/v4",
        # The one version that module proxies serve: of 2026-01-15, which the Python SDK calls 4.25.0.
        version="v4.0.0-20260115033456-f47bc2d6f199",
        package=".",
        purpose="the Kubernetes provider of the engine",
        licence="Apache-2.0",
        seconds=668,
        cache_mb=4400,
        modules_mb=800,
        symbols=(("github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version", "4.25.0"),),
    ),
    Tool(
        name="etcd",
        group="tools",
        folder="etcd",
        module="go.etcd.io/etcd/server/v3",
        version="v3.6.16",
        package="go.etcd.io/etcd/server/v3",
        purpose="the store behind the API server",
        licence="Apache-2.0",
        seconds=33,
        cache_mb=400,
        modules_mb=200,
    ),
    Tool(
        name="kube-apiserver",
        group="tools",
        folder="control-plane",
        module="k8s.io/kubernetes",
        version="v1.36.3",
        package="k8s.io/kubernetes/cmd/kube-apiserver",
        purpose="the API server",
        licence="Apache-2.0",
        seconds=273,
        cache_mb=2500,
        modules_mb=700,
        symbols=_KUBERNETES,
    ),
    Tool(
        name="kube-controller-manager",
        group="tools",
        folder="control-plane",
        module="k8s.io/kubernetes",
        version="v1.36.3",
        package="k8s.io/kubernetes/cmd/kube-controller-manager",
        purpose="the controllers of the built-in kinds",
        licence="Apache-2.0",
        seconds=70,
        cache_mb=600,
        modules_mb=50,
        symbols=_KUBERNETES,
    ),
    Tool(
        name="kube-scheduler",
        group="tools",
        folder="control-plane",
        module="k8s.io/kubernetes",
        version="v1.36.3",
        package="k8s.io/kubernetes/cmd/kube-scheduler",
        purpose="the scheduler",
        licence="Apache-2.0",
        seconds=4,
        cache_mb=100,
        modules_mb=0,
        symbols=_KUBERNETES,
    ),
    Tool(
        name="kwok",
        group="tools",
        folder="kwok",
        module="sigs.k8s.io/kwok",
        version="v0.7.0",
        package="sigs.k8s.io/kwok/cmd/kwok",
        purpose="plays the kubelets of nodes that do not exist",
        licence="Apache-2.0",
        seconds=109,
        cache_mb=1000,
        modules_mb=300,
    ),
    Tool(
        name="external-secrets",
        group="tools",
        folder="external-secrets",
        module="github.com/external-secrets/external-secrets",
        version="v0.16.2",
        package="github.com/external-secrets/external-secrets",
        purpose="delivers values of the managed store as Secrets",
        licence="Apache-2.0",
        seconds=310,
        cache_mb=2800,
        modules_mb=2300,
    ),
)

FAMILIES: Final = (
    Family(
        name="gateway-api",
        module="sigs.k8s.io/gateway-api",
        version="v1.6.3",
        folder="config/crd/standard",
        purpose="Gateway, HTTPRoute and their kin",
        licence="Apache-2.0",
    ),
    Family(
        name="envoy-gateway",
        module="github.com/envoyproxy/gateway",
        version="v1.9.1",
        folder="charts/gateway-helm/charts/crds/crds/generated",
        purpose="security, traffic and proxy policies of the default gateway class",
        licence="Apache-2.0",
    ),
    Family(
        name="external-secrets",
        module="github.com/external-secrets/external-secrets",
        version="v1.3.2",
        folder="config/crds/bases",
        purpose="SecretStore and ExternalSecret",
        licence="Apache-2.0",
    ),
    Family(
        name="prometheus-operator",
        module="github.com/prometheus-operator/prometheus-operator",
        version="v0.85.0",
        folder="example/prometheus-operator-crd",
        purpose="monitors, probes and rules",
        licence="Apache-2.0",
    ),
    Family(
        name="kueue",
        module="sigs.k8s.io/kueue",
        version="v0.19.2",
        folder="config/components/crd/bases",
        purpose="queues and quotas of offline work",
        licence="Apache-2.0",
    ),
    Family(
        name="keda",
        module="github.com/kedacore/keda/v2",
        version="v2.21.0",
        folder="config/crd/bases",
        purpose="scaling by queue length and by metrics",
        licence="Apache-2.0",
    ),
)
