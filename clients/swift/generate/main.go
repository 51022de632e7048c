// Command generate renews the generated code of the Swift client, and reports whether it is out of date.
//
//	go run ./clients/swift/generate         # renew the code and its digests
//	go run ./clients/swift/generate check   # list the .proto files that have changed since then
//
// Run it at the root of the repository. It uses the plugins protoc-gen-swift and protoc-gen-connect-swift if both are
// on the PATH, and buf's remote plugins otherwise.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	switch mode {
	case "":
		return renew(ctx, ".", out)
	case "check":
		return check(ctx, ".", out)
	case "digest": // as a plugin of buf
		return servePlugin(in, out, digest)
	case "nothing": // as a plugin of buf
		return servePlugin(in, out, nothing)
	}
	return errors.New("usage: generate [check]")
}
