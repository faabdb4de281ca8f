package serve

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"zksim/reports"
)

// The control channel is HTTP with JSON, for tests in any language. docs/serve.md has each request with curl.

// Answer is what every request gets that is no GET: whether it was done, and what has struck so far.
type Answer struct {
	Error  string   `json:"error,omitempty"` // empty: it was done
	Struck []Strike `json:"struck"`
	Rules  []Rule   `json:"rules"`
}

// order is the body of a request, in JSON; as text it is a plan, or the name of a client or server.
type order struct {
	Plan    string `json:"plan"`    // faults
	Client  int    `json:"client"`  // expire: 1 for c1
	Session string `json:"session"` // expire: its id, as 0x1001
	Server  int    `json:"server"`  // stop, continue, kill: 1 for s1
	Calm    int64  `json:"ms"`      // quiet: for how long nothing must have come, milliseconds; 0: 20
	Report  string `json:"violation"`
}

// violation is what a test reports, in JSON or as text.
func (o *order) violation() string { return cmp.Or(o.Report, o.Plan) }

const (
	maxOrder       = 64 << 10
	usualCalm      = 20
	maxCalm        = 60_000
	controlTimeout = 10 * time.Second
)

// Control opens the control channel at an address, and returns its URL. At an address that is not of loopback it needs
// a token, which every request has to have in its header Authorization, after "Bearer ". It ends with the ensemble.
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

// private returns an error for an address that is not of loopback and has no token.
func private(addr, token, what string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("serve: %s %q, expected host:port: %w", what, addr, err)
	}
	if token == "" && !local(addr) {
		return fmt.Errorf("serve: %s %q is not on loopback, expected a token for it", what, addr)
	}
	return nil
}

// serveHTTP serves on a port, which it closes, until the ensemble is closed.
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

// Handler is the control channel, for a server of the caller's. Pages of other sites that a browser shows have no
// access. With a token, each request needs it; without, one has to be to localhost or to an address of loopback.
func (e *Ensemble) Handler(token string) http.Handler {
	mux := http.NewServeMux()
	for name, f := range map[string]func(ctx context.Context, o *order) error{
		"report":   func(_ context.Context, o *order) error { return e.Report(o.violation()) },
		"faults":   func(_ context.Context, o *order) error { return e.Strike(o.Plan) },
		"expire":   func(_ context.Context, o *order) error { return e.expireOrdered(o) },
		"stop":     func(_ context.Context, o *order) error { return e.Stop(o.Server) },
		"kill":     func(_ context.Context, o *order) error { return e.Kill(o.Server) },
		"elect":    func(context.Context, *order) error { return e.Elect() },
		"reset":    func(context.Context, *order) error { return e.Reset() },
		"quiet":    e.quietOrdered,
		"continue": func(_ context.Context, o *order) error { return e.Continue(o.Server) },
	} {
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) {
			o, err := read(http.MaxBytesReader(w, r.Body, maxOrder))
			if err == nil {
				err = f(r.Context(), o)
			}
			e.answer(w, err)
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
	return guarded(mux, token)
}

// guarded lets pass what comes from a test, not from a page in a browser, and has the token.
func guarded(h http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer := []byte("Bearer " + token)
		switch {
		case r.Header.Get("Origin") != "":
			http.Error(w, "no pages of a browser", http.StatusForbidden)
		case token == "" && !local(r.Host): // a page whose name was made to mean this machine sends no Origin with a GET
			http.Error(w, "expected a request to localhost or to an address of loopback", http.StatusForbidden)
		case token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), bearer) == 0:
			http.Error(w, "expected the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// local reports whether the host of a request, with or without a port, is localhost or an address of loopback.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// read reads the body of a request: JSON, or the text of a plan, or the name of a client or server.
func read(body io.Reader) (*order, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("the body of the request: %w", err)
	}
	s, o := strings.TrimSpace(string(text)), &order{}
	if strings.HasPrefix(s, "{") {
		d := json.NewDecoder(strings.NewReader(s))
		d.DisallowUnknownFields()
		if err := d.Decode(o); err != nil {
			return nil, fmt.Errorf("the body of the request, expected JSON as {\"plan\": ...}: %w", err)
		}
		if _, err := d.Token(); err != io.EOF {
			return nil, errors.New("the body of the request, expected nothing after the JSON")
		}
		return o, nil
	}
	o.Plan = s
	if s != "" {
		n, _ := strconv.Atoi(s[1:])
		switch {
		case strings.HasPrefix(s, "c"):
			o.Client = n
		case strings.HasPrefix(s, "0x"):
			o.Session = s
		case strings.HasPrefix(s, "s"):
			o.Server = n
		}
	}
	return o, nil
}

func (e *Ensemble) expireOrdered(o *order) error {
	if o.Session == "" {
		return e.Expire(o.Client)
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(o.Session, "0x"), 16, 64)
	if err != nil {
		return fmt.Errorf("serve: session %q, expected one as 0x1001", o.Session)
	}
	return e.ExpireSession(id)
}

func (e *Ensemble) quietOrdered(ctx context.Context, o *order) error {
	if o.Calm < 0 || o.Calm > maxCalm {
		return fmt.Errorf("serve: quiet for %d ms, expected 0 to %d", o.Calm, maxCalm)
	}
	calm := o.Calm
	if calm == 0 {
		calm = usualCalm
	}
	return e.Quiet(ctx, time.Duration(calm)*time.Millisecond)
}

// answer says whether an order was carried out.
func (e *Ensemble) answer(w http.ResponseWriter, err error) {
	a, status := Answer{}, http.StatusOK
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
