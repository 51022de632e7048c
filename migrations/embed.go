// Package migrations holds the database's schema as numbered SQL files, applied in order by goose.
package migrations

import "embed"

// FS holds the files.
//
//go:embed *.sql
var FS embed.FS
