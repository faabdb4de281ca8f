package zkserver

import (
	"context"
	"io"
	"net"
	"strings"
	"time"
)

// A server may never answer a connection that it accepts in its first milliseconds, so a probe gives up early and is
// repeated.
const (
	minPatience = 100 * time.Millisecond
	maxPatience = 2 * time.Second
	probeEvery  = 20 * time.Millisecond
)

// mode returns what m serves as ("standalone", "leader", "follower"), or "" if
// it does not serve. (The word ruok is answered too early to tell.)
func (m *member) mode(ctx context.Context, patience time.Duration) string {
	mode := field(ask(ctx, m.addr(), "srvr", patience), "Mode: ")
	if mode == "" {
		return ""
	}
	// Is it ours? The server of another test may have taken the port first, and our process may not have noticed yet.
	if !strings.HasPrefix(field(ask(ctx, m.addr(), "conf", patience), "dataDir="), m.dataDir()) {
		return ""
	}
	return mode
}

// field returns the rest of the line of text that starts with name, or "".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// ask sends a four-letter word and returns the answer, "" if there is none.
func ask(ctx context.Context, addr, word string, patience time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return ""
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })() // also ends the reading
	defer conn.Close()
	if _, err := io.WriteString(conn, word); err != nil {
		return ""
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return ""
	}
	return string(answer)
}
