// Mirror keeps a CSV file equal to a tenant's bookings, for as long as it runs. It may be stopped at any
// time and in any way, a kill or a power cut included: the next start goes on where it was.
//
//	BERTH_KEY=berth_… go run ./clients/go/examples/mirror -url https://api.berth.example -file bookings.csv
//
// The key's service account needs the permissions event.read and booking.read.
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/berthhq/berth/clients/go/berth"
)

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	url := flag.String("url", "http://127.0.0.1:8080", "where Berth is")
	file := flag.String("file", "bookings.csv", "the file to keep; the place in the log is kept beside it")
	flag.Parse()

	err := untilStopped(berth.New(*url, berth.WithKey(os.Getenv("BERTH_KEY")), berth.WithLogger(log)), *file, log)
	if err != nil {
		log.Error("the mirror ends", slog.Any("error", err))
		os.Exit(1)
	}
}

// untilStopped runs the mirror until somebody says that it is enough.
func untilStopped(client *berth.Client, file string, log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, client, file, log)
	if ctx.Err() != nil {
		return nil // whatever was under way then is done again by the next start
	}
	return err
}
