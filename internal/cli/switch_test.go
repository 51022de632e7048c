package cli_test

import (
	"io"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/cli"
)

// switched is a command with a switch.
type switched struct {
	Light bool `env:"TEST_LIGHT"`

	seen bool
}

func (s *switched) Run() error {
	s.seen = s.Light
	return nil
}

// Switches are on and off, as the documentation says, also in the environment.
func TestSwitch_IsOnOrOff(t *testing.T) { //nolint:paralleltest // it sets a variable
	for text, want := range map[string]int{"on": 1, "off": 0, "true": 1, "No": 0, "perhaps": -1} {
		for _, way := range []string{"flag", "variable"} {
			var commands struct {
				Do switched `cmd:""`
			}
			args, variable := []string{"do"}, text
			if way == "flag" {
				args, variable = append(args, "--light="+text), "off"
			}
			t.Setenv("TEST_LIGHT", variable)
			status := cli.Program{Name: "test", Commands: &commands}.Run(t.Context(), args, io.Discard, io.Discard)
			test.EqOp(t, want < 0, status != 0, test.Sprint(way, text))
			test.EqOp(t, want > 0, commands.Do.seen, test.Sprint(way, text))
		}
	}
}
