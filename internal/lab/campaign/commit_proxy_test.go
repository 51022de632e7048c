package campaign

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// message returns a message of the Postgres protocol, from a client.
func message(kind byte, parts ...string) []byte {
	var body []byte
	for _, part := range parts {
		body = append(append(body, part...), 0)
	}
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

func TestCommitProxy_ResetsConnectionRightAfterCommit(t *testing.T) {
	t.Parallel()
	parse, sync := message('P', "s1", "commit"), message('S')
	for name, tt := range map[string]struct {
		armed  int32
		sent   [][]byte
		passed int // of the sent messages
	}{
		"a query": {1, [][]byte{message('Q', "select 1"), message('Q', "commit"), message('Q', "select 2")}, 2},
		"prepared": {1, [][]byte{
			parse, sync, message('B', "", "s1"), message('E', ""), sync, message('Q', "select 2"),
		}, 5},
		"another was prepared": {1, [][]byte{
			message('P', "s1", "select 1"), sync, message('B', "", "s1"), message('E', ""), sync, message('Q', "select 2"),
		}, 6},
		"not armed":             {0, [][]byte{message('Q', "commit"), message('Q', "select 2")}, 2},
		"prepared and not used": {1, [][]byte{parse, sync, message('Q', "select 2")}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			postgres, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer postgres.Close()
			w, err := newCommitProxy(postgres.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer w.close()
			w.armed.Store(tt.armed)
			client, err := new(net.Dialer).DialContext(t.Context(), "tcp", w.address())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			server, err := postgres.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()

			startup := message(0, "user")[1:]
			sent := append(bytes.Clone(startup), bytes.Join(tt.sent, nil)...)
			want := append(bytes.Clone(startup), bytes.Join(tt.sent[:tt.passed], nil)...)
			if _, err := client.Write(sent); err != nil {
				t.Fatal(err)
			}
			broken := tt.passed < len(tt.sent)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(server, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q came through, %v", got, err)
			}
			if !broken {
				client.Close()
			}
			if rest, _ := io.ReadAll(server); len(rest) > 0 {
				t.Errorf("%q came through after it", rest)
			}
			if n := w.cut.Load(); (n == 1) != broken {
				t.Errorf("%d connections were cut", n)
			}
		})
	}
}
