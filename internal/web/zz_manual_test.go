package web

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

func TestZZManual(t *testing.T) {
	s := newStudio(t)
	s.exec(`update sessions set title = 'Vinyasa Flow'`)
	began := time.Now()
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			s.now.Store(new(class.Add(-10 * time.Minute).Add(time.Since(began))))
		}
	}()
	names := []string{"Mia Meyer", "Noa Nowak", "Anna-Lena Özdemir", "王 小明", "Leo Löwe", "Zoe Zahn", "Emil Ernst", "Ida Iversen", "Ada Lovelace", "Christopher Longname"}
	for i, n := range names {
		s.guest(n, 1+i%3/2*2, new(class.Add(time.Duration(i-30)*time.Minute)))
	}
	s.guest("Late Comer", 4, nil)
	l, err := net.Listen("tcp", "127.0.0.1:8765")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/display/", s.pages)
	mux.HandleFunc("/link", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, s.link()) })
	mux.HandleFunc("/open", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.link(), 302) })
	mux.HandleFunc("/arrive", func(w http.ResponseWriter, r *http.Request) { s.guest(r.URL.Query().Get("name"), 1, new(s.now.Load().Add(0))) })
	mux.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) { s.exec(`update sessions set starts_at = starts_at + interval '3 days', ends_at = ends_at + interval '3 days'`) })
	mux.HandleFunc("/off", func(w http.ResponseWriter, r *http.Request) { s.exec(`update sessions set state = 'CANCELLED'`) })
	fmt.Fprintln(os.Stderr, "ready")
	srv := &http.Server{Handler: mux}
	mux.HandleFunc("/quit", func(w http.ResponseWriter, r *http.Request) { go srv.Close() })
	go func() { time.Sleep(9 * time.Minute); srv.Close() }()
	srv.Serve(l)
}
