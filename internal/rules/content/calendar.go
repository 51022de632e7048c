package content

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// CalendarEntry is a booking as a calendar entry.
type CalendarEntry struct {
	UID      string // the same for all versions of the entry
	Sequence int    // increases with each version
	Stamp    time.Time
	Start    time.Time
	End      time.Time
	Summary  string
	Location string
	Details  string
	URL      string
	Gone     bool // cancelled

	Organizer delivery.Mailbox // of an invitation; without an address, as in a feed, it is omitted
	Attendee  delivery.Mailbox
}

// CalendarSequence returns the version number of an entry: the time since it was made, in tenths of a second. It
// increases, needs no counter, and fits a 32-bit integer for six years.
func CalendarSequence(made, now time.Time) int {
	return max(0, int(now.Sub(made)/(100*time.Millisecond)))
}

// Invitation writes an entry for one recipient (RFC 5545, RFC 6047): it adds or updates the entry, or removes it if it
// is Gone.
func Invitation(e CalendarEntry) delivery.Calendar {
	method := delivery.CalendarRequest
	if e.Gone {
		method = delivery.CalendarCancel
	}
	return delivery.Calendar{Method: method, Body: calendar(string(method), "", e)}
}

// CalendarFeed writes a calendar to subscribe to (RFC 5545), with a name (RFC 7986).
func CalendarFeed(name string, entries []CalendarEntry) []byte {
	return calendar("PUBLISH", name, entries...)
}

// calendar writes all times in UTC, so that it needs no time zone definitions. golang-ical does not serve, because it
// does not remove line breaks from names, so that a name could add properties.
func calendar(method, name string, entries ...CalendarEntry) []byte {
	var c contentLines
	c.line("BEGIN", "VCALENDAR")
	c.line("VERSION", "2.0")
	c.line("PRODID", "-//Berth//Bookings//EN")
	c.line("CALSCALE", "GREGORIAN")
	c.line("METHOD", method)
	if name != "" {
		c.text("NAME", name)
		c.text("X-WR-CALNAME", name)
		c.line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H")
	}
	for _, e := range entries {
		c.line("BEGIN", "VEVENT")
		c.text("UID", e.UID)
		c.line("SEQUENCE", strconv.Itoa(e.Sequence))
		c.line("DTSTAMP", utc(e.Stamp))
		c.line("DTSTART", utc(e.Start))
		c.line("DTEND", utc(e.End))
		c.text("SUMMARY", e.Summary)
		c.text("LOCATION", e.Location)
		c.text("DESCRIPTION", e.Details)
		if e.URL != "" {
			c.line("URL", e.URL)
		}
		c.line("STATUS", map[bool]string{false: "CONFIRMED", true: "CANCELLED"}[e.Gone])
		if e.Organizer.Address != "" {
			c.line("ORGANIZER"+commonName(e.Organizer), "mailto:"+e.Organizer.Address)
			c.line("ATTENDEE"+commonName(e.Attendee)+";PARTSTAT=ACCEPTED;RSVP=FALSE", "mailto:"+e.Attendee.Address)
		}
		c.line("END", "VEVENT")
	}
	c.line("END", "VCALENDAR")
	return []byte(c.String())
}

func utc(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

// commonName returns a quoted parameter. There are no escapes in it, so quotes and control characters are removed.
func commonName(m delivery.Mailbox) string {
	name := strings.Map(func(r rune) rune {
		if r == '"' || r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, m.Name)
	if name == "" {
		return ""
	}
	return `;CN="` + name + `"`
}

// contentLines writes content lines (RFC 5545, section 3.1).
type contentLines struct{ strings.Builder }

var textEscapes = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// text writes a property of type TEXT. It omits an empty one.
func (c *contentLines) text(name, value string) {
	if value != "" {
		c.line(name, textEscapes.Replace(strings.ToValidUTF8(value, "\uFFFD")))
	}
}

// line folds lines after 75 octets, never within a character.
func (c *contentLines) line(name, value string) {
	const maxOctets = 75
	rest, room := name+":"+strings.Map(dropControls, value), maxOctets
	for len(rest) > room {
		cut := room
		for !utf8.RuneStart(rest[cut]) {
			cut--
		}
		c.WriteString(rest[:cut])
		c.WriteString("\r\n ")
		rest, room = rest[cut:], maxOctets-1 // the space at the start counts
	}
	c.WriteString(rest)
	c.WriteString("\r\n")
}

func dropControls(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
