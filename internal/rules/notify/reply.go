package notify

import (
	"regexp"
	"slices"
	"strings"
)

// ReplyKind is what an SMS from a recipient asks for.
type ReplyKind string

// The kinds.
const (
	NoReply ReplyKind = ""
	Accept  ReplyKind = "ACCEPT"
	Decline ReplyKind = "DECLINE"
	Stop    ReplyKind = "STOP"
	Start   ReplyKind = "START"
	Help    ReplyKind = "HELP"
)

// Reply is the parsed text of an SMS from a recipient.
type Reply struct {
	Kind ReplyKind
	Code string // of the offer
	// HandledByCarrier: carriers and Twilio handle the word themselves and answer it.
	HandledByCarrier bool
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

// ParseReply parses a reply: "1 CODE" accepts an offer, "2 CODE" declines it. A text that it does not understand gives
// the zero Command.
func ParseReply(text string) Reply {
	word := strings.ToUpper(strings.Trim(strings.Join(strings.Fields(text), " "), ` .!"'`))
	if parts := codePattern.FindStringSubmatch(word); parts != nil {
		return Reply{Kind: map[string]ReplyKind{"1": Accept, "2": Decline}[parts[1]], Code: parts[2]}
	}
	word = strings.ReplaceAll(word, "-", "")
	for _, known := range []struct {
		words   []string
		command Reply
	}{
		{stopWords, Reply{Kind: Stop, HandledByCarrier: true}},
		{startWords, Reply{Kind: Start, HandledByCarrier: true}},
		{helpWords, Reply{Kind: Help, HandledByCarrier: true}},
		{localStopWords, Reply{Kind: Stop}},
		{localHelpWords, Reply{Kind: Help}},
	} {
		if slices.Contains(known.words, word) {
			return known.command
		}
	}
	return Reply{}
}
