package traffic

import "strings"

// MaxClientName is how much of a program's name is kept.
const MaxClientName = 200

// ClientName returns the start of a header User-Agent in printable ASCII, which is all that programs send.
func ClientName(agent string) string {
	printable := func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}
	return strings.Map(printable, agent[:min(len(agent), MaxClientName)])
}
