package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"
)

// serveCommand runs one node of a fleet.
type serveCommand struct {
	databaseConfig `embed:""`
	keyConfig      `embed:""`
	listenConfig   `embed:""`
	logConfig      `embed:""`
}

// Run implements kong's command.
func (c *serveCommand) Run(ctx context.Context, to *console) error {
	if err := c.needed(); err != nil {
		return err
	}
	spareMemory()
	log := c.logger(to)
	listener, err := c.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	n, err := openNode(ctx, log, c.URL, c.keyConfig, c.listenConfig)
	if err != nil {
		return err
	}
	defer n.close()
	log.InfoContext(ctx, "serving", slog.String("address", listener.Addr().String()), slog.String("version", version()))
	return n.serve(ctx, listener, nil)
}

// listen takes the address before anything else is started, and says what to do
// where somebody else has it.
func (c *listenConfig) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another program, perhaps by another berth; stop that, or choose another address: --listen 127.0.0.1:0 takes any that is free", c.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", c.Listen, err)
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://" + reachable(listener.Addr())
	}
	return listener, nil
}

// reachable gives an address that this machine itself can call.
func reachable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return address.String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
}
