package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

var columns = []string{
	"booking_id", "session_id", "member_id", "contact_name", "party_size", "status", "channel", "external_ref",
	"payment_status", "create_time", "cancel_time", "check_in_time",
}

// row is a booking as in the file. Times are RFC 3339 in UTC, empty if there is none.
func row(b *v1.Booking) []string {
	return []string{
		b.GetId(), b.GetSession().GetId(), b.GetMemberId(), b.GetContact().GetName(), strconv.Itoa(int(b.GetPartySize())),
		strings.TrimPrefix(b.GetStatus().String(), "BOOKING_STATUS_"),
		strings.TrimPrefix(b.GetChannel().String(), "CHANNEL_"), b.GetExternalRef(),
		strings.TrimPrefix(b.GetPayment().GetStatus().String(), "PAYMENT_STATUS_"),
		instant(b.GetCreateTime()), instant(b.GetCancelTime()), instant(b.GetCheckInTime()),
	}
}

func instant(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Format(time.RFC3339Nano)
}

// table is a CSV file with one row per booking.
type table struct {
	file string
	rows map[string][]string // by the booking's id
}

func openTable(file string) (*table, error) {
	t := &table{file: file, rows: map[string][]string{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, t.write()
	}
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], columns) {
		return nil, fmt.Errorf("%s is not a mirror of bookings", file)
	}
	for _, record := range records[1:] {
		t.rows[record[0]] = record
	}
	return t, nil
}

// put adds or replaces a booking and reports whether that changed anything.
func (t *table) put(b *v1.Booking) bool {
	next := row(b)
	if slices.Equal(t.rows[b.GetId()], next) {
		return false
	}
	t.rows[b.GetId()] = next
	return true
}

// write replaces the file, oldest booking first. For millions of rows use a database table instead,
// where rows and cursor change in one transaction.
func (t *table) write() error {
	var text bytes.Buffer
	rows := [][]string{columns}
	for _, id := range slices.Sorted(maps.Keys(t.rows)) {
		rows = append(rows, t.rows[id])
	}
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	return replace(t.file, text.Bytes())
}

// cursorFile has the cursor of the last event that is in the file.
func cursorFile(file string) string { return file + ".cursor" }

func readCursor(file string) (string, error) {
	text, err := os.ReadFile(cursorFile(file))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

func writeCursor(file, cursor string) error { return replace(cursorFile(file), []byte(cursor)) }

// replace writes a file so that after a crash it has either the old or the new content, never something in between.
// After it returns, it has the new content.
func replace(file string, content []byte) error {
	next := file + ".new" // after a crash it is overwritten
	if err := writeDurably(next, content); err != nil {
		return err
	}
	if err := os.Rename(next, file); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

func writeDurably(file string, content []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it contains guests' names
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}
