package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLongAnswersAreMadeAFewAtATime(t *testing.T) {
	var now, most atomic.Int32
	release := make(chan struct{})
	h := guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			close(release)
			return
		}
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		now.Add(-1)
	}), "")
	serve := func(method string) {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "http://localhost/", nil))
	}
	var wg sync.WaitGroup
	for range 10 * maxAnswers {
		wg.Go(func() { serve("GET") })
	}
	for now.Load() < maxAnswers {
		time.Sleep(time.Millisecond)
	}
	serve("POST") // an order does not wait for them
	wg.Wait()
	if n := most.Load(); n != maxAnswers {
		t.Errorf("%d at a time, expected %d", n, maxAnswers)
	}
}

func TestAnAnswerOfWhichNothingIsReadEnds(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := slowly{w, 100 * time.Millisecond}.Write(make([]byte, 64<<20))
		ended <- err
	}))
	defer server.Close()
	sock, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer sock.Close()
	fmt.Fprint(sock, "GET / HTTP/1.0\r\n\r\n")
	if err := <-ended; err == nil {
		t.Error("64 MB were written to somebody who does not read")
	}
	n, err := io.Copy(io.Discard, sock)
	if n == 0 {
		t.Error("nothing came: ", err)
	}
}
