# Every command a person needs. STACK picks the environment; `sandbox` is a whole cluster on this machine.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.ONESHELL:
.DELETE_ON_ERROR:

STACK ?= sandbox
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lantau
UV_VERSION := 0.13.9
UV ?= $(shell command -v uv 2>/dev/null || echo $(CACHE)/uv-$(UV_VERSION)/bin/uv)
PY := .venv/bin/python
PACKAGES := lantau components provider policies sandbox workflow bench
READY := .venv/.locked
export UV_PYTHON_DOWNLOADS ?= never
export VIRTUAL_ENV :=
unexport PYTHONPATH
# An environment whose Python is gone is made again.
$(shell $(PY) -c '' >/dev/null 2>&1 || rm -f $(READY))

.PHONY: help up preview status down destroy test test-fast mutate lint bench env clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

up: $(READY) ## deploy STACK (default: sandbox); a second run changes nothing
	@exec $(PY) -m workflow up --stack "$(STACK)"

preview: $(READY) ## what `up` would change, with the policy pack; nothing is touched
	@exec $(PY) -m workflow preview --stack "$(STACK)"

status: $(READY) ## what runs, by tier
	@exec $(PY) -m workflow status --stack "$(STACK)"

destroy: $(READY) ## remove what STACK deployed; managed keys stay recoverable
	@exec $(PY) -m workflow destroy --stack "$(STACK)"

down: $(READY) ## end every process of the sandbox; its data stays for the next `up`
	@exec $(PY) -m workflow down

test: lint ## every tier, with one summary
	@$(PY) -m workflow engine
	$(PY) -m tests.scanners.tools >/dev/null
	exec $(PY) -m pytest -n 2 --dist loadfile

test-fast: $(READY) ## the tiers that need no engine
	@exec $(PY) -m pytest -n 2 --dist loadfile tests/unit tests/policy tests/mutation

mutate: $(READY) ## every rule of the pack a little worse, fault by fault; a test must notice each
	@exec $(PY) -m tests.mutation $(RULES)

lint: $(READY) ## style and types
	@$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: $(READY) ## previews of hk-prod with and without the pack and flat; policy-check over 10,000 manifests; lantau fit
	@$(PY) -m compileall -q $(PACKAGES)
	exec $(PY) -m bench

env: $(READY) ## the Python environment, as the lock file says

clean: ## remove the Python environment and caches of this checkout
	rm -rf .venv .lantau .pytest_cache .mypy_cache .ruff_cache

$(READY): pyproject.toml uv.lock | $(UV)
	@echo "Python environment: installing what uv.lock names" >&2
	groups=()
	# Without a pulumi the engine is built, and a Go of the lock file serves where the machine has none that can.
	if ! command -v pulumi >/dev/null && ! go version 2>/dev/null | grep -qE 'go1\.(2[1-9]|[3-9][0-9])'; then
	  groups=(--group go)
	fi
	"$(UV)" sync --locked --quiet --compile-bytecode "$${groups[@]}" || {
	  echo "The Python environment could not be made. It needs Python 3.11 or later (python3 --version) and a package index." >&2
	  exit 1
	}
	$(PY) -m compileall -q $(PACKAGES)
	touch $@

$(CACHE)/uv-$(UV_VERSION)/bin/uv:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
	  echo "Python 3.11 or later is needed; this is $$(python3 --version 2>&1)." >&2
	  exit 1
	}
	python3 -m venv "$(CACHE)/uv-$(UV_VERSION)" || {
	  echo "python3 cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2
	  exit 1
	}
	"$(CACHE)/uv-$(UV_VERSION)/bin/pip" install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"
