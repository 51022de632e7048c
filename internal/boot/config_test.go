package boot

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/shoenig/test"
)

func TestLogConfig_FollowsFormatAndLevel(t *testing.T) {
	t.Parallel()
	for format, isJSON := range map[string]bool{"auto": true, "json": true, "text": false} {
		var out bytes.Buffer
		log := LogConfig{Level: slog.LevelWarn, Format: format}.NewLogger(&out)
		log.Warn("one")
		log.Info("two")
		test.StrNotContains(t, out.String(), "two", test.Sprintf("%s: %s", format, out.String()))
		test.EqOp(t, isJSON, json.Valid(out.Bytes()), test.Sprintf("%s: %s", format, out.String()))
	}
}
