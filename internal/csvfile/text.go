package csvfile

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// text returns a file as UTF-8, without byte order mark, its lines ended by a line feed. If its first line names the
// separator, as spreadsheets write it, that line is left out.
func (f *Format[R, P]) text(file []byte) (text []byte, separator rune, err error) {
	switch {
	case len(file) > f.MaxBytes:
		return nil, 0, invalid(
			"The file is larger than %d bytes.", f.MaxBytes,
		).WithMetadata("max_bytes", strconv.Itoa(f.MaxBytes))
	case bytes.HasPrefix(file, []byte("PK\x03\x04")), bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0")):
		return nil, 0, invalid("The file is a spreadsheet: save it as CSV.")
	}
	text, err = decode(file)
	if err != nil {
		return nil, 0, err
	}
	if !bytes.Contains(text, []byte("\n")) {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n")) // classic Mac
	}
	return cutSeparator(text)
}

// decode returns a file as UTF-8. A file without byte order mark that is no UTF-8 is read as Windows-1252, in which
// Latin-1 is contained. If most of its letters outside of ASCII are UTF-8, it is left as it is: its other cells are
// broken, and are refused one by one.
func decode(file []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(file, []byte("\xef\xbb\xbf")):
		return file[3:], nil
	case bytes.HasPrefix(file, []byte("\xff\xfe")):
		return decode16(file[2:], binary.LittleEndian)
	case bytes.HasPrefix(file, []byte("\xfe\xff")):
		return decode16(file[2:], binary.BigEndian)
	case len(file) > 1 && file[0] != 0 && file[1] == 0:
		return decode16(file, binary.LittleEndian)
	case len(file) > 1 && file[0] == 0 && file[1] != 0:
		return decode16(file, binary.BigEndian)
	}
	if right, wrong := countLetters(file); wrong == 0 || right > wrong {
		return file, nil
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(file)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return file, nil //nolint:nilerr // bytes without a character in Windows-1252 are refused in their cells
	}
	return text, nil
}

// countLetters counts the characters outside of ASCII, and the bytes that are no UTF-8.
func countLetters(text []byte) (right, wrong int) {
	for len(text) > 0 {
		char, size := utf8.DecodeRune(text)
		switch {
		case char == utf8.RuneError && size == 1:
			wrong++
		case size > 1:
			right++
		}
		text = text[size:]
	}
	return right, wrong
}

// decode16 reads UTF-16 without byte order mark.
func decode16(file []byte, order binary.ByteOrder) ([]byte, error) {
	units := make([]uint16, 0, len(file)/2)
	for n := 0; n+1 < len(file); n += 2 {
		units = append(units, order.Uint16(file[n:]))
	}
	text := []byte(string(utf16.Decode(units)))
	if before, _, broken := bytes.Cut(text, []byte(string(utf8.RuneError))); broken || len(file)%2 != 0 {
		return nil, invalid("Line %d is not UTF-16, though the file begins so: save it as CSV in UTF-8.",
			1+bytes.Count(before, []byte("\n")))
	}
	return text, nil
}

// separatorLine is a first line that names the separator. Programs that save the file again can put the line in
// quotation marks, and cells behind it.
var separatorLine = regexp.MustCompile(`^(?i:"?sep=([^\r\n]?)"?)[,;\t|]*\r?(?:\n|$)`)

// cutSeparator leaves out a first line that names the separator.
func cutSeparator(text []byte) ([]byte, rune, error) {
	found := separatorLine.FindSubmatch(text)
	if found == nil {
		return text, 0, nil
	}
	separator, _ := utf8.DecodeRune(found[1])
	if !isSeparator(separator) {
		return nil, 0, invalid("Line 1 names the separator %s, but cells are separated by one of , ; | or a tab: "+
			"delete the line, or save the file as CSV.", Quote(string(found[1])))
	}
	return text[len(found[0]):], separator, nil
}
