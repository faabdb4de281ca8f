package serve

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"zksim/reports"
)

// The control channel is HTTP with JSON, for tests in any language. docs/serve.md shows each request with curl.

// Answer is the answer to every request except GET: whether it was carried out, and what has struck so far.
type Answer struct {
	Error  string     `json:"error,omitempty"` // empty: it was carried out
	Struck []Strike   `json:"struck"`
	Rules  []Rule     `json:"rules"`
	Judged *Judgement `json:"judged,omitempty"` // by reset: of the time before it
}

const (
	maxOrder       = 64 << 10
	controlTimeout = 10 * time.Second
	maxAnswers     = 2
)

// Control opens the control channel at an address and returns its URL. An address that is not on loopback needs a
// token, which every request must send in its header Authorization, after "Bearer ". The channel ends with the
// ensemble.
func (e *Ensemble) Control(addr, token string) (url string, err error) {
	if err := private(addr, token, "control channel"); err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("serve: control channel: %w", err)
	}
	return e.serveHTTP(l, e.Handler(token))
}

// private returns an error if the address is not on loopback and there is no token.
func private(addr, token, what string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("serve: %s %q, expected host:port: %w", what, addr, err)
	}
	if token == "" && !local(addr) {
		return fmt.Errorf("serve: %s %q is not on loopback, expected a token for it", what, addr)
	}
	return nil
}

// serveHTTP serves on a listener until the ensemble is closed, and closes it.
func (e *Ensemble) serveHTTP(l net.Listener, h http.Handler) (url string, err error) {
	server := &http.Server{Handler: h, ReadTimeout: controlTimeout, IdleTimeout: controlTimeout,
		MaxHeaderBytes: maxOrder}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		l.Close()
		return "", ErrClosed
	}
	e.running.Add(2)
	go func() {
		defer e.running.Done()
		server.Serve(l)
	}()
	go func() {
		defer e.running.Done()
		<-e.done
		server.Close()
	}()
	return "http://" + reachable(l), nil
}

// Handler returns the control channel, for use in the caller's own HTTP server. Pages of other sites in a browser have
// no access. With a token, each request needs it. Without one, each request must go to localhost or a loopback address.
func (e *Ensemble) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	names := "GET /state /judge /history, POST"
	for _, name := range []string{"/state", "/judge", "/history"} {
		mux.HandleFunc(name, absent(http.StatusMethodNotAllowed, "GET"))
	}
	for _, o := range orders {
		names += " /" + o.name
		mux.HandleFunc("/"+o.name, absent(http.StatusMethodNotAllowed, "POST"))
		mux.HandleFunc("POST /"+o.name, func(w http.ResponseWriter, r *http.Request) {
			var judged *Judgement
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
			if err == nil {
				judged, err = o.obey(r.Context(), e, string(body))
			}
			e.answer(w, judged, err)
		})
	}
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, e.State()) })
	mux.HandleFunc("GET /judge", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, e.Judge()) })
	mux.HandleFunc("GET /history", func(w http.ResponseWriter, _ *http.Request) {
		h, forgotten := e.History()
		w.Header().Set("Content-Type", "application/jsonl")
		w.Header().Set("Zksim-Forgotten", strconv.Itoa(forgotten))
		reports.WriteHistory(w, h)
	})
	mux.HandleFunc("/", absent(http.StatusNotFound, names))
	return guarded(mux, token)
}

// absent answers requests that the control channel does not have.
func absent(status int, expected string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text := fmt.Sprintf("%s %.60q, expected %s", r.Method, r.URL.Path, expected)
		write(w, status, Answer{Error: text, Struck: []Strike{}, Rules: []Rule{}})
	}
}

// guarded passes on requests that come from a test, not from a page in a browser, and have the token. It handles only a
// few requests with possibly long answers at a time: clients of the ensemble wait for each, and it takes memory until
// it is read.
func guarded(h http.Handler, token string) http.Handler {
	slots := make(chan struct{}, maxAnswers)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = slowly{w, controlTimeout}
		bearer := []byte("Bearer " + token)
		switch {
		case r.Header.Get("Origin") != "":
			http.Error(w, "no pages of a browser", http.StatusForbidden)
		case token == "" && !local(r.Host): // a page whose host name points to this machine sends no Origin with a GET
			http.Error(w, "expected a request to localhost or to an address of loopback", http.StatusForbidden)
		case token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), bearer) == 0:
			http.Error(w, "expected the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
		case r.Method == http.MethodPost:
			h.ServeHTTP(w, r)
		default:
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				h.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		}
	})
}

// slowly lets a client read as slowly as it likes, as long as it reads something within each timeout.
type slowly struct {
	http.ResponseWriter
	timeout time.Duration
}

func (s slowly) Write(b []byte) (n int, err error) {
	c := http.NewResponseController(s.ResponseWriter)
	for part := range slices.Chunk(b, maxOrder) {
		c.SetWriteDeadline(time.Now().Add(s.timeout))
		m, err := s.ResponseWriter.Write(part)
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// local reports whether the host of a request, with or without a port, is localhost or a loopback address.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// answer reports whether an order was carried out.
func (e *Ensemble) answer(w http.ResponseWriter, judged *Judgement, err error) {
	a, status := Answer{Judged: judged}, http.StatusOK
	a.Struck, a.Rules = e.Strikes()
	if a.Struck == nil {
		a.Struck = []Strike{}
	}
	if err != nil {
		a.Error, status = err.Error(), http.StatusBadRequest
		if errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
			status = http.StatusServiceUnavailable
		}
	}
	write(w, status, a)
}

func write(w http.ResponseWriter, status int, x any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.Encode(x)
}
