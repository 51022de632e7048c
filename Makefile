# The whole ritual: make generate lint test

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Tools are built from pinned modules. They have modfiles of their own, so that
# what they depend on never decides which versions the service runs with.
buf := go tool -modfile=tools/go.mod buf
golangci := go tool -modfile=tools/lint/go.mod golangci-lint

ts := clients/typescript
console := clients/console
swift := clients/swift/syntax
third_party := proto/third_party

contract := $(buf) build proto --path proto/berth
baseline := proto/baseline.binpb
# FILE, not WIRE_JSON: the generated clients are shipped too, and TypeScript is imported
# by file, so moving or renaming a type breaks its users even where the bytes stay the same.
# It stands here because buf compares images, and an image carries no buf.yaml.
breaking := {"version": "v2", "breaking": {"use": ["FILE"]}}

# Most of what can go wrong here is concurrent, so tests always look for races.
# The detector needs a C compiler; `make test RACE=` does without.
RACE := $(if $(shell command -v "$$(go env CC)"),-race)

# Empty, or the packages and flags of one quick run: make test-go GO=./internal/rules/waitlist
GO := ./...

# Options of the development server: make run DEV=--reset
DEV :=

# Options of the lab: make campaign ARGS="--for 3h"
ARGS :=

##@ Every day

.PHONY: run
run: $(console)/dist/index.html ## Start everything for development: Postgres, migrations, demo data, server
	go run ./server dev $(DEV)

.PHONY: generate
generate: $(third_party)/.stamp ## Generate Go and TypeScript from the contract
	$(buf) generate
	$(buf) generate --template $(ts)/buf.gen.yaml

.PHONY: format
format: $(third_party)/.stamp ## Format the contract, Go and TypeScript
	$(buf) format --write proto --path proto/berth
	$(golangci) fmt
	cd $(ts) && npm run --silent fix
	cd $(console) && npm run --silent fix

.PHONY: lint
lint: lint-proto lint-go lint-ts lint-swift lint-console ## Check contract, Go, TypeScript, Swift and the browser apps

.PHONY: test
test: test-go test-ts test-console ## Run all tests

.PHONY: build
build: $(console)/dist/index.html ## Build bin/berth
	go build -trimpath -ldflags="-s -w" -o bin/berth ./server

##@ The lab

.PHONY: simulate
simulate: ## Run the rules for ten years of virtual time, and check every step against a model
	go run ./internal/lab simulate $(ARGS)

.PHONY: campaign
campaign: ## Run servers for two minutes while they and Postgres fail, and prove that nothing was lost
	go run ./internal/lab campaign $(ARGS)

.PHONY: bench
bench: ## Measure bookings per second, beside pgbench on the same machine, within five minutes
	go run ./internal/lab bench --json bin/bench.json --html bin/bench.html $(ARGS)

##@ One by one

.PHONY: lint-proto
lint-proto: $(third_party)/.stamp ## Check the contract's style, format and compatibility
	$(buf) lint proto
	$(buf) format proto --path proto/berth --diff --exit-code
	$(contract) --output - | $(buf) breaking - --against $(baseline) --exclude-imports --config '$(breaking)'

.PHONY: lint-go
lint-go: ## Check Go, import order included
	$(golangci) run

.PHONY: lint-ts
lint-ts: $(ts)/node_modules/.package-lock.json ## Check TypeScript
	cd $(ts) && npm run --silent lint

.PHONY: lint-swift
lint-swift: $(swift)/node_modules/.package-lock.json ## Check that Swift parses; types are for a machine that has Swift
	cd $(swift) && npm run --silent check

.PHONY: test-go
test-go: ## Run Go tests
	go test -timeout 45m $(RACE) $(GO)

.PHONY: test-ts
test-ts: $(ts)/node_modules/.package-lock.json ## Check TypeScript's types and run its tests
	cd $(ts) && npm run --silent typecheck && npm test --silent

.PHONY: console
console: $(console)/dist/index.html ## Build the console and the member app

.PHONY: lint-console
lint-console: $(console)/node_modules/.package-lock.json ## Check the browser apps
	cd $(console) && npm run --silent lint

.PHONY: test-console
test-console: $(ts)/node_modules/.package-lock.json $(console)/dist/index.html ## Check the browser apps' types and size, and test them in Chromium
	cd $(console) && npm run --silent typecheck && npm test --silent

.PHONY: pictures
pictures: $(ts)/node_modules/.package-lock.json $(console)/dist/index.html ## Take the pictures of the documentation again
	cd $(console) && PICTURES=1 npm test --silent -- --project browser

.PHONY: check-generated
check-generated: $(third_party)/.stamp ## Fail if generated code is not what the contract gives
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(buf) generate --output "$$fresh"; \
	$(buf) generate --template $(ts)/buf.gen.yaml --output "$$fresh"; \
	for dir in gen $(ts)/src/gen; do \
		diff --recursive --brief "$$dir" "$$fresh/$$dir" || { echo "$$dir is stale: run make generate"; exit 1; }; \
	done

# The contract as clients were promised it. A break of it is refused by `make lint`
# until the baseline is renewed on purpose, in a change that says why.
.PHONY: proto-baseline
proto-baseline: $(third_party)/.stamp ## Promise the contract as it stands: breaking it fails from here on
	$(contract) --exclude-source-info --output $(baseline)

.PHONY: npm
npm: $(ts)/node_modules/.package-lock.json $(console)/node_modules/.package-lock.json $(swift)/node_modules/.package-lock.json ## Install what npm has

.PHONY: clean
clean: ## Remove what was built or downloaded into the tree
	rm -rf bin $(third_party) $(ts)/dist $(ts)/node_modules $(swift)/node_modules
	rm -rf $(console)/dist/* $(console)/dist/.vite $(console)/node_modules

.PHONY: help
help: ## Print this
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Imported contracts come from the module cache and from npm, pinned there with
# checksums; they are not committed.
$(third_party)/.stamp: tools/go.mod $(ts)/node_modules/.package-lock.json
	@rm -rf $(third_party) && mkdir -p $(third_party)/{buf/validate,google/rpc,google/type}
	@go mod download -modfile=tools/go.mod github.com/bufbuild/protovalidate
	@dir=$$(go list -modfile=tools/go.mod -m -f '{{.Dir}}' github.com/bufbuild/protovalidate); \
	install -m 644 "$$dir"/proto/protovalidate/buf/validate/*.proto $(third_party)/buf/validate
	@dir=$(ts)/node_modules/google-proto-files/google; \
	install -m 644 $$dir/rpc/{code,error_details,status}.proto $(third_party)/google/rpc; \
	install -m 644 $$dir/type/*.proto $(third_party)/google/type
	@touch $@

$(ts)/node_modules/.package-lock.json: $(ts)/package.json $(ts)/package-lock.json
	cd $(ts) && npm ci
	@touch $@

$(swift)/node_modules/.package-lock.json: $(swift)/package.json $(swift)/package-lock.json
	cd $(swift) && npm ci
	@touch $@

$(console)/node_modules/.package-lock.json: $(console)/package.json $(console)/package-lock.json
	cd $(console) && npm ci
	@touch $@

# Go embeds what is built here.
$(console)/dist/index.html: $(ts)/node_modules/.package-lock.json $(console)/node_modules/.package-lock.json $(console)/index.html $(console)/vite.config.ts \
		$(shell find $(console)/app $(console)/public $(console)/src $(ts)/src -type f)
	cd $(console) && npm run --silent build
	@touch $@
