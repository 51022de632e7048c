// Package regex compiles the regular expressions that tenants enter, if they are small. Repetitions in repetitions, as
// in ((a{10}){10}){10}, are short to write: what counts is the size of the program that they become.
package regex

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// MaxSize is the maximum size of a regular expression, as Size counts it. Such a one compiles within 1 ms.
const MaxSize = 1_000

// maxLength is the maximum length of a regular expression in bytes. It bounds the time to parse it.
const maxLength = 1_000

// ErrTooLarge means that a regular expression is too long, or becomes too large a program.
var ErrTooLarge = errors.New("regex: the regular expression is too large")

// Compile compiles a regular expression (RE2). It refuses one that is too large without compiling it: ErrTooLarge.
func Compile(text string) (*regexp.Regexp, error) {
	if _, err := Size(text); err != nil {
		return nil, err
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("regex: %w", err)
	}
	return compiled, nil
}

// Size returns at least the number of instructions that a regular expression becomes, without compiling it. A class of
// characters counts more, by the number of its ranges. The error is ErrTooLarge, or that of the syntax.
func Size(text string) (int, error) {
	if len(text) > maxLength {
		return 0, ErrTooLarge
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("regex: %w", err)
	}
	size := 2 + sizeOf(parsed) // a program begins with a failure, and ends with the match
	if size > MaxSize {
		return 0, ErrTooLarge
	}
	return size, nil
}

// rangesPerStep is how many ranges of a class count as one instruction.
const rangesPerStep = 8

// sizeOf returns the size of a part, and more than MaxSize if it is larger.
func sizeOf(re *syntax.Regexp) int {
	size := 0
	for _, sub := range re.Sub {
		if size += sizeOf(sub); size > MaxSize {
			break
		}
	}
	switch re.Op { //nolint:exhaustive // the others are the sum of their parts, or one instruction
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCharClass:
		size = 1 + len(re.Rune)/2/rangesPerStep
	case syntax.OpCapture, syntax.OpStar: // a star can be an optional plus
		size += 2
	case syntax.OpPlus, syntax.OpQuest:
		size++
	case syntax.OpAlternate:
		size += len(re.Sub) - 1
	case syntax.OpRepeat:
		switch {
		case re.Max >= 0: // x{2,4} is xx(x(x)?)?
			size = re.Max*size + re.Max - re.Min
		case re.Min == 0:
			size += 2
		default: // x{2,} is xx+
			size = re.Min*size + 1
		}
	}
	return min(max(size, 1), MaxSize+1)
}
