// Package console holds what `npm run build` makes of the browser apps here, so
// that the server can carry it along.
package console

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var built embed.FS

// Files are the built apps. Where they have not been built they are empty, so
// that Go needs no Node.js.
func Files() fs.FS {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the folder is part of the source
	}
	return files
}
