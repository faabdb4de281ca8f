package zkserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// figuresPatience is how long a server may take to tell its figures.
const figuresPatience = 5 * time.Second

// Figures returns what the server at an address ("host:port") counts: the lines of its four-letter word mntr that have
// numbers, such as "zk_watch_count". The server must allow the word (4lw.commands.whitelist); an [Ensemble] does.
func Figures(ctx context.Context, addr string) (map[string]float64, error) {
	answer := ask(ctx, addr, "mntr", figuresPatience)
	figures := map[string]float64{}
	for line := range strings.Lines(answer) {
		name, value, _ := strings.Cut(line, "\t")
		if x, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			figures[name] = x
		}
	}
	if len(figures) > 0 {
		return figures, nil
	}
	return nil, fmt.Errorf("%w; is mntr in its 4lw.commands.whitelist?", unexpected(addr, "mntr with figures", answer))
}

// Zxid returns the zxid of the last txn that the server at an address ("host:port") has applied. It asks with the
// four-letter word srvr, which every server allows by default. The txn's notifications to clients are on their way by
// then.
func Zxid(ctx context.Context, addr string) (int64, error) {
	answer := ask(ctx, addr, "srvr", figuresPatience)
	zxid, err := strconv.ParseInt(field(answer, "Zxid: "), 0, 64)
	if err != nil {
		return 0, unexpected(addr, "srvr with a zxid", answer)
	}
	return zxid, nil
}

// unexpected is the error for an unexpected answer of a server.
func unexpected(addr, what, answer string) error {
	first, _, _ := strings.Cut(answer, "\n")
	return fmt.Errorf("zkserver: %s does not answer %s but with %.60q", addr, what, first)
}
