"""Made-up keys and their clean look-alikes. Keys are built from pieces, so that no scanner stops this file."""

import base64
import json
import random
import string

_RANDOM = random.Random(20261201)  # noqa: S311  (nothing here guards anything)
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
WORD = "Se" + "cr3t99"


def some(length: int, alphabet: str = ALNUM) -> str:
    """A random text that is the same in every run."""
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


def b64(text: str) -> str:
    """Base64 of a text."""
    return base64.b64encode(text.encode()).decode()


DASHES = "-" * 5
PEM = f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}\n{some(64)}\n{some(64)}\n{DASHES}END RSA PRIVATE KEY{DASHES}"
CERTIFICATE = f"{DASHES}BEGIN CERTIFICATE{DASHES}\n{some(64)}\n{DASHES}END CERTIFICATE{DASHES}"
JWT = "ey" + "JhbGciOiJIUzI1NiJ9." + b64('{"sub":"1234567890"}').rstrip("=") + "." + some(43)

# Keys by their own shape; the name says nothing.
SHAPED = [
    "AK" + "IA" + some(16, BASE32),
    "AI" + "za" + some(35),
    "LT" + "AI" + some(20),
    "AK" + "ID" + some(32),
    "hf" + "_" + some(34),
    "sk" + "-" + some(48),
    "sk" + "-proj-" + some(60),
    "sk" + "-ant-api03-" + some(93) + "AA",
    "nv" + "api-" + some(64),
    "gh" + "p_" + some(36),
    "github" + "_pat_" + some(82),
    "gl" + "pat-" + some(20),
    "xo" + "xb-" + some(12, string.digits) + "-" + some(12, string.digits) + "-" + some(24),
    "https://hooks.slack" + ".com/services/T" + some(10) + "/B" + some(10) + "/" + some(24),
    "https://oapi.dingtalk" + ".com/robot/send?access_token=" + some(64, HEX),
    "npm" + "_" + some(36),
    "py" + "pi-AgEIcHlwaS5vcmc" + some(120),
    "pu" + "l-" + some(40, HEX),
    "hv" + "s." + some(95),
    "Account" + "Key=" + some(86) + "==",
    "AGE-" + "SECRET-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    JWT,
    PEM,
    PEM.replace("\n", "\\n"),
    "admin:$" + "2y$05$" + some(53),
    "admin:$" + "apr1$abcdefgh$" + some(22),
    "admin:{SH" + "A}" + some(27) + "=",
]

# Passwords inside addresses.
URLS = [
    f"postgres://app:{WORD}@db:5432/app",
    f"redis://:{WORD}@redis:6379/0",
    f"mongodb+srv://app:{WORD}@cluster.example.net/",
    f"amqp://app:{WORD}@rabbit:5672",
    f"https://user:{WORD}@registry.example.com/v2/",
    f"ldap://cn=app:{WORD}@ldap.example.com",
    f"git clone https://x-access-token:{some(30)}@git.example.com/a/b",
    f"https://{some(40)}@git.example.com/a/b",
    f"jdbc:mysql://db:3306/app?user=app&password={WORD}",
    f"host=db user=app password={WORD} dbname=app",
    f"Server=db;User Id=sa;Password={WORD};",
]

# Names that promise a key, with a literal value.
NAMED = [
    ("DB_PASSWORD", "hunt" + "er2"),
    ("POSTGRES_PASSWORD", "postgres"),
    ("dbPassword", "Tr0ub4dor&3"),
    ("REDIS_PASS", "abc" + "12345"),
    ("PASSWORD", "correct-horse-battery-staple"),
    ("OPENAI_API_KEY", some(40)),
    ("AWS_SECRET_ACCESS_KEY", "/" + some(39)),
    ("MINIO_SECRET_KEY", "minio" + "admin"),
    ("LITELLM_MASTER_KEY", "sk" + "-1234"),
    ("jwt_secret", "supersecret" + "value"),
    ("client_secret", some(24)),
    ("LITELLM_SALT_KEY", some(32)),
    ("RABBITMQ_ERLANG_COOKIE", some(20)),
    ("certificateKey", some(64, HEX)),
    ("REDISCLI_AUTH", WORD),
    ("password.txt", WORD),
    ("AccessKeySecret", some(30)),
    ("GITHUB_TOKEN", some(40)),
    ("Authorization", "Bearer " + some(40)),
    ("Authorization", "Basic " + b64(f"user:{WORD}")),
    ("DB_PASSWORD", "${DB_PASSWORD:-" + WORD + "}"),
    ("BASIC_AUTH", "ann:" + "hunt" + "er2hunter2"),
]

# Documents that hold a key, by the name of their entry.
DOCUMENTS = [
    ("beans.xml", f'<bean><property name="password" value="{WORD}"/></bean>'),
    ("users.acl", f"user app on >{WORD} ~* +@all\n"),
    ("userlist.txt", f'"app" "md5{some(32, HEX)}"\n'),
    ("wg0.conf", f"[Interface]\nPrivateKey = {some(43)}=\nAddress = 10.0.0.1/24\n"),
    ("settings.py", "DATABASES = {'default': {'PASSWORD': '" + WORD + "', 'USER': 'app'}}"),
    ("app.js", f"const apiKey = '{some(32)}';"),
    ("Dockerfile", f"FROM scratch\nENV DB_PASSWORD={WORD}\n"),
    ("compose.yaml", f"services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD={WORD}\n"),
    ("run.sh", f"mc alias set hk http://minio:9000 app {some(40)}"),
    ("config.json", json.dumps({"db": {"user": "app", "password": WORD}})),
    ("config.yaml", f"db:\n  user: app\n  password: {WORD}\n"),
    ("list.yaml", f"apiKeys:\n- {some(32)}\n"),
    ("pairs.yaml", f"- name: PASSWORD\n  value: {WORD}\n"),
    ("app.ini", f"[db]\nuser = app\npassword = {WORD}\n"),
    ("app.toml", f'[db]\nuser = "app"\npassword = "{WORD}"\n'),
    (".env", f"FOO=bar\nDB_PASSWORD={WORD}\n"),
    ("app.properties", f"spring.datasource.username=app\nspring.datasource.password={WORD}\n"),
    ("settings.xml", f"<settings><password>{WORD}</password></settings>"),
    ("run.sh", f"#!/bin/sh\nexport API_TOKEN={some(24)}\nexec app\n"),
    ("run.sh", f"cat > /key <<EOF\n{PEM}\nEOF\n"),
    ("run.sh", f"curl -u admin:{WORD} https://example.com"),
    ("run.sh", f"curl -H 'Authorization: Bearer {some(40)}' https://example.com"),
    ("run.sh", f"mysql -uroot -p{WORD} -h db"),
    ("run.sh", f"redis-cli -a {WORD} ping"),
    ("run.sh", f"PGPASSWORD={WORD} psql -h db"),
    ("init.sql", f"CREATE USER app IDENTIFIED BY '{WORD}';"),
    ("redis.conf", f"bind 0.0.0.0\nrequirepass {WORD}\n"),
    ("nginx.conf", f'location / {{\n  proxy_set_header Authorization "Basic {b64("user:" + WORD)}";\n}}\n'),
    ("pgpass", f"db:5432:app:app:{WORD}"),
    ("netrc", f"machine example.com login app password {WORD}"),
    (".dockerconfigjson", json.dumps({"auths": {"r.example.com": {"auth": b64(f"user:{WORD}")}}})),
    ("kubeconfig", f"apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: {some(40)}\n"),
    ("kubeconfig", f"apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    client-key-data: {b64(PEM)}\n"),
    ("account.json", json.dumps({"type": "service_account", "private_key": PEM})),
    ("jwks.json", json.dumps({"keys": [{"kty": "RSA", "n": some(40), "e": "AQAB", "d": some(60)}]})),
    ("user-data", f"#cloud-config\nchpasswd:\n  list: |\n    root:{WORD}\n"),
    ("user-data", f'#cloud-config\nchpasswd:\n  expire: false\n  list: ["root:{WORD}"]\n'),
    ("run.sh", f"openssl enc -aes-256-cbc -k {WORD} -in a -out b"),
    ("jaas.conf", f'PlainLoginModule required username="app" password="{WORD}";'),
]

# Look-alikes by their name.
CLEAN_NAMED = [
    ("MAX_TOKENS", "4096"),
    ("grant_type", "client_credentials"),
    ("tokenEndpointAuthMethod", "client_secret_basic"),
    ("AWS_SECRET", "lantau/prod/db"),
    ("authorization", "%REQ(AUTHORIZATION)%"),
    ("ssl_certificate_key", "/etc/tls/tls.key"),
    ("stop_tokens", "</s>,<|im_end|>"),
    ("TOKENIZER", "org/model-7b-instruct"),
    ("tokenizer_mode", "auto"),
    ("EOS_TOKEN", "</s>"),
    ("pad_token", "<|endoftext|>"),
    ("PROMPT_TOKEN_LIMIT", "2000"),
    ("PASSWORD", "$(DB_PASSWORD)"),
    ("PASSWORD", "${DB_PASSWORD}"),
    ("PASSWORD", "${DB_PASSWORD:-}"),
    ("password", "{{ .Values.password }}"),
    ("password", "<password>"),
    ("password", "******"),
    ("password", "xxxxxxxx"),
    ("password", "changeme"),
    ("password", "password"),
    ("password", "abcdefghij"),
    ("SECRET_KEY", "development"),
    ("DB_PASSWORD", "db-credentials"),
    ("API_TOKEN", "internal"),
    ("password", "REDACTED"),
    ("password", "null"),
    ("password", ""),
    ("password", "vault:secret/data/app#password"),
    ("password", "arn:aws:secretsmanager:ap-east-1:123456789012:secret:app"),
    ("password", f"ENC[AES256_GCM,data:{some(20)},iv:{some(20)},tag:{some(20)},type:str]"),
    ("apiKey", "your-api-key-here"),
    ("api_key", "os.environ/OPENAI_API_KEY"),
    ("OPENAI_API_KEY", "EMPTY"),
    ("DB_PASSWORD_FILE", "/run/secrets/db"),
    ("SECRET_KEY_PATH", "/etc/keys/app"),
    ("secretName", "app-tls"),
    ("existingSecret", "redis-auth"),
    ("TOKEN_URL", "https://example.com/oauth/token"),
    ("token_ttl", "3600"),
    ("JWT_EXPIRY", "15m"),
    ("passthrough", "true"),
    ("keyspace", "prod_ks"),
    ("primary_key", "user_id"),
    ("PARTITION_KEY", "tenant"),
    ("PASSWORD_AUTHENTICATION", "no"),
    ("passwordPolicy", "strict"),
    ("checksum/secret", some(64, HEX)),
    ("GIT_COMMIT", some(40, HEX)),
    ("integrity", "sha512-" + some(86) + "=="),
    ("token", "6f1e2b4a-1c2d-4e5f-8a9b-0c1d2e3f4a5b"),
    ("AWS_ACCESS_KEY_ID", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("ca.crt", CERTIFICATE),
    ("ca-bundle", b64(CERTIFICATE)),
    ("public_key", f"{DASHES}BEGIN PUBLIC KEY{DASHES}\n{some(64)}\n{DASHES}END PUBLIC KEY{DASHES}"),
    ("authorized_keys", f"ssh-rsa AAAAB3NzaC1yc2E{some(200)} ann@example.com"),
    ("recipient", "age1" + some(58, "023456789acdefghjklmnpqrstuvwxyz")),
    ("Authorization", "Bearer ${TOKEN}"),
    ("greeting", b64("a plain sentence that hides nothing at all")),
    ("DATABASE_URL", "postgres://db:5432/app"),
    ("DATABASE_URL", "postgres://app:$(DB_PASSWORD)@db:5432/app"),
    ("DATABASE_URL", "postgres://app:${DB_PASSWORD}@db:5432/app"),
    ("LINK", "http://example.com:8080/path?mail=a@example.com"),
    ("description", "password reset flow and token rotation policy"),
]

CLEAN_DOCUMENTS = [
    ("run.sh", ': "${PASSWORD:?must be set}"\nPASS=$(openssl rand -base64 24)\n'),
    ("users.acl", "user default off\nuser app on #" + some(64, HEX) + " ~*\n"),
    ("tokenizer_config.json", json.dumps({"bos_token": "<s>", "eos_token": {"content": "</s>"}})),
    ("app.js", "const password = process.env.PASSWORD;\nconst token = req.headers['x-token'];\n"),
    ("app.py", "password = os.environ['DB_PASSWORD']\ntoken = get_token(user)\napi_key=settings.API_KEY\n"),
    ("app.go", 'token := os.Getenv("TOKEN")\npassword := cfg.Password\n'),
    ("main.tf", "password = var.db_password\ntoken = data.vault.token\n"),
    ("query.sql", "SELECT password, token FROM users WHERE password = $1;\n"),
    ("form.js", 'const password = document.getElementById("password").value;\n'),
    ("form.py", "password = form.field('password').strip().lower()\n"),
    ("en.json", json.dumps({"login.password": "Password", "token": "Token"})),
    ("user-data", "#cloud-config\nchpasswd:\n  list: |\n    ann:RANDOM\n"),
    ("config.yaml", "listen:\n  auth: host:8080\n  credentials: team:reader-role\n"),
    ("de.json", json.dumps({"password": "Passwort", "forgot_password": "Passwort vergessen?"})),
    ("schema.json", json.dumps({"properties": {"password": {"type": "string", "minLength": 12}}})),
    ("envoy.json", json.dumps({"access_log_format": {"api_key": "%DYNAMIC_METADATA(x:key)%"}})),
    ("run.sh", 'read -r TOKEN < "$FILE"\nPASSWORD="${1:?password required}"\necho "REDIS_PASSWORD: missing"\n'),
    (
        "rules.yaml",
        "groups:\n- name: tokens\n  rules:\n  - alert: TokenRateLow\n    expr: rate(tokens_total[5m]) < 1\n",
    ),
    ("config.yaml", "db:\n  passwordFile: /run/x\n  password: ${file:/run/x}\nmax_tokens: 100\ntokens: 5\n"),
    (
        "run.sh",
        '#!/bin/sh\nPASSWORD=$(cat /run/x)\nexport TOKEN="$(vault read -field=token x)"\nexec app --password-file /x\n',
    ),
    ("run.sh", 'curl -u "$USER:$PASS" https://example.com'),
    ("run.sh", 'mysql -uroot -p"$MYSQL_PASSWORD" -h db'),
    ("run.sh", "redis-cli -a $REDIS_PASSWORD ping"),
    ("run.sh", "curl -H 'Authorization: Bearer $TOKEN' https://example.com"),
    ("README.md", "Set the password: it must be at least 8 characters.\nThe token is read from a file.\n"),
    ("grafana.ini", "[security]\nadmin_password = $__file{/run/x}\ncookie_secure = true\n"),
    ("nginx.conf", "proxy_set_header Authorization $http_authorization;\nssl_certificate_key /etc/tls/tls.key;\n"),
    ("jwks.json", json.dumps({"keys": [{"kty": "RSA", "n": some(340), "e": "AQAB", "kid": "a"}]})),
    ("kubeconfig", "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    tokenFile: /run/token\n"),
    ("policy.yaml", "password:\n  minLength: 12\n  pattern: '^[A-Za-z0-9]{12,}$'\n"),
    ("litellm.yaml", "litellm_params:\n  model: openai/qwen\n  api_key: os.environ/QWEN_KEY\n  max_tokens: 4096\n"),
]
