package boot

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
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
		test.True(
			t, !strings.Contains(out.String(), "two") && json.Valid(out.Bytes()) == isJSON,
			test.Sprintf("%s: %s", format, out.String()),
		)
	}
}
