"""Keys that are known by their own shape, wherever they stand."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from policies.detect.decode import base64_text
from policies.detect.values import entropy, is_placeholder, is_reference


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of key: its name, letters that stand in each, its pattern, and a further check of what matched."""

    what: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def _mixed(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text) and entropy(text) >= 3.0


def _has_digit(text: str) -> bool:
    return any(c.isdigit() for c in text)


def _real(text: str) -> bool:
    """Whether what follows a prefix is no mask and no example."""
    return entropy(text) >= 2.8 and "EXAMPLE" not in text and not re.search(r"(?:x|X|\*|0){8}", text)


def _shape(what: str, marks: str, pattern: str, check: Callable[[str], bool] | None = _real) -> Shape:
    return Shape(what, tuple(marks.split()), re.compile(pattern), check)


_B: Final = r"(?<![A-Za-z0-9_])"
_E: Final = r"(?![A-Za-z0-9_])"

SHAPES: Final = (
    _shape(
        "an AWS access key id", "AKIA ASIA ABIA ACCA A3T", rf"{_B}(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_E}"
    ),
    _shape("a Google API key", "AIza", rf"{_B}AIza[\w-]{{35}}(?![\w-])", lambda t: entropy(t) >= 3.5),
    _shape("a Google OAuth secret", "GOCSPX- ya29.", rf"{_B}(?:GOCSPX-[\w-]{{28}}|ya29\.[\w-]{{30,400}})"),
    _shape("an Alibaba Cloud access key id", "LTAI", rf"{_B}LTAI[a-zA-Z0-9]{{12,24}}{_E}", _mixed),
    _shape("a Tencent Cloud secret id", "AKID", rf"{_B}AKID[A-Za-z0-9]{{32}}{_E}", _mixed),
    _shape("a Volcengine access key id", "AKLT", rf"{_B}AKLT[\w-]{{40,60}}"),
    _shape("a Hugging Face token", "hf_ api_org_", rf"{_B}(?:hf_|api_org_)[a-zA-Z0-9]{{34}}{_E}"),
    _shape("an Anthropic key", "sk-ant-", rf"{_B}sk-ant-(?:api|admin|sid)\d\d-[\w-]{{60,120}}"),
    _shape("an OpenAI key", "sk-", rf"{_B}sk-(?:proj|svcacct|admin|None)-[\w-]{{20,200}}"),
    _shape("an OpenAI key", "sk-", rf"{_B}sk-[A-Za-z0-9]{{20}}T3BlbkFJ[A-Za-z0-9]{{20}}{_E}"),
    _shape(
        "an API key",
        "sk-",
        rf"{_B}sk-(?:or-v1-|lf-|litellm-)?(?:[0-9a-zA-Z]{{32,64}}{_E}|[0-9a-f]{{8}}-[0-9a-f-]{{27}})",
        _mixed,
    ),
    _shape("an NVIDIA key", "nvapi-", rf"{_B}nvapi-[\w-]{{60,70}}"),
    _shape(
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        rf"{_B}(?:gh[pousr]_[0-9a-zA-Z]{{36}}{_E}|github_pat_\w{{82}})",
    ),
    _shape(
        "a GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat-",
        rf"{_B}gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[\w-]{{20,64}}",
    ),
    _shape(
        "a Slack token",
        "xox xapp-",
        rf"{_B}xox[abposre]-(?:\d-)?(?:\d{{8,14}}-){{1,3}}[A-Za-z0-9-]{{16,64}}|{_B}xapp-\d-[A-Z0-9]{{8,14}}-\d{{8,14}}-\w{{32,64}}",
    ),
    _shape(
        "a Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,80}"
    ),
    _shape("a DingTalk webhook", "oapi.dingtalk.com", r"oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-f]{64}"),
    _shape("a WeCom webhook", "qyapi.weixin.qq.com", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[0-9a-f-]{36}"),
    _shape(
        "a Feishu webhook", "open-apis/bot", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[0-9a-f-]{36}"
    ),
    _shape("a Discord webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,80}"),
    _shape("a Telegram bot token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _shape("a SendGrid key", "SG.", rf"{_B}SG\.[\w-]{{22}}\.[\w-]{{43}}"),
    _shape(
        "a Stripe key",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        rf"{_B}(?:sk|rk)_(?:live|test)_[0-9a-zA-Z]{{16,120}}|{_B}whsec_[A-Za-z0-9+/]{{24,64}}",
    ),
    _shape("a DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", rf"{_B}do[opr]_v1_[0-9a-f]{{64}}"),
    _shape("a Databricks token", "dapi", rf"{_B}dapi[0-9a-f]{{32}}(?:-\d)?{_E}"),
    _shape("a Docker Hub token", "dckr_", rf"{_B}dckr_(?:pat|oat)_[\w-]{{27,32}}"),
    _shape(
        "a Grafana token", "glsa_ glc_", rf"{_B}(?:glsa_[A-Za-z0-9]{{32}}_[0-9a-f]{{8}}|glc_[A-Za-z0-9+/]{{32,400}})"
    ),
    _shape("a Groq key", "gsk_", rf"{_B}gsk_[A-Za-z0-9]{{48,56}}{_E}"),
    _shape("a Replicate token", "r8_", rf"{_B}r8_[A-Za-z0-9]{{37}}{_E}"),
    _shape(
        "a vendor key",
        "pplx- xai- pcsk_ tvly-",
        rf"{_B}(?:pplx-[0-9a-zA-Z]{{40,56}}|xai-[0-9a-zA-Z]{{60,90}}|pcsk_[\w]{{50,80}}|tvly-[\w-]{{24,50}})",
    ),
    _shape("a LangSmith key", "lsv2_", rf"{_B}lsv2_(?:pt|sk)_[0-9a-f]{{32}}_[0-9a-f]{{10}}"),
    _shape("a Twilio key", "SK", rf"{_B}SK[0-9a-f]{{32}}{_E}"),
    _shape("a Mailgun key", "key-", rf"{_B}key-[0-9a-f]{{32}}{_E}"),
    _shape("a Shopify token", "shpat_ shpca_ shppa_ shpss_", rf"{_B}shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}}"),
    _shape("an npm token", "npm_", rf"{_B}npm_[A-Za-z0-9]{{36}}{_E}"),
    _shape("a PyPI token", "pypi-AgE", rf"{_B}pypi-AgE[\w-]{{40,300}}"),
    _shape("a Pulumi token", "pul-", rf"{_B}pul-[a-f0-9]{{40}}{_E}"),
    _shape("a Vault token", "hvs. hvb. hvr.", rf"{_B}hv[sbr]\.[\w-]{{24,300}}"),
    _shape("a Terraform token", ".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}"),
    _shape(
        "an Azure storage key",
        "AccountKey= SharedAccessKey=",
        r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,90}={0,2}",
    ),
    _shape("a signed storage address", "?sig= &sig=", r"[?&]sig=[A-Za-z0-9%+/]{40,120}"),
    _shape("an Azure client secret", "7Q~ 8Q~", r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}(?![\w~.-])"),
    _shape(
        "a JWT",
        "ey",
        rf"{_B}ey[A-Za-z0-9_-]{{14,2000}}\.ey[A-Za-z0-9_-]{{14,8000}}\.[A-Za-z0-9_-]{{10,2000}}",
        lambda t: entropy(t) >= 3.5,
    ),
    _shape("an age secret key", "AGE-SECRET-KEY", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    _shape("a PuTTY private key", "PuTTY-User-Key", r"PuTTY-User-Key-File-\d"),
    _shape("a bcrypt hash", "$2a$ $2b$ $2x$ $2y$", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}", None),
    _shape(
        "a password hash",
        "$apr1$ SHA}",
        r"\$apr1\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}|\{S?SHA\}[A-Za-z0-9+/]{27,60}={0,2}",
        None,
    ),
    _shape(
        "a password hash",
        "$1$ $5$ $6$ $y$ $7$ $gy$ $argon2",
        r"\$(?:1|5|6|y|7|gy)\$[./0-9A-Za-z$=,]{8,60}\$[./0-9A-Za-z]{22,90}|\$argon2(?:id|i|d)\$v=\d\d\$",
        None,
    ),
    _shape(
        "a password hash",
        "md5 SCRAM-SHA-256",
        r"[\"']md5[0-9a-f]{32}[\"']|SCRAM-SHA-256\$\d{3,8}:[A-Za-z0-9+/=]{16,60}\$",
        None,
    ),
    _shape(
        "a Teams webhook",
        "webhookb2",
        r"\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}",
    ),
    _shape("a flow webhook", ".logic.azure.com", r"\.logic\.azure\.com[:/][^\s\"']{0,200}[?&]sig=[\w-]{40,60}"),
    _shape("a Tailscale key", "tskey-", rf"{_B}tskey-[a-z]{{2,10}}-[A-Za-z0-9-]{{16,80}}"),
    _shape("an Atlassian token", "ATATT3 ATCTT3 ATBB", rf"{_B}AT(?:ATT3|CTT3|BB)[\w=-]{{24,250}}"),
    _shape("a New Relic key", "NRAK- NRAL- NRII- NRJS- NRBR-", rf"{_B}NR(?:AK|AL|II|JS|BR)-[A-Za-z0-9-]{{20,40}}"),
    _shape("a Postman key", "PMAK-", rf"{_B}PMAK-[0-9a-f]{{24}}-[0-9a-f]{{34}}"),
    _shape(
        "a Notion or Linear key",
        "ntn_ lin_api_ lin_oauth_",
        rf"{_B}(?:ntn_[A-Za-z0-9]{{40,50}}|lin_(?:api|oauth)_[A-Za-z0-9]{{32,64}})",
    ),
    _shape("a Figma token", "figd_ figo_ figu_ figdr_ figor_ figur_", rf"{_B}fig[dou]r?_[\w-]{{36,60}}"),
    _shape("a Doppler token", "dp.", rf"{_B}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{{2,35}}\.)?[A-Za-z0-9]{{40,44}}"),
    _shape("a Fly token", "fo1_ fm1 fm2", rf"{_B}(?:fo1_[\w-]{{43}}|fm[12][ar]?_[A-Za-z0-9+/]{{80,600}})"),
    _shape("a Heroku key", "HRKU-", rf"{_B}HRKU-[\w-]{{36,80}}"),
    _shape("a Netlify token", "nfp_", rf"{_B}nfp_[A-Za-z0-9]{{36,40}}"),
    _shape("a RubyGems key", "rubygems_", rf"{_B}rubygems_[0-9a-f]{{48}}"),
    _shape("a database password of PlanetScale", "pscale_", rf"{_B}pscale_(?:pw|tkn|oauth)_[\w.=-]{{32,64}}"),
    _shape("a Sentry token", "sntrys_ sntryu_", rf"{_B}sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{{40,250}}"),
    _shape("a Sourcegraph token", "sgp_", rf"{_B}sgp_(?:[0-9a-f]{{16}}_|local_)?[0-9a-f]{{40}}"),
    _shape(
        "a Square token", "sq0 EAAA", rf"{_B}(?:sq0(?:atp|csp|idp)-[\w-]{{22,43}}|EAAA[\w-]{{60}})(?![\w-])", _mixed
    ),
    _shape("a Dynatrace token", "dt0", rf"{_B}dt0[a-z]\d\d\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}"),
    _shape("an Artifactory key", "AKCp cmVmdGtu", rf"{_B}(?:AKCp[A-Za-z0-9]{{60,80}}|cmVmdGtuO[A-Za-z0-9]{{50,60}})"),
    _shape("a 1Password token", "ops_ey", rf"{_B}ops_ey[\w-]{{100,900}}"),
    _shape("an OpenShift token", "sha256~", rf"{_B}sha256~[\w-]{{43}}(?![\w-])"),
    _shape("a Baidu key", "bce-v3/", r"bce-v3/ALTAK-[A-Za-z0-9]{21}/[0-9a-f]{40}"),
    _shape(
        "a Zhipu key",
        ".",
        r"\.(?<=[^\w.][0-9a-f]{32}\.)[A-Za-z0-9]{16}(?![\w.])|^[0-9a-f]{32}\.[A-Za-z0-9]{16}$",
        _mixed,
    ),
    _shape(
        "a vendor key",
        "jina_ e2b_ csk- fw_ fc- secret_ pnu_ CFPAT- v1.0- PRIVATE-TOKEN shippo_ EZAK EZTK",
        rf"{_B}(?:jina_[A-Za-z0-9]{{48,70}}|e2b_[0-9a-f]{{40}}|csk-[a-z0-9]{{48}}|fw_[A-Za-z0-9]{{24}}|fc-[0-9a-f]{{32}}"
        rf"|secret_[A-Za-z0-9]{{43}}|pnu_[A-Za-z0-9]{{36}}|CFPAT-[\w-]{{43}}|v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{146}}"
        rf"|PRIVATE-TOKEN:\s?[\w-]{{20}}|shippo_(?:live|test)_[0-9a-f]{{40}}|EZ[AT]K[A-Za-z0-9]{{54}}){_E}",
        _mixed,
    ),
    _shape(
        "a private key",
        "MII MHcC MHQC MIGkA MC4C MIGH MIGE MIG2 MIHu b3BlbnNza",
        r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{2,4}IB(?:AAK|ADANBgkqhkiG9w0BAQ)|MHcCAQEEI|MHQCAQEEI|MIGkAgEBBD|MC4CAQAwBQYDK2Vw"
        r"|MI(?:GHAgEAMBMG|GEAgEAMBAG|G2AgEAMBAG|HuAgEAMBAG)ByqGSM49|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/\s]{20,200}",
        None,
    ),
    _shape("a signed address", "-Signature=", r"[?&;]X-(?:Amz|Goog|Tos|Obs|Oss)-Signature=[0-9a-fA-F]{40,600}", None),
    _shape(
        "a signed address",
        "ignature=",
        r"[?&](?:OSSAccessKeyId|AWSAccessKeyId|GoogleAccessId|q-ak|AccessKeyId)=[^\s\"'<>]{1,600}[?&](?:q-)?[Ss]ignature=[\w%+/.=-]{20,400}",
        None,
    ),
    _shape("a cluster join token", "--token", r"--token[= ]\s{0,3}[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])", None),
)

# A text is searched for the few letters every key of a kind begins with; only then for the kind.
_BY_MARK: Final = tuple(
    (mark, tuple(shape for shape in SHAPES if mark in shape.marks))
    for mark in dict.fromkeys(mark for shape in SHAPES for mark in shape.marks)
)

_PEM: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----((?:[\sA-Za-z0-9+/=:,-]|\\[nrt]){0,400})"
)
_URL: Final = re.compile(
    r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,30})://([^\s/?#\"'<>`:]{0,120}):([^\s/?#\"'<>`@]{1,400})@(?=[\w\[\$\{(.-])"
)
_QUERY: Final = re.compile(
    r"[?&](?:api[-_]?key|app[-_]?key|key|ak|sk|access[-_]?token|auth[-_]?token|token|secret|password|passwd|pwd|sig|signature"
    r"|auth|client_secret|subscription-key|private_token|hapikey)=([A-Za-z0-9%+/=_.~-]{6,600})",
    re.IGNORECASE,
)
_URL_TOKEN: Final = re.compile(r"(?<![A-Za-z0-9+.-])https?://([A-Za-z0-9_.~-]{16,200})@(?=[\w\[\$\{(])")
_DSN: Final = re.compile(r"(?<![\w.-])[\w.-]{1,64}:([^\s@/:\"']{1,200})@(?:tcp|tcp4|tcp6|unix)\(")
_ORACLE: Final = re.compile(r"jdbc:oracle:\w{1,10}:\w{1,60}/([^\s@/]{1,200})@")
_IMAGE: Final = re.compile(r"([^/:@\s]{1,100}):([^/@\s]{1,200})@(?!sha\d{1,3}:)[\w.-]{1,200}[:/]")
_HEADER: Final = re.compile(r"(?i)(?<![\w-])(bearer|basic|token|apikey)\s{1,4}([A-Za-z0-9+/=_.~-]{8,2000})")


def known_shapes(text: str) -> Iterator[str]:
    """What kinds of key stand in a text."""
    if len(text) < 16:
        return
    for mark, shapes in _BY_MARK:
        if mark not in text:
            continue
        for shape in shapes:
            if any(shape.check is None or shape.check(match[0]) for match in shape.pattern.finditer(text)):
                yield shape.what
    if "PRIVATE KEY" in text:
        for match in _PEM.finditer(text):
            if len(re.sub(r"\\[nrt]|[^A-Za-z0-9+/]", "", match[1])) >= 16:
                yield "a private key"
                break


def url_credentials(text: str) -> Iterator[str]:
    """Passwords and tokens in the user part of URLs."""
    if "=" in text and "?" in text:
        for match in _QUERY.finditer(text):
            value = match[1]
            if len(value) >= 20 and _mixed(value) and not is_reference(value) and not is_placeholder(value):
                yield "a credential in the query of an address"
                return
    if "@" not in text or ":" not in text:
        return
    for match in _URL.finditer(text):
        if not is_reference(match[3]) and not is_placeholder(match[3]):
            yield "a password in a URL"
            return
    for match in (*_ORACLE.finditer(text), *_DSN.finditer(text)):
        if not is_reference(match[1]) and not is_placeholder(match[1]):
            yield "a password in a URL"
            return
    for match in _URL_TOKEN.finditer(text):
        # The address of an error collector carries a public key in the same place.
        public = "sentry" in text[match.end() : match.end() + 100]
        if _mixed(match[1]) and not is_reference(match[1]) and not public:
            yield "a token in a URL"
            return


def image_credentials(text: str) -> bool:
    """Whether an image reference carries a user and a password before its registry."""
    match = _IMAGE.match(text)
    return match is not None and not is_reference(match[2]) and not is_placeholder(match[2])


def header_credentials(text: str) -> Iterator[str]:
    """Credentials behind an authentication scheme, as in `Authorization: Bearer ...`."""
    for match in _HEADER.finditer(text):
        value = match[2]
        if is_placeholder(value) or is_reference(value):
            continue
        if match[1].lower() == "basic":
            decoded = base64_text(value)
            if decoded is not None and ":" in decoded and not is_reference(decoded.partition(":")[2]):
                yield "basic credentials"
                return
        elif len(value) >= 16 and _mixed(value):
            yield "a credential in a header"
            return


def redacted(text: str) -> str:
    """Text without the keys that are known by their shape: the last guard of messages, paths and names."""
    for mark, shapes in _BY_MARK:
        for shape in shapes if mark in text else ():
            text = shape.pattern.sub("[key]", text)
    return _URL.sub("[address with a password]", text) if "@" in text else text
