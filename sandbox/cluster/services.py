"""The command lines of the control plane: what runs, with which files, on which ports."""

import base64
import json
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandbox.cluster import pki
from sandbox.cluster.health import Probe, answers
from sandbox.cluster.layout import Layout
from sandbox.cluster.ports import HOST, Ports
from sandbox.cluster.process import Spec
from sandbox.cluster.seed import Store
from sandbox.cluster.text import write_private

SERVICE_RANGE = "10.96.0.0/16"
SERVICE_ADDRESS = "10.96.0.1"
POD_RANGE = "10.244.0.1/16"
# An API server may not advertise a loopback address. Nothing here reaches it by the address it advertises (there are no
# real pods), so it gets one reserved for documentation (RFC 5737) and writes no endpoints that would lead nowhere.
ADVERTISED = "192.0.2.1"
LOG_LIMIT = 20 << 20
REGION = "ap-east-1"

ETCD, AWS, API, CONTROLLERS, SCHEDULER, KWOK, EXTERNAL_SECRETS, KEEPER = (
    "etcd",
    "aws",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "external-secrets",
    "keeper",
)
PROGRAMS = (ETCD, API, CONTROLLERS, SCHEDULER, KWOK, EXTERNAL_SECRETS)
EXTERNAL_SECRETS_USER = "system:serviceaccount:external-secrets:external-secrets"
EXTERNAL_SECRETS_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:external-secrets")
KWOK_USER = "lantau:sandbox:kwok"


def port_of(name: str, ports: Ports) -> int | None:
    """The port on which a process answers; None for one that has none."""
    known = {
        ETCD: ports.etcd,
        AWS: ports.aws,
        API: ports.api,
        CONTROLLERS: ports.controller_manager,
        SCHEDULER: ports.scheduler,
        KWOK: ports.kwok,
        EXTERNAL_SECRETS: ports.external_secrets,
    }
    return known.get(name)


class Services:
    """Writes the files of one sandbox and says how each process is started; `tools` holds the programs."""

    def __init__(self, layout: Layout, ports: Ports, tools: Path) -> None:
        self.layout = layout
        self.ports = ports
        self.tools = tools
        self.server = f"https://{HOST}:{ports.api}"
        hosts = [HOST, "localhost", SERVICE_ADDRESS, ADVERTISED]
        names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]
        self._authority = pki.Authority(layout.pki, "ca")
        self._tls = self._authority.issue("kube-apiserver", "kube-apiserver", hosts=hosts + names)
        self._loopback = self._authority.issue("loopback", "loopback", hosts=[HOST, "localhost"])
        self._etcd_authority = pki.Authority(layout.pki / "etcd", "ca")
        self._etcd_tls = self._etcd_authority.issue("etcd", "etcd", hosts=[HOST, "localhost"])
        self._etcd_client = self._etcd_authority.issue("kube-apiserver", "kube-apiserver")
        self._front_proxy = pki.Authority(layout.pki / "front-proxy", "ca")
        self._account_key = layout.pki / "service-account.key"
        pki.load_or_make_key(self._account_key)
        pki.write_public_key(self._account_key, layout.pki / "service-account.pub")
        self.admin = self._authority.issue("admin", "lantau:sandbox:admin", ["system:masters"])

    @property
    def authority_file(self) -> Path:
        """The certificate that proves the API server."""
        return self._authority.certificate_file

    def client(self, file_name: str, user: str, groups: tuple[str, ...] = ()) -> Path:
        """Write the kubeconfig of a component and return its path."""
        certificate, key = self._authority.issue(file_name, user, groups)
        path = self.layout.config / f"{file_name}.kubeconfig"
        self._write_kubeconfig(path, certificate.read_bytes(), key.read_bytes(), user)
        return path

    def admin_kubeconfig(self, path: Path, context: str) -> None:
        """Write the administrator's kubeconfig with the context's name as wanted."""
        certificate, key = self.admin
        self._write_kubeconfig(path, certificate.read_bytes(), key.read_bytes(), "admin", context)

    def user_kubeconfig(self, path: Path, user: str, groups: tuple[str, ...]) -> None:
        """Write a kubeconfig of a person; the certificate is made for it."""
        certificate, key = self._authority.issue_in_memory(user, groups)
        self._write_kubeconfig(path, certificate, key, user)

    def etcd(self) -> Spec:
        """The store: both ports want a certificate of etcd's own authority."""
        client, peer = f"https://{HOST}:{self.ports.etcd}", f"https://{HOST}:{self.ports.etcd_peer}"
        certificate, key = self._etcd_tls
        authority = self._etcd_authority.certificate_file
        flags = {
            "name": "sandbox",
            "data-dir": self.layout.folder / "etcd",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"sandbox={peer}",
            "client-cert-auth": "true",
            "trusted-ca-file": authority,
            "cert-file": certificate,
            "key-file": key,
            "peer-client-cert-auth": "true",
            "peer-trusted-ca-file": authority,
            "peer-cert-file": certificate,
            "peer-key-file": key,
            "log-level": "warn",
            # Survives the death of the process, not of the machine; waiting for the disk would double the start.
            "unsafe-no-fsync": "true",
        }
        ports = {self.ports.etcd: "etcd", self.ports.etcd_peer: "etcd's peers"}
        return Spec(ETCD, self._command(ETCD, flags), inputs=(certificate, authority), ports=ports)

    def api_server(self, audit_policy: Path) -> Spec:
        """The API server, with the audit policy in `audit_policy`."""
        certificate, key = self._tls
        etcd_certificate, etcd_key = self._etcd_client
        account_public = self.layout.pki / "service-account.pub"
        encryption = self._encryption()
        flags = {
            "etcd-servers": f"https://{HOST}:{self.ports.etcd}",
            "etcd-cafile": self._etcd_authority.certificate_file,
            "etcd-certfile": etcd_certificate,
            "etcd-keyfile": etcd_key,
            "bind-address": HOST,
            "secure-port": self.ports.api,
            "advertise-address": ADVERTISED,
            "endpoint-reconciler-type": "none",
            "service-cluster-ip-range": SERVICE_RANGE,
            "requestheader-client-ca-file": self._front_proxy.certificate_file,
            "requestheader-allowed-names": "front-proxy-client",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "tls-cert-file": certificate,
            "tls-private-key-file": key,
            "client-ca-file": self.authority_file,
            "anonymous-auth": "false",
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction,DenyServiceExternalIPs",
            # GPU drivers and network plugins are privileged; Pod Security keeps everybody else from it.
            "allow-privileged": "true",
            "service-account-issuer": f"https://oidc.{self.layout.name}.lantau.internal",
            "service-account-key-file": account_public,
            "service-account-signing-key-file": self._account_key,
            "encryption-provider-config": encryption,
            "audit-policy-file": audit_policy,
            "audit-log-path": self.layout.audit_log,
            "audit-log-maxage": 90,
            "audit-log-maxbackup": 10,
            "audit-log-maxsize": 100,
            "profiling": "false",
        }
        inputs = (audit_policy, encryption, certificate, account_public, self.authority_file)
        ports = {self.ports.api: "the API server"}
        # Definitions make much garbage: collecting it half as often saves a fifth of the first start.
        return Spec(API, self._command(API, flags), {"GOGC": "200"}, inputs, ports)

    def controller_manager(self) -> Spec:
        """The controllers; their requests are not throttled, because everything is on one machine."""
        port = self.ports.controller_manager
        kubeconfig = self.client(CONTROLLERS, "system:kube-controller-manager")
        flags = {
            **self._component(kubeconfig, port),
            "service-account-private-key-file": self._account_key,
            "root-ca-file": self.authority_file,
            "use-service-account-credentials": "true",
            "kube-api-qps": 200,
            "kube-api-burst": 400,
        }
        inputs = (kubeconfig, self._account_key)
        return Spec(CONTROLLERS, self._command(CONTROLLERS, flags), inputs=inputs, ports={port: "the controllers"})

    def scheduler(self) -> Spec:
        """The scheduler with its default profile."""
        port = self.ports.scheduler
        kubeconfig = self.client(SCHEDULER, "system:kube-scheduler")
        flags = {**self._component(kubeconfig, port), "kube-api-qps": 200, "kube-api-burst": 400}
        return Spec(SCHEDULER, self._command(SCHEDULER, flags), inputs=(kubeconfig,), ports={port: "the scheduler"})

    def kwok(self) -> Spec:
        """The fake kubelets: only nodes that carry kwok's annotation are theirs."""
        port = self.ports.kwok
        kubeconfig = self.client(KWOK, KWOK_USER)
        stages = tuple(sorted((Path(__file__).parent / "stages").glob("*.yaml")))
        flags = {
            "kubeconfig": kubeconfig,
            "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
            "cidr": POD_RANGE,
            "node-lease-duration-seconds": 40,
            "server-address": f"{HOST}:{port}",
        }
        command = self._command(KWOK, flags) + tuple(f"--config={stage}" for stage in stages)
        return Spec(KWOK, command, inputs=(kubeconfig, *stages), ports={port: "kwok"})

    def aws(self) -> Spec:
        """The stand-in for AWS, which keeps what it holds in a file."""
        port = self.ports.aws
        state = self.layout.folder / "aws" / "state"
        command = (sys.executable, "-m", "sandbox.cluster.aws", str(port), str(state))
        environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUNBUFFERED": "1"}
        inputs = (Path(__file__).with_name("aws.py"),)
        return Spec(AWS, command, environment, inputs=inputs, ports={port: "the stand-in for AWS"})

    def external_secrets(self) -> Spec:
        """The External Secrets controller as the account it has in a real cluster, pointed at the stand-in for AWS."""
        port = self.ports.external_secrets
        kubeconfig = self.client(EXTERNAL_SECRETS, EXTERNAL_SECRETS_USER, EXTERNAL_SECRETS_GROUPS)
        endpoint = self.aws_endpoint
        environment = {
            "KUBECONFIG": str(kubeconfig),
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_SECRETSMANAGER_ENDPOINT": endpoint,
            "AWS_STS_ENDPOINT": endpoint,
            "AWS_SSM_ENDPOINT": endpoint,
        }
        flags = {"metrics-addr": f"{HOST}:{port}", "concurrent": 4, "loglevel": "warn"}
        command = self._command(EXTERNAL_SECRETS, flags)
        return Spec(EXTERNAL_SECRETS, command, environment, inputs=(kubeconfig,), ports={port: "External Secrets"})

    def keeper(self) -> Spec:
        """The process that keeps the logs bounded."""
        script = Path(__file__).with_name("keeper.py")
        command = (sys.executable, "-I", "-S", str(script), str(self.layout.folder / "logs"), str(LOG_LIMIT))
        return Spec(KEEPER, command, inputs=(script,))

    def store(self) -> Store:
        """etcd, to be read and written past the API server."""
        return Store(self.ports.etcd, self._etcd_authority.certificate_file, *self._etcd_client)

    def etcd_ready(self) -> Probe:
        """Whether etcd serves."""
        return answers(self.ports.etcd, "/readyz", self._etcd_authority.certificate_file, self._etcd_client)

    def probes(self) -> dict[str, Probe]:
        """Whether each of the processes behind the API server answers."""
        return {
            AWS: answers(self.ports.aws, "/moto-api/"),
            CONTROLLERS: answers(self.ports.controller_manager, "/healthz", self.authority_file),
            SCHEDULER: answers(self.ports.scheduler, "/healthz", self.authority_file),
            KWOK: answers(self.ports.kwok, "/healthz"),
            EXTERNAL_SECRETS: answers(self.ports.external_secrets, "/metrics"),
        }

    @property
    def aws_endpoint(self) -> str:
        """Where the stand-in for AWS answers."""
        return f"http://{HOST}:{self.ports.aws}"

    def _component(self, kubeconfig: Path, port: int) -> dict[str, Any]:
        certificate, key = self._loopback
        return {
            "kubeconfig": kubeconfig,
            "authentication-kubeconfig": kubeconfig,
            "authorization-kubeconfig": kubeconfig,
            "leader-elect": "false",
            "bind-address": HOST,
            "secure-port": port,
            "tls-cert-file": certificate,
            "tls-private-key-file": key,
            "profiling": "false",
        }

    def _command(self, program: str, flags: Mapping[str, object]) -> tuple[str, ...]:
        return (str(self.tools / program), *(f"--{flag}={value}" for flag, value in flags.items()))

    def _encryption(self) -> Path:
        """Secrets are stored encrypted; the key is made once, or old data could not be read again."""
        path = self.layout.config / "encryption.json"
        if not path.exists():
            key = {"name": "key1", "secret": base64.b64encode(secrets.token_bytes(32)).decode()}
            configuration = {
                "apiVersion": "apiserver.config.k8s.io/v1",
                "kind": "EncryptionConfiguration",
                "resources": [
                    {"resources": ["secrets"], "providers": [{"secretbox": {"keys": [key]}}, {"identity": {}}]}
                ],
            }
            write_private(path, json.dumps(configuration))
        return path

    def _write_kubeconfig(self, path: Path, certificate: bytes, key: bytes, user: str, context: str = "") -> None:
        authority = self.authority_file.read_bytes()
        name = context or self.layout.context
        write_private(path, pki.kubeconfig(self.server, authority, certificate, key, name, user))
