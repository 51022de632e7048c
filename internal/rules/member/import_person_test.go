package member_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

type ticket struct {
	csvfile.Row
	Person member.Person
}

var tickets = csvfile.Format[ticket, *ticket]{
	MaxBytes: 10_000, MaxRows: 100, Also: member.PersonAlso(map[string][]string{"name": {"Holder"}}),
	Columns: member.PersonColumns(func(r *ticket) *member.Person { return &r.Person }),
	Header:  member.MissingPerson,
	Row: func(r *ticket, _ csvfile.Cells) {
		if problem := r.Person.Complete(); problem != "" {
			r.AddProblem(fault.InvalidField, "email", "%s", problem)
		}
	},
}

func TestDirectory_FindsWhomARowNames(t *testing.T) {
	t.Parallel()
	ids := make(map[string]tenant.MemberID)
	known := func(who, subject, email, phone, name string) member.Known {
		ids[who] = tenant.New[tenant.MemberID](time.Unix(0, 0))
		return member.Known{ID: ids[who], Subject: subject, Email: email, Phone: phone, Name: name}
	}
	directory := member.NewDirectory([]member.Known{
		known("maeve", "u1", "maeve@example.com", "+353871234567", "maeve kilbride"),
		known("tara", "", "", "+353871234567", "tara kilbride"), // of the same family, so without the address
		known("ana", "", "ana@example.com", "", "ana silva"),
		known("ana 2", "", "ana2@example.com", "", "ana silva"),
		known("jose", "", "", "", "jose munoz"),
	})
	for header, rows := range map[string]map[string]string{
		"email": {
			"MAEVE@example.com": "maeve", "nobody@example.com": "email: No active member has this email.",
			"none": "email: Say whose the row is: by email, phone or name.",
		},
		"Mobile phone": {
			"087 123 4567":     "phone: Several active members have this phone: give the name, too.",
			"+353 87 000 0000": "phone: No active member has this phone.",
			"12":               "phone: \"12\": It is not a phone number in E.164, such as +351912345678.",
		},
		"subject": {"u1": "maeve", "u2": "subject: No active member has this subject."},
		"Client": {
			"José MUÑOZ": "jose", "\"Muñoz, José\"": "jose",
			"Ana Silva": "name: Several active members have this name: give the email or phone, too.",
			"Nobody":    "name: No active member has this name.",
		},
		"Vorname,Nachname,E-Mail": {
			"Maeve,Kilbride,maeve@example.com": "maeve", "Tara,Kilbride,maeve@example.com": "tara",
			"Ana,Silva,ana2@example.com":       "ana 2",
			"Ana,Silva,ana3@example.com":       "name: No active member has this name.",
			"Oisin,Kilbride,maeve@example.com": "name: The active member with this email has another name.",
		},
		"name,email,phone": {
			"Tara Kilbride,,087 123 4567": "tara", "Maeve Kilbride,old@example.com,+353 87 123 4567": "maeve",
			"Ana Silva,ana@example.com,+353 1 234 5678": "ana",
		},
		"first name,email": {"Maeve,-": "name: No active member has this name."},
	} {
		for row, want := range rows {
			found, err := tickets.Parse([]byte(header+"\n"+row+"\n"), nil)
			must.NoError(t, err)
			must.SliceEmpty(t, found.Header, must.Sprint(header))
			r := &found.Rows[0]
			if problem := r.Person.ReadNational([]string{"IE"}); problem != "" {
				r.AddProblem(fault.InvalidField, "phone", "%s", problem)
			}
			var got string
			id, problem := directory.Find(r.Person)
			switch {
			case len(r.Problems) > 0:
				got = r.Problems[0].Column + ": " + r.Problems[0].Message
			case problem != nil:
				test.EqOp(t, fault.MemberNotFound, problem.Reason)
				got = problem.Column + ": " + problem.Message
			default:
				for who := range ids {
					if ids[who] == id {
						got = who
					}
				}
			}
			test.EqOp(t, want, got, test.Sprint(header, ": ", row))
		}
	}
	found, err := tickets.Parse([]byte("plan\nYoga\n"), nil)
	must.NoError(t, err)
	test.SliceLen(t, 1, found.Header)
}
