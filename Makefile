# The whole ritual: make generate lint test

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# Tools are built from pinned modules. They have modfiles of their own, so that
# what they depend on never decides which versions the service runs with.
buf := go tool -modfile=tools/go.mod buf
gotestsum := go tool -modfile=tools/go.mod gotestsum
golangci := go tool -modfile=$(CURDIR)/tools/lint/go.mod golangci-lint
testlab := go -C tools/testlab run . -C "$(CURDIR)"

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
# Otherwise each program waits a second before it exits, for goroutines that are still running.
export GORACE := atexit_sleep_ms=0
# Tests allocate much and keep little: collecting garbage less often saves a tenth of their time.
test-go test-testlab mutate mutate-fixed mutate-sample shuffle: export GOGC := 400
# Tests wait for Postgres some of the time, so that two of them keep a processor busy.
PARALLEL := -parallel=$(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

# Empty, or the packages and flags of one quick run: make test-go GO=./internal/rules/waitlist
GO := ./...

# Options of the development server: make run DEV=--reset
DEV :=

# Options of the lab: make campaign ARGS="--for 3h"
ARGS :=

# Mutants: make mutate PKG=./internal/rules/... SEED=7 N=400 TESTS="internal/rules/booking internal/app/bookings"
PKG := ./internal/rules/...
SEED := 1
N := 100
FUZZ := 10m
TESTS :=
DIR := .mutate

# Runs of each package's tests in another order: make shuffle RUNS=200 GO=./internal/rules/...
RUNS := 20

# Simulated weeks that are repeated in the service: make replays REPLAYS=1000
REPLAYS := 100

# Mutations that are cut, as a pattern: make cuts CUTS=WaitlistService
CUTS := .

##@ Every day

.PHONY: run
run: $(console)/dist/index.html ## Start everything for development: Postgres, migrations, demo data, server
	go run ./server dev $(DEV)

.PHONY: generate
generate: $(third_party)/.stamp ## Generate Go, TypeScript and docs/api from the contract
	$(buf) generate
	$(buf) generate --template $(ts)/buf.gen.yaml
	go run ./internal/contract

.PHONY: format
format: $(third_party)/.stamp ## Format the contract, Go and TypeScript
	$(buf) format --write proto --path proto/berth
	$(golangci) fmt
	cd $(ts) && npm run --silent fix
	cd $(console) && npm run --silent fix

.PHONY: hooks
hooks: ## Format and lint what is staged before each commit, with Git's hook of this checkout
	git config core.hooksPath tools/hooks

.PHONY: lint
lint: lint-proto lint-go lint-ts lint-swift lint-console ## Check contract, Go, TypeScript, Swift and the browser apps
	@go run ./clients/swift/generate check || echo "warning: renew the generated Swift code before the next release"

.PHONY: test
test: test-go test-testlab test-sweeps test-ts test-console ## Run all tests

.PHONY: build
build: $(console)/dist/index.html ## Build bin/berth, and a CycloneDX list of what is in it
	go build -trimpath -ldflags="-s -w" -o bin/berth ./server
	go run ./internal/supplychain sbom bin/berth >bin/berth.cdx.json

##@ The lab

.PHONY: simulate
simulate: ## Run the rules for ten years of virtual time, and check every step against a model
	go run ./internal/lab simulate $(ARGS)

.PHONY: campaign
campaign: ## Run servers for two minutes while they and Postgres fail, and prove that nothing was lost
	go run ./internal/lab campaign $(ARGS)

.PHONY: replays
replays: ## Repeat simulated weeks in the service, and compare: REPLAYS
	BERTH_REPLAYS=$(REPLAYS) go test ./internal/lab/simulate -run TestRun_IsWhatTheServiceDoes -timeout 2h -count 1

.PHONY: cuts
cuts: ## Cut every mutation at each of its round trips to Postgres, or kill its process there, and send it again: CUTS
	BERTH_CUTS='$(CUTS)' go test -count=1 -timeout 2h -run SurvivesCutAtEveryRoundTrip ./server

.PHONY: fuzz
fuzz: ## Look for inputs that parsers do not survive: each target for FUZZ, one after the other
	@grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -n1 dirname | sort -u | while read -r folder; do \
	  for target in $$(cat "$$folder"/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p'); do \
	    echo "=== $$folder $$target"; \
	    go test "./$$folder" -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) -fuzzminimizetime 5s || exit 1; \
	  done; \
	done

.PHONY: bench
bench: ## Measure bookings per second, and pgbench on the same machine to compare, within five minutes
	go run ./internal/lab bench --json bin/bench.json --html bin/bench.html $(ARGS)

.PHONY: mutate
mutate: ## Change packages in small ways, and list what no test notices: PKG, SEED, N, TESTS, DIR
	$(testlab) mutate run $(PKG) --seed $(SEED) --count $(N) $(foreach t,$(TESTS),--tests '$(t)') --dir $(DIR) $(ARGS)

.PHONY: mutate-report
mutate-report: ## Print the report of all mutants in DIR again
	$(testlab) mutate report --dir $(DIR)

.PHONY: mutate-fixed
mutate-fixed: ## Check that tests notice the bugs that they once did not
	$(testlab) mutate fixed --dir $(DIR) $(ARGS)

.PHONY: mutate-check
mutate-check: ## Check that the lists of fixed and of equivalent mutants fit the code
	$(testlab) mutate check

.PHONY: mutate-sample
mutate-sample: ## Test mutants of the rules for a minute, others after each change; it only reports
	$(testlab) mutate sample --dir $(DIR) $(ARGS)

.PHONY: shuffle
shuffle: ## Run tests many times, each time in another order: GO, RUNS; it continues where it was stopped
	$(testlab) shuffle $(GO) --runs $(RUNS) $(ARGS)

.PHONY: shuffle-console
shuffle-console: $(ts)/node_modules/.package-lock.json $(console)/dist/index.html ## Run the browser tests RUNS times, each in another order
	@code=$$({ git rev-parse HEAD && git diff HEAD; } | sha256sum | head -c 16); \
	mkdir -p .shuffle; failed=0; trap 'exit 130' INT TERM; \
	for seed in $$(seq $(RUNS)); do \
	  log=$$PWD/.shuffle/console-$$code-$$seed; \
	  if [ ! -e "$$log.passed" ] && [ ! -e "$$log.failed" ]; then \
	    (cd $(console) && exec npx playwright test --fully-parallel --shuffle $$seed) >"$$log.log" 2>&1 && \
	      end=passed || end=failed; \
	    mv "$$log.log" "$$log.$$end"; \
	  fi; \
	  tail -n 1 "$$log".*ed; [ -e "$$log.passed" ] || { failed=1; echo "see $$log.failed"; }; \
	done; exit $$failed

##@ One by one

.PHONY: lint-proto
lint-proto: $(third_party)/.stamp ## Check the contract's style, format and compatibility
	$(buf) lint proto
	$(buf) format proto --path proto/berth --diff --exit-code
	$(contract) --output - | $(buf) breaking - --against $(baseline) --exclude-imports --config '$(breaking)'

.PHONY: lint-go
lint-go: ## Check Go, import order included
	$(golangci) run
	cd tools/testlab && $(golangci) run

.PHONY: lint-ts
lint-ts: $(ts)/node_modules/.package-lock.json ## Check TypeScript
	cd $(ts) && npm run --silent lint

.PHONY: audit
audit: npm ## Look for known vulnerabilities in Go modules and npm packages, with internet access
	@go run ./internal/supplychain audit

.PHONY: lint-swift
lint-swift: $(swift)/node_modules/.package-lock.json ## Check that Swift parses; types are for a machine that has Swift
	cd $(swift) && npm run --silent check

.PHONY: test-go
test-go: ## Run Go tests, and list the ten slowest
	@results=$$(mktemp); trap 'rm -f "$$results"' EXIT; status=0; \
	$(gotestsum) --format standard-quiet --jsonfile "$$results" -- -timeout 45m $(PARALLEL) $(RACE) $(GO) || status=$$?; \
	printf '\nThe slowest tests:\n'; $(gotestsum) tool slowest --jsonfile "$$results" --num 10; exit $$status

.PHONY: test-testlab
test-testlab: ## Test what tests the tests
	go -C tools/testlab test $(RACE) ./...

.PHONY: test-sweeps
test-sweeps: ## Sweep all fields of all RPCs without the race detector: odd values, other tenants, failures, costs
	go test -count=1 -timeout 45m $(PARALLEL) -run 'TestEveryRPC_(IsCheap|HandlesOdd|RevealsAnd|FailsIf)' ./server

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
	cd $(console) && PICTURES=1 npx playwright test

.PHONY: load-times
load-times: $(console)/node_modules/.package-lock.json ## Measure the first load of the browser apps on slow 4G, from the server of make run
	cd $(console) && node scripts/load-times.mjs $(ARGS)

.PHONY: check-generated
check-generated: $(third_party)/.stamp ## Fail if generated code is not what the contract gives
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(buf) generate --output "$$fresh"; \
	$(buf) generate --template $(ts)/buf.gen.yaml --output "$$fresh"; \
	for dir in gen internal/gen $(ts)/src/gen; do \
		diff --recursive --brief "$$dir" "$$fresh/$$dir" || { echo "$$dir is stale: run make generate"; exit 1; }; \
	done

# Not part of make generate: most machines have no Swift generators, and buf's need the internet.
.PHONY: generate-swift
generate-swift: $(third_party)/.stamp ## Renew the Swift client's generated code, with internet access or the generators
	@go run ./clients/swift/generate

.PHONY: check-swift
check-swift: $(third_party)/.stamp ## List what changed in the contract since the Swift code was generated
	@go run ./clients/swift/generate check

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
