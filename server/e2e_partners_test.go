package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// The test runs all code on the page, from top to bottom.
func TestPartnersPage_RunsAsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newLive(t))
	page := readFile(t, filepath.Join("..", "docs", "partners.md"))
	blocks := regexp.MustCompile("(?ms)^```(sh|python|go)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	folder := t.TempDir()
	script := []string{"set -euo pipefail"}
	for _, block := range blocks {
		language, code := block[1], block[2]
		switch {
		case strings.Contains(code, "dev.json"): // the test has another server
			script = append(script, "export ADDRESS=http://"+w.live.Address, "OWNER="+w.token(w.owner.Subject))
		case strings.Contains(code, "examples/mirror"): // it never ends: the test stops it once it has the booking made above
			run := `go run ./clients/go/examples/mirror -url "$ADDRESS" -file bookings.csv`
			before, _, found := strings.Cut(code, "BERTH_KEY=$MIRROR_KEY "+run)
			test.True(t, found, test.Sprintf("no mirror in:\n%s", code))
			file := filepath.Join(folder, "bookings.csv")
			script = append(script, "echo '# Mirror'", before, "go build -o "+folder+" ./clients/go/examples/mirror",
				"BERTH_KEY=$MIRROR_KEY "+filepath.Join(folder, "mirror")+` -url "$ADDRESS" -file `+file+" &",
				`until grep -q "$BOOKING,.*CANCELLED" `+file+"; do kill -0 $!; sleep 0.05; done",
				"kill $!", "wait $!", "echo mirrored")
		case language == "sh":
			script = append(script, code)
		case language == "python":
			file := filepath.Join(folder, "partner.py")
			must.NoError(t, os.WriteFile(file, []byte(code), 0o600))
			script = append(script, "echo '# Python'", "python3 "+file)
		case language == "go":
			test.EqOp(t, readFile(t, filepath.Join("..", "clients", "go", "examples", "guest", "main.go")), code,
				test.Sprint("the program on the page is not the one in clients/go/examples/guest"))
			script = append(script, "echo '# Go'", "go run ./clients/go/examples/guest")
		}
	}
	// a session that can still be cancelled without penalty
	w.createSession(w.app, w.sessionAt(w.now.AddDate(0, 0, 4)), true)
	shell := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(script, "\n"))
	shell.Dir = ".."
	out, err := shell.CombinedOutput()
	must.NoError(t, err, must.Sprintf("%s", out))
	parts := regexp.MustCompile(`(?m)^# (?:Python|Go|Mirror)$`).Split(string(out), -1)
	must.EqOp(t, 4, len(parts), must.Sprintf("%s", out))
	inOrder(t, parts[0], "held once", "BOOKING_STATUS_CONFIRMED", "BOOKING_STATUS_CANCELLED",
		"EVENT_TYPE_BOOKING_HELD", "EVENT_TYPE_BOOKING_CONFIRMED", "EVENT_TYPE_BOOKING_CANCELLED")
	inOrder(t, parts[1], "refused: BOOKING_NOT_FOUND", "held", "until 20", "confirmed PAYMENT_STATUS_CAPTURED",
		"cancelled",
		"EVENT_TYPE_BOOKING_HELD", "EVENT_TYPE_BOOKING_CONFIRMED", "EVENT_TYPE_BOOKING_CANCELLED")
	inOrder(t, parts[2], "held", "until 20", "confirmed PAYMENT_STATUS_CAPTURED", "cancelled",
		"EVENT_TYPE_BOOKING_HELD", "EVENT_TYPE_BOOKING_CONFIRMED", "EVENT_TYPE_BOOKING_CANCELLED")
	inOrder(t, parts[3], "mirror", "mirrored", "PERMISSION_DENIED", "The token opens nothing any more.")
	w.live.verify(t)
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		must.True(t, found, must.Sprintf("no %q, or not in its place, in:\n%s", part, text))
		rest = after
	}
}
