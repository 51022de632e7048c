// Mirror keeps a CSV file of a tenant's bookings up to date for as long as it runs. It may be stopped at any
// time and in any way, including a kill or a power cut: the next start resumes where it stopped.
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
	url := flag.String("url", "http://127.0.0.1:8080", "the server's URL")
	file := flag.String("file", "bookings.csv", "the file to write; its position in the event log is stored next to it")
	flag.Parse()

	err := untilStopped(berth.New(*url, berth.WithKey(os.Getenv("BERTH_KEY")), berth.WithLogger(log)), *file, log)
	if err != nil {
		log.Error("the mirror failed", slog.Any("error", err))
		os.Exit(1)
	}
}

// untilStopped runs the mirror until it is told to stop.
func untilStopped(client *berth.Client, file string, log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, client, file, log)
	if ctx.Err() != nil {
		return nil // the next start repeats what was in progress
	}
	return err
}
