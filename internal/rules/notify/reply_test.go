package notify

import (
	"testing"

	"github.com/shoenig/test"
)

func TestParseReply_ReadsCodesAndKeywords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Reply{
		"1 4821": {Kind: Accept, Code: "4821"}, " 2  4821. ": {Kind: Decline, Code: "4821"},
		"1:4821": {Kind: Accept, Code: "4821"}, "14821": {Kind: Accept, Code: "4821"},
		"no": {}, "1": {}, "3 4821": {}, "": {}, "1 4821 please": {}, "STOP ALL": {},
		"stop": {Kind: Stop, HandledByCarrier: true}, "Stop.": {Kind: Stop, HandledByCarrier: true},
		"STOPALL": {Kind: Stop, HandledByCarrier: true},
		"cancel":  {Kind: Stop, HandledByCarrier: true}, "End": {Kind: Stop, HandledByCarrier: true},
		"opt-out": {Kind: Stop, HandledByCarrier: true},
		"stopp":   {Kind: Stop}, "Arrêt": {Kind: Stop}, "yes": {Kind: Start, HandledByCarrier: true},
		"START": {Kind: Start, HandledByCarrier: true},
		"help":  {Kind: Help, HandledByCarrier: true}, "Hilfe!": {Kind: Help}, "aide": {Kind: Help},
	} {
		test.EqOp(t, want, ParseReply(text), test.Sprintf("%q", text))
	}
}
