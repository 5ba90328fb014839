# `make help` lists the targets; `make test` is what has to pass.

GO            ?= go
LINT_VERSION  := v2.15.0
LINT          := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
VERSION       := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
KILLS         ?= 200
SOAK          ?= 10m
FUZZTIME      ?= 30s
BENCH         ?= .

# What the tests need beside Go, as command:Debian-package. A service that the
# tests start themselves is listed here and nowhere else. Debian keeps
# PostgreSQL's own programs off the PATH.
TEST_TOOLS    := gcc:gcc git:git curl:curl redis-server:redis-server initdb:postgresql

.DEFAULT_GOAL := help
.PHONY: help test tools vet lint build demo crash soak bench fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test: tools vet lint ## everything that has to pass: vet, linter, tests with the race detector
	$(GO) test -race -timeout 30m ./...

tools: ## install what the tests need, on Debian
	@missing=""; \
	for t in $(TEST_TOOLS); do { command -v "$${t%%:*}" || ls /usr/lib/postgresql/*/bin/"$${t%%:*}"; } >/dev/null 2>&1 || missing="$$missing $${t##*:}"; done; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo -n"; else as="none"; fi; \
	if [ "$$as" != none ] && command -v apt-get >/dev/null 2>&1; then \
		echo "installing:$$missing"; \
		$$as apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$as apt-get install -y -qq --no-install-recommends $$missing && exit 0; \
	fi; \
	echo "!! missing and not installed:$$missing"; \
	echo "!! tests that need it are SKIPPED, or fail where CI=true"; \
	[ "$$CI" != true ]

vet: ## go vet
	$(GO) vet ./...

lint: ## the linter, at the version pinned here
	$(LINT) run --config .config/golangci.yml ./...

build: ## a static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/stet ./cmd/stet

demo: ## the tour: a real server, every step a real call
	$(GO) run ./cmd/stet demo

crash: ## kill the program KILLS times at random moments and check every promise
	$(GO) test ./cmd/internal/e2e -run TestCrash -count=1 -v -timeout 2h -crash.kills=$(KILLS)

soak: ## 64 callers for SOAK: memory and goroutines flat, rows equal metrics
	$(GO) test ./cmd/internal/e2e -run TestSoak -count=1 -v -timeout 2h -soak.for=$(SOAK)

bench: ## benchmarks
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' "$$pkg" | grep '^Fuzz' || true); do \
			echo "== $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg"; \
		done; \
	done

clean: ## remove what make build made
	rm -rf bin
