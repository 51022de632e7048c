package notify

import (
	"regexp"
	"slices"
	"strings"
)

// CommandKind is what an SMS from a recipient asks for.
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

// Command is the parsed text of an SMS from a recipient.
type Command struct {
	Kind CommandKind
	Code string // of the offer
	// Carried: carriers and Twilio handle the word themselves and answer it.
	Carried bool
}

// Carriers and Twilio handle these words themselves, so Berth must interpret them the same way. CANCEL, END, QUIT and
// YES are among them: they stop or start all messages, and can never answer an offer.
var (
	stopWords  = []string{"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"}
	startWords = []string{"START", "YES", "UNSTOP"}
	helpWords  = []string{"HELP", "INFO"}
)

// The same words in other languages. Only Berth handles these.
var (
	localStopWords = []string{"STOPP", "ARRET", "ARRÊT"}
	localHelpWords = []string{"HILFE", "AIDE"}
)

var codePattern = regexp.MustCompile(`^([12])[ .:,#-]*([0-9]{4,8})$`)

// ParseSMS parses a reply: "1 CODE" accepts an offer, "2 CODE" declines it. A text that it does not understand gives
// the zero Command.
func ParseSMS(text string) Command {
	word := strings.ToUpper(strings.Trim(strings.Join(strings.Fields(text), " "), ` .!"'`))
	if parts := codePattern.FindStringSubmatch(word); parts != nil {
		return Command{Kind: map[string]CommandKind{"1": Accept, "2": Decline}[parts[1]], Code: parts[2]}
	}
	word = strings.ReplaceAll(word, "-", "")
	for _, known := range []struct {
		words   []string
		command Command
	}{
		{stopWords, Command{Kind: Stop, Carried: true}},
		{startWords, Command{Kind: Start, Carried: true}},
		{helpWords, Command{Kind: Help, Carried: true}},
		{localStopWords, Command{Kind: Stop}},
		{localHelpWords, Command{Kind: Help}},
	} {
		if slices.Contains(known.words, word) {
			return known.command
		}
	}
	return Command{}
}
