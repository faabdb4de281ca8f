package reports

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/internal/files"
	"zksim/model/history"
)

// MaxHistoryLine bounds a line of history.jsonl. The longest ones have the names that a server has listed: a recorder
// of real traffic follows answers of up to 64 MB, and JSON takes two bytes for a quotation mark.
const MaxHistoryLine = 128 << 20

// maxClient bounds the numbers of clients in a history that is read.
const maxClient = 1 << 20

// record is any line of history.jsonl.
type record struct {
	event
	Where string   `json:"where"`
	Paths []string `json:"paths"`
	Owner string   `json:"owner"`
	Czxid int64    `json:"czxid"`
	Lines int      `json:"lines"`
}

// endKind is the kind of the last line of a history.
const endKind = "end"

// ReadHistory reads what [WriteHistory] has written. What that does not write is unknown: how the run ended, which
// sessions are open, which znodes recipe objects answer for. The recording of a served ensemble may follow; ReadHistory
// does not read it. A history that was cut off is an error. An error names the line and what was expected.
func ReadHistory(r io.Reader) (*history.History, error) {
	h := &history.History{}
	h.Reset(0)
	h.Outcome = history.Stopped
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxHistoryLine)
	n, ended := 0, false
reading:
	for lines.Scan() {
		var x record
		var odd *json.UnmarshalTypeError // such as a number that is too large
		err := files.Unmarshal(lines.Bytes(), &x)
		switch {
		case ended && x.Kind == "recording":
			break reading
		case x.Kind == "recording":
			err = errors.New(`expected the end of the history, {"kind":"end",...}, before a recording`)
		case errors.As(err, &odd) && odd.Field != "":
			field := odd.Field[strings.LastIndexByte(odd.Field, '.')+1:]
			err = fmt.Errorf("in %q there is the %s, expected one of type %v", field, odd.Value, odd.Type)
		case x.Kind == "":
			err = fmt.Errorf("a history has an object with a \"kind\" in each line, not %.60q", lines.Text())
		case err != nil:
			err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
		case ended:
			err = errors.New("expected nothing behind the end of the history")
		case x.Kind != endKind:
			err = x.addTo(h)
		case x.Lines != n:
			err = fmt.Errorf("the history has %d lines before its end, expected %d", n, x.Lines)
		default:
			ended = true
		}
		n++
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: no line of a history is longer than %d bytes", n+1, MaxHistoryLine)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	case n == 0:
		return nil, errors.New("line 1: a history has an object with a \"kind\" in each line; the file is empty")
	case !ended:
		return nil, fmt.Errorf(`line %d: the history was cut off, expected that its last line is {"kind":"end",...}`, n+1)
	}
	h.Finished = make([]bool, h.Clients+1)
	return h, nil
}

// addTo adds a line to a history.
func (x *record) addTo(h *history.History) error {
	c, err := clientNumber(x.Client)
	if err != nil {
		return err
	}
	h.Clients = max(h.Clients, int(c))
	switch x.Kind {
	case "waiting":
		h.Waiting = append(h.Waiting, history.Waiting{Client: c, Where: x.Where, Paths: x.Paths})
		return nil
	case "znode":
		owner, err := number64("owner", x.Owner)
		h.Tree = append(h.Tree, history.Node{Path: x.Path, Owner: owner, Czxid: x.Czxid})
		return err
	}
	kind, known := history.KindOf(x.Kind)
	if !known {
		return fmt.Errorf("no kind of event is called %.60q, expected one of %s, waiting or znode", x.Kind,
			strings.Join(history.KindNames(), ", "))
	}
	session, err := number64("session", x.Session)
	if err != nil {
		return err
	}
	e := history.Event{Kind: kind, OK: x.OK, Proposed: x.Proposed, Client: c, Object: x.Object, Step: x.Step,
		Version: x.Version, Task: x.Task, Zxid: x.Zxid, Value: x.Value, Session: session, Op: x.Op, Path: x.Path,
		Data: x.Data}
	if len(x.Bytes) > 0 {
		e.Data = string(x.Bytes)
	}
	if x.Err != "" {
		e.Err = errorOf(x.Err)
	}
	h.Add(e)
	h.Steps = max(h.Steps, int(x.Step))
	return nil
}

// clientNumber reads a name such as "c1"; "" is none.
func clientNumber(name string) (int32, error) {
	if name == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(name, "c"), 10, 32)
	if err != nil || n < 1 || n > maxClient || name[0] != 'c' {
		return 0, fmt.Errorf("a client is c1 to c%d, not %.60q", maxClient, name)
	}
	return int32(n), nil
}

func number64(what, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is a number of 64 bits, as 0x1001, not %.60q", what, text)
	}
	return int64(n), nil
}

// knownErrors are the errors that others compare with.
var knownErrors = []error{zk.ErrConnectionClosed, zk.ErrClosing, zk.ErrNoServer, zk.ErrUnknown, zk.ErrAPIError,
	zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists, zk.ErrNotEmpty,
	zk.ErrSessionExpired, zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrSessionMoved, zk.ErrBadArguments}

// errorOf returns an error with that text: ZooKeeper's own if there is one.
func errorOf(text string) error {
	for _, err := range knownErrors {
		if err.Error() == text {
			return err
		}
	}
	return errors.New(text)
}
