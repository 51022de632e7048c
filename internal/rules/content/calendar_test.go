package content

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// calendarEntry has a value in each field.
func calendarEntry() CalendarEntry {
	return CalendarEntry{
		UID: "01@berth", Sequence: 7, Stamp: exampleStart.Add(-time.Hour), Start: exampleStart,
		End: exampleStart.Add(time.Hour), Summary: "Yoga", Location: "Pier 1", Details: "Room 2", URL: "https://a.example",
		Organizer: delivery.Mailbox{Name: "Harbour", Address: "hello@example.com"},
		Attendee:  delivery.Mailbox{Address: "mia@example.com"},
	}
}

func TestInvitation_IsWrittenAsInRFC5545(t *testing.T) {
	t.Parallel()
	const (
		head  = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Berth//Bookings//EN\r\nCALSCALE:GREGORIAN\r\nMETHOD:"
		event = "BEGIN:VEVENT\r\nUID:01@berth\r\nSEQUENCE:7\r\nDTSTAMP:20260523T063000Z\r\n" +
			"DTSTART:20260523T073000Z\r\nDTEND:20260523T083000Z\r\nSUMMARY:Yoga\r\nLOCATION:Pier 1\r\nDESCRIPTION:Room 2\r\n" +
			"URL:https://a.example\r\nSTATUS:CONFIRMED\r\n"
		people = "ORGANIZER;CN=\"Harbour\":mailto:hello@example.com\r\n" +
			"ATTENDEE;PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:mia@example.com\r\n"
		end = "END:VEVENT\r\nEND:VCALENDAR\r\n"
	)
	e := calendarEntry()
	got := Invitation(e)
	test.EqOp(t, "REQUEST", string(got.Method))
	test.EqOp(t, head+"REQUEST\r\n"+event+people+end, string(got.Body))
	e.Organizer = delivery.Mailbox{}
	feed := CalendarFeed("Mia", []CalendarEntry{e})
	test.EqOp(t, head+"PUBLISH\r\nNAME:Mia\r\nX-WR-CALNAME:Mia\r\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n"+event+end,
		string(feed))
	e.URL, e.Details, e.Gone = "", "", true
	test.StrNotContains(t, string(Invitation(e).Body), "URL")
	test.EqOp(t, "CANCEL", string(Invitation(e).Method))
	test.StrContains(t, string(Invitation(e).Body), "METHOD:CANCEL\r\n")
	test.StrContains(t, string(Invitation(e).Body), "STATUS:CANCELLED\r\n")
}

func TestCalendarSequence_CountsTenthsOfASecond(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int{
		-time.Second: 0, 0: 0, 99 * time.Millisecond: 0, 100 * time.Millisecond: 1, time.Hour: 36_000,
	} {
		test.EqOp(t, want, CalendarSequence(exampleStart, exampleStart.Add(after)))
	}
}

// Names can add neither properties nor parameters to a calendar.
func TestContentLines_EscapeTextsAndNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\r\nb\rc\nd": `a\nb\nc\nd`, `a\b;c,d`: `a\\b\;c\,d`, "a\x01b\x7fc\td": "abc\td", "a\xffb": "a\ufffdb",
	} {
		var c contentLines
		c.text("NOTE", text)
		test.EqOp(t, "NOTE:"+want+"\r\n", c.String())
	}
	for name, want := range map[string]string{"": "", "Mia": `;CN="Mia"`, "a\"b\nc\x7fd é": `;CN="abcd é"`, `"`: ""} {
		test.EqOp(t, want, commonName(delivery.Mailbox{Name: name}))
	}
}

// A folded line is as long as it can be, and unfolds to what was written.
func TestContentLines_UnfoldToTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé€🎾")), 120, 300, -1).Draw(t, "text")
		var c contentLines
		c.text("NOTE", text)
		must.EqOp(t, "NOTE:"+text+"\r\n", strings.ReplaceAll(c.String(), "\r\n ", ""))
		lines := strings.Split(strings.TrimSuffix(c.String(), "\r\n"), "\r\n")
		for i, line := range lines {
			must.LessEq(t, 75, len(line))
			if i < len(lines)-1 {
				next, _ := strings.CutPrefix(lines[i+1], " ")
				must.Greater(t, 75, len(line)+len(string([]rune(next)[0])))
			}
		}
	})
}
