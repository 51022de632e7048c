// Package civiltest makes dates and times of day for tests.
package civiltest

import "github.com/berthhq/berth/internal/civil"

// Date parses a date, such as 2026-03-18. It panics if the text is not one.
func Date(text string) civil.Date { return must(civil.ParseDate(text)) }

// TimeOfDay parses a time of day, such as 07:30. It panics if the text is not one.
func TimeOfDay(text string) civil.TimeOfDay { return must(civil.ParseTimeOfDay(text)) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
