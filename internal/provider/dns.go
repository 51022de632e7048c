package provider

import (
	"context"
	"errors"
	"net"
)

// TXT returns a function that looks up the texts of a name in DNS; none if the name does not exist. It asks the name
// server at an address (host:port), or the system's if that is empty.
func TXT(server string) func(ctx context.Context, name string) ([]string, error) {
	resolver := net.DefaultResolver
	if server != "" {
		resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}}
	}
	return func(ctx context.Context, name string) ([]string, error) {
		// The dot at the end keeps the system from adding the domains in which it searches.
		texts, err := resolver.LookupTXT(ctx, name+".")
		if failed, ok := errors.AsType[*net.DNSError](err); ok && failed.IsNotFound {
			return nil, nil
		}
		return texts, err
	}
}
