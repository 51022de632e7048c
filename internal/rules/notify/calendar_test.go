package notify

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestInvitation_RequestsAndCancelsWithRisingSequence(t *testing.T) {
	t.Parallel()
	e := CalendarEntry{
		UID: "01@berth", Sequence: 0, Stamp: exampleStart.Add(-time.Hour), Start: exampleStart,
		End:     exampleStart.Add(time.Hour),
		Summary: "Yoga; slow, \\ deep", Location: "Pier 1\nRoom 2",
		Organizer: Mailbox{`Harbour "Yoga"`, "hello@example.com"}, Attendee: Mailbox{"Mia", "mia@example.com"},
	}
	request := string(Invitation(e).Body)
	for _, want := range []string{
		"METHOD:REQUEST\r\n", "UID:01@berth\r\n", "SEQUENCE:0\r\n", "DTSTART:20260523T073000Z\r\n",
		`SUMMARY:Yoga\; slow\, \\ deep` + "\r\n", `LOCATION:Pier 1\nRoom 2` + "\r\n",
		`ORGANIZER;CN="Harbour Yoga":mailto:hello@example.com` + "\r\n", "STATUS:CONFIRMED\r\n",
	} {
		if !strings.Contains(request, want) {
			t.Errorf("lacks %q:\n%s", want, request)
		}
	}
	made := exampleStart.Add(-48 * time.Hour)
	e.Sequence, e.Gone = CalendarSequence(made, made.Add(150*time.Millisecond)), true
	gone := Invitation(e)
	if gone.Method != Cancel {
		t.Errorf("method %s", gone.Method)
	}
	for _, want := range []string{"METHOD:CANCEL\r\n", "SEQUENCE:1\r\n", "STATUS:CANCELLED\r\n"} {
		if !strings.Contains(string(gone.Body), want) {
			t.Errorf("lacks %q:\n%s", want, gone.Body)
		}
	}
}

func TestContentLines_FoldAt75OctetsBetweenCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var c contentLines
		c.text("SUMMARY", text)
		folded := c.String()
		for line := range strings.SplitSeq(folded, "\r\n") {
			if len(line) > 75 || !utf8.ValidString(line) {
				t.Fatalf("%d octets: %q", len(line), line)
			}
		}
		if strings.Count(folded, "\n") != strings.Count(folded, "\r\n") {
			t.Fatalf("a bare line feed in %q", folded)
		}
		if text != "" && !strings.HasPrefix(strings.ReplaceAll(folded, "\r\n ", ""), "SUMMARY:") {
			t.Fatalf("%q", folded)
		}
	})
}
