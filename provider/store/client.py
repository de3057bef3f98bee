"""AWS Secrets Manager, with errors that name operation, secret and code, and nothing else."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from provider.errors import ProviderError

CURRENT: Final = "AWSCURRENT"
PREVIOUS: Final = "AWSPREVIOUS"

_REMEDIES: Final[Mapping[str, str]] = {
    "NoCredentialsError": "no AWS credentials were found; set a profile, AWS_* variables or a web identity",
    "PartialCredentialsError": "the AWS credentials are incomplete; set both key id and secret key",
    "ProfileNotFound": "the AWS profile named by AWS_PROFILE does not exist",
    "NoRegionError": "no AWS region is known; set the stack's region",
    "ExpiredTokenException": "the AWS session has expired; sign in again",
    "ExpiredToken": "the AWS session has expired; sign in again",
    "SSOTokenLoadError": "there is no AWS sign-on session; sign in with aws sso login",
    "UnauthorizedSSOTokenError": "the AWS sign-on session has expired; sign in with aws sso login",
    "TokenRetrievalError": "the AWS sign-on session has expired; sign in with aws sso login",
    "CredentialRetrievalError": "the program that should give AWS credentials failed; run it by hand to see why",
    "InvalidIdentityToken": "AWS does not accept the web identity token; check the role's trust in its issuer",
    "UnrecognizedClientException": "AWS does not know the access key; check whose credentials are in use",
    "InvalidSignatureException": "AWS refused the signature; check the secret key and this machine's clock",
    "InvalidClientTokenId": "AWS does not know the access key; check whose credentials are in use",
    "EndpointConnectionError": "the endpoint cannot be reached; check network, region and AWS_ENDPOINT_URL",
    "ConnectTimeoutError": "the endpoint does not answer; check network, region and AWS_ENDPOINT_URL",
    "ReadTimeoutError": "the endpoint does not answer in time",
    "LimitExceededException": "a quota of Secrets Manager is used up",
    "EncryptionFailure": "the KMS key cannot be used; check that it exists, is enabled and allows this identity",
    "DecryptionFailure": "the KMS key cannot be used; check that it exists, is enabled and allows this identity",
}
_DENIED: Final = ("AccessDeniedException", "AccessDenied")


class StoreError(ProviderError):
    """A call to the store failed."""

    def __init__(self, operation: str, subject: str, code: str) -> None:
        self.operation = operation
        self.subject = subject
        self.code = code
        if code in _DENIED:
            remedy = f"this identity may not do it; allow secretsmanager:{operation} on {subject}"
        else:
            remedy = _REMEDIES.get(code, "")
        super().__init__(f"AWS Secrets Manager, {operation} of {subject}: {code}" + (f": {remedy}" if remedy else ""))

    @property
    def remedy(self) -> str:
        """What to do, without the rest of the message; empty when nothing better than the code is known."""
        return str(self).partition(f": {self.code}: ")[2]


@dataclass(frozen=True)
class Live:
    """A secret as the store describes it, without its value."""

    arn: str
    name: str
    description: str = ""
    kms_key_id: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Version id to staging labels."""
    deleted: bool = False
    """Scheduled for deletion, still recoverable."""

    def labelled(self, stage: str) -> str | None:
        """Id of the version that carries a staging label."""
        return next((version for version, stages in self.versions.items() if stage in stages), None)


def region_of(arn: str) -> str:
    """Region within an ARN."""
    return arn.split(":")[3]


class SecretStore:
    """One region's Secrets Manager. Safe to use from several threads.

    Every method raises StoreError; credentials are looked up by boto3's own chain at the first call.
    """

    def __init__(self, region: str | None, *, attempts: int = 5, timeout: float = 10.0) -> None:
        self._region = region
        self._attempts = attempts
        self._timeout = timeout
        self._lock = threading.Lock()
        self._made: Any = None

    def _client(self, operation: str, subject: str) -> Any:
        with self._lock:
            if self._made is None:
                # Loading boto3 takes a third of a second, which a preview without a secret to look at need not pay.
                import boto3
                from botocore.config import Config
                from botocore.exceptions import BotoCoreError

                config = Config(
                    retries={"mode": "standard", "total_max_attempts": self._attempts},
                    connect_timeout=self._timeout,
                    read_timeout=self._timeout,
                )
                try:
                    self._made = boto3.session.Session().client(
                        "secretsmanager", region_name=self._region, config=config
                    )
                except BotoCoreError as error:
                    raise StoreError(operation, subject, type(error).__name__) from None
                except ValueError:
                    raise StoreError(operation, subject, "InvalidEndpoint") from None
            return self._made

    def _call(self, operation: str, method: str, subject: str, **parameters: Any) -> dict[str, Any]:
        client = self._client(operation, subject)
        from botocore.exceptions import BotoCoreError, ClientError

        # The texts of botocore's errors may quote parameters, among them the value: only codes leave this function.
        try:
            answer: dict[str, Any] = getattr(client, method)(**parameters)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", "Unknown"))
            raise StoreError(operation, subject, code) from None
        except BotoCoreError as error:
            raise StoreError(operation, subject, type(error).__name__) from None
        return answer

    def describe(self, secret: str) -> Live | None:
        """A secret by name or ARN; None when there is none."""
        try:
            answer = self._call("DescribeSecret", "describe_secret", secret, SecretId=secret)
        except StoreError as error:
            if error.code == "ResourceNotFoundException":
                return None
            raise
        return Live(
            arn=answer["ARN"],
            name=answer["Name"],
            description=answer.get("Description") or "",
            kms_key_id=answer.get("KmsKeyId") or None,
            tags={tag["Key"]: tag["Value"] for tag in answer.get("Tags") or []},
            versions={key: tuple(stages) for key, stages in (answer.get("VersionIdsToStages") or {}).items()},
            deleted=bool(answer.get("DeletedDate")),
        )

    def create(
        self,
        name: str,
        token: str,
        values: Mapping[str, str],
        *,
        description: str,
        tags: Mapping[str, str],
        kms_key_id: str | None,
    ) -> None:
        """Make a secret. `token` becomes the id of its first version."""
        parameters: dict[str, Any] = {"KmsKeyId": kms_key_id} if kms_key_id else {}
        self._call(
            "CreateSecret",
            "create_secret",
            name,
            Name=name,
            ClientRequestToken=token,
            SecretString=json.dumps(values, sort_keys=True),
            Description=description,
            Tags=[{"Key": key, "Value": value} for key, value in sorted(tags.items())],
            **parameters,
        )

    def values(self, live: Live) -> dict[str, str]:
        """Fields of the current version; empty when there is no version. They must not leave the process.

        Raises ProviderError when the secret is not a JSON object of strings.
        """
        if live.labelled(CURRENT) is None:
            return {}
        answer = self._call("GetSecretValue", "get_secret_value", live.name, SecretId=live.arn)
        try:
            values = json.loads(answer.get("SecretString") or "")
        except ValueError:
            values = None
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise ProviderError(f"secret {live.name} holds something other than a JSON object of strings")
        return values

    def put(self, live: Live, token: str, values: Mapping[str, str]) -> None:
        """A new version with id `token`; it becomes current, and the current one becomes the previous."""
        self._call(
            "PutSecretValue",
            "put_secret_value",
            live.name,
            SecretId=live.arn,
            ClientRequestToken=token,
            SecretString=json.dumps(values, sort_keys=True),
        )

    def move_previous(self, live: Live, version: str, *, away_from: str | None) -> None:
        """Put the label of the previous version on another version."""
        parameters = {"RemoveFromVersionId": away_from} if away_from else {}
        self._call(
            "UpdateSecretVersionStage",
            "update_secret_version_stage",
            live.name,
            SecretId=live.arn,
            VersionStage=PREVIOUS,
            MoveToVersionId=version,
            **parameters,
        )

    def describe_as(self, live: Live, description: str, kms_key_id: str | None) -> None:
        """Set description and KMS key; the key is given only when it is to change."""
        parameters = {"KmsKeyId": kms_key_id} if kms_key_id else {}
        self._call("UpdateSecret", "update_secret", live.name, SecretId=live.arn, Description=description, **parameters)

    def tag(self, live: Live, tags: Mapping[str, str]) -> None:
        """Add or overwrite tags."""
        pairs = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
        self._call("TagResource", "tag_resource", live.name, SecretId=live.arn, Tags=pairs)

    def untag(self, live: Live, keys: list[str]) -> None:
        """Remove tags."""
        self._call("UntagResource", "untag_resource", live.name, SecretId=live.arn, TagKeys=sorted(keys))

    def restore(self, live: Live) -> None:
        """Take a scheduled deletion back."""
        self._call("RestoreSecret", "restore_secret", live.name, SecretId=live.arn)

    def delete(self, live: Live, recovery_days: int) -> None:
        """Schedule the deletion; the secret can be restored for that many days."""
        self._call("DeleteSecret", "delete_secret", live.name, SecretId=live.arn, RecoveryWindowInDays=recovery_days)
