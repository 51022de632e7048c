// Package dnstest is a fake name server, which speaks DNS over UDP on the loopback interface.
package dnstest

import (
	"net"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Server is a name server that knows TXT records.
type Server struct {
	Address string // host:port

	conn net.PacketConn
	done sync.WaitGroup

	mu     sync.Mutex
	texts  map[string][]string
	broken bool
}

// Start starts a server. Close stops it.
func Start() (*Server, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &Server{Address: conn.LocalAddr().String(), conn: conn, texts: make(map[string][]string)}
	s.done.Go(s.serve)
	return s, nil
}

// Close stops the server.
func (s *Server) Close() {
	_ = s.conn.Close()
	s.done.Wait()
}

// Set sets the texts of a name. Without any, the name does not exist.
func (s *Server) Set(name string, texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[strings.ToLower(name)] = texts
}

// Break makes the server fail, or work again.
func (s *Server) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

func (s *Server) serve() {
	buffer := make([]byte, 4096)
	for {
		n, from, err := s.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if answer, err := s.answer(m); err == nil {
			_, _ = s.conn.WriteTo(answer, from)
		}
	}
}

func (s *Server) answer(m dnsmessage.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Response, m.Additionals = true, nil
	question := m.Questions[0]
	texts := s.texts[strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))]
	switch {
	case s.broken:
		m.RCode, texts = dnsmessage.RCodeServerFailure, nil
	case len(texts) == 0:
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, text := range texts {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeTXT, Class: question.Class},
			Body:   &dnsmessage.TXTResource{TXT: split(text)},
		})
	}
	return m.Pack()
}

// split returns a text as the strings of a record, which are at most 255 bytes long.
func split(text string) []string {
	const most = 255
	var parts []string
	for len(text) > most {
		parts, text = append(parts, text[:most]), text[most:]
	}
	return append(parts, text)
}
