"""The managed store's side of a preflight: secrets are looked up by name, their values never read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from provider.preflight.problems import Findings
from provider.preflight.request import Request
from provider.store.client import Live, SecretStore, StoreError

PROBE: Final = "lantau/preflight"
"""A name that need not exist: any answer about it shows that the store is reached and knows who asks."""

_CODES: Final = {
    "NoCredentialsError": "store-credentials-missing",
    "PartialCredentialsError": "store-credentials-missing",
    "ProfileNotFound": "store-credentials-missing",
    "NoRegionError": "store-region-missing",
    "CredentialRetrievalError": "store-credentials-missing",
    "SSOTokenLoadError": "store-credentials-missing",
    "UnauthorizedSSOTokenError": "store-credentials-refused",
    "TokenRetrievalError": "store-credentials-refused",
    "InvalidIdentityToken": "store-credentials-refused",
    "ExpiredToken": "store-credentials-refused",
    "ExpiredTokenException": "store-credentials-refused",
    "UnrecognizedClientException": "store-credentials-refused",
    "InvalidSignatureException": "store-credentials-refused",
    "InvalidClientTokenId": "store-credentials-refused",
    "AccessDeniedException": "store-permission-missing",
    "AccessDenied": "store-permission-missing",
}


def look_at_store(request: Request, region: str | None, findings: Findings) -> None:
    """Check that the store answers and holds every secret that people must have put in."""
    if not request.check_store:
        return
    store = SecretStore(region, attempts=1, timeout=float(request.timeout))
    names = request.secrets or (PROBE,)
    first = _ask(store, names[0])
    answers: list[Live | StoreError | None] = [first]
    # Who is not let in once is not let in at all: asking for the rest would only wait longer.
    if not isinstance(first, StoreError) or _code(first) == "store-permission-missing":
        with ThreadPoolExecutor(max_workers=8) as threads:
            answers.extend(threads.map(lambda name: _ask(store, name), names[1:]))
    for name, answer in zip(names, answers, strict=False):
        _judge(name, answer, findings)


def _ask(store: SecretStore, name: str) -> Live | StoreError | None:
    try:
        return store.describe(name)
    except StoreError as error:
        return error


def _code(error: StoreError) -> str:
    return _CODES.get(error.code, "store-unreachable")


def _judge(name: str, answer: Live | StoreError | None, findings: Findings) -> None:
    if isinstance(answer, StoreError):
        code = _code(answer)
        if code != "store-permission-missing":
            findings.add(
                code, "AWS Secrets Manager", f"the managed store cannot be used ({answer.code})", answer.remedy
            )
        elif name != PROBE:
            findings.add(code, name, f"secret {name} cannot be looked up ({answer.code})", answer.remedy)
    elif name == PROBE:
        return
    elif answer is None:
        findings.add(
            "secret-missing",
            name,
            f"secret {name} is not in the managed store",
            f"put it in: aws secretsmanager create-secret --name {name} --secret-string file:///dev/stdin",
        )
    elif answer.deleted:
        findings.add(
            "secret-pending-deletion",
            name,
            f"secret {name} is scheduled for deletion",
            f"take that back: aws secretsmanager restore-secret --secret-id {name}",
        )
