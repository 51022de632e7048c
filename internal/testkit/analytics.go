package testkit

import "time"

// Utc parses an RFC 3339 time.
func Utc(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}
