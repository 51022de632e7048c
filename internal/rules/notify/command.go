package notify

import (
	"regexp"
	"slices"
	"strings"
)

// CommandKind is what an SMS asks for.
type CommandKind string

// The kinds.
const (
	NoCommand CommandKind = ""
	Accept    CommandKind = "ACCEPT"
	Decline   CommandKind = "DECLINE"
	Stop      CommandKind = "STOP"
	Start     CommandKind = "START"
	Help      CommandKind = "HELP"
)

// Command is what an SMS asks for; Code is the offer's.
type Command struct {
	Kind CommandKind
	Code string
	// Carried: carriers and Twilio act on the word by themselves, and answer it.
	Carried bool
}

// Carriers and Twilio act on these words by themselves, so Berth must understand the same by them. CANCEL, END, QUIT and
// YES are among them: they stop or start all messages, and can never answer an offer.
var (
	stopWords  = []string{"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"}
	startWords = []string{"START", "YES", "UNSTOP"}
	helpWords  = []string{"HELP", "INFO"}
)

// What the same is called elsewhere, which only Berth understands.
var (
	otherStops = []string{"STOPP", "ARRET", "ARRÊT"}
	otherHelps = []string{"HILFE", "AIDE"}
)

var answer = regexp.MustCompile(`^([12])[ .:,#-]*([0-9]{4,8})$`)

// ParseSMS reads an answer: "1 CODE" accepts an offer, "2 CODE" declines it.
func ParseSMS(text string) Command {
	word := strings.ToUpper(strings.Trim(strings.Join(strings.Fields(text), " "), ` .!"'`))
	if parts := answer.FindStringSubmatch(word); parts != nil {
		return Command{Kind: map[string]CommandKind{"1": Accept, "2": Decline}[parts[1]], Code: parts[2]}
	}
	word = strings.ReplaceAll(word, "-", "")
	for _, known := range []struct {
		words []string
		means Command
	}{
		{stopWords, Command{Kind: Stop, Carried: true}}, {startWords, Command{Kind: Start, Carried: true}}, {helpWords, Command{Kind: Help, Carried: true}},
		{otherStops, Command{Kind: Stop}}, {otherHelps, Command{Kind: Help}},
	} {
		if slices.Contains(known.words, word) {
			return known.means
		}
	}
	return Command{}
}
