package member_test

import (
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
)

// For any file: ParseImport does not panic, and each row without a problem is a member who can be stored.
func FuzzParseImport(f *testing.F) {
	for _, file := range []string{
		"name,email,phone,tags\nAda,ada@example.com,+4915112345678,a;b\n",
		"Name;Time Zone;Locale\r\nAda;Europe/Lisbon;pt\r\n",
		"\ufeffname\tsubject\n=1+1\t\x00\n", "name\rAda", "\"name\nAda", "name,email\nA,a@b.c\nB,A@B.C\n",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		found, err := member.ParseImport(file)
		if err != nil {
			must.EqOp(t, fault.ImportInvalid, fault.ReasonOf(err), must.Sprint(err))
			return
		}
		for _, row := range found.Rows {
			if len(row.Problems) > 0 || len(found.Header) > 0 {
				continue
			}
			_, err := row.Member.Normalize()
			must.NoError(t, err, must.Sprintf("%+v", row.Member))
			must.True(t, utf8.ValidString(row.Member.Name))
		}
	})
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{1,14}$`)

// For any text: a number that Phone returns is in E.164, and the same when it is read again.
func FuzzPhone(f *testing.F) {
	for _, text := range []string{
		"+351 912 345 678", "+49 (0) 151-1234567", "+1-800-FLOWERS", "00351912345678",
		"+4915112345678;ext=5", "tel:+1", "+٣٥١٩١٢٣٤٥٦٧٨", "+",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		number := member.Phone(text)
		if number == "" {
			return
		}
		must.RegexMatch(t, e164, number)
		must.EqOp(t, number, member.Phone(number))
	})
}
