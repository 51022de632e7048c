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
}

// Carriers and Twilio act on these words by themselves, so Berth must understand the same by them. CANCEL, END, QUIT and
// YES are among them: they stop or start all messages, and can never answer an offer.
var (
	stopWords  = []string{"STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "STOPP", "ARRET"}
	startWords = []string{"START", "YES", "UNSTOP"}
	helpWords  = []string{"HELP", "INFO"}
)

var answer = regexp.MustCompile(`^([12])[ .:,#-]*([0-9]{4,8})$`)

// ParseSMS reads an answer: "1 CODE" accepts an offer, "2 CODE" declines it.
func ParseSMS(text string) Command {
	word := strings.ToUpper(strings.Trim(strings.Join(strings.Fields(text), " "), ` .!"'`))
	if parts := answer.FindStringSubmatch(word); parts != nil {
		return Command{map[string]CommandKind{"1": Accept, "2": Decline}[parts[1]], parts[2]}
	}
	switch word = strings.ReplaceAll(word, "-", ""); {
	case slices.Contains(stopWords, word):
		return Command{Kind: Stop}
	case slices.Contains(startWords, word):
		return Command{Kind: Start}
	case slices.Contains(helpWords, word):
		return Command{Kind: Help}
	}
	return Command{}
}
