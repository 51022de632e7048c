// Package migrations has the database schema as numbered SQL files, which goose applies in order.
package migrations

import "embed"

// FS contains the files.
//
//go:embed *.sql
var FS embed.FS
