package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// order is a POST request of the control channel.
type order struct {
	name  string
	takes []argument // fields of JSON; a text body is the first one that it fits
	run   func(ctx context.Context, e *Ensemble, f *arguments) (*Judgement, error)
}

// arguments are the fields that orders take.
type arguments struct {
	Plan      string `json:"plan"`
	Client    int    `json:"client"`  // 1 for c1
	Session   *int64 `json:"session"` // its id
	Server    int    `json:"server"`  // 1 for s1
	Calm      int64  `json:"ms"`      // how long nothing must have come, in milliseconds
	Violation string `json:"violation"`
}

// argument is a JSON field that orders take.
type argument struct {
	name    string
	text    func(f *arguments, text string) error // reads it from a text body
	expects string
	sample  string // as JSON
	blank   bool   // the order itself accepts or refuses its absence
}

var (
	planArg = argument{"plan", func(f *arguments, s string) error { f.Plan = s; return nil }, "a plan",
		`{"plan": "lose-reply=1"}`, true}
	violationArg = argument{"violation", func(f *arguments, s string) error { f.Violation = s; return nil },
		"a violation", `{"violation": "two hold the lock"}`, true}
	clientArg = argument{"client", func(f *arguments, s string) error { return numbered(s, "c", &f.Client) }, "c1",
		`{"client": 1}`, false}
	serverArg = argument{"server", func(f *arguments, s string) error { return numbered(s, "s", &f.Server) }, "s1",
		`{"server": 1}`, false}
	sessionArg = argument{"session", func(f *arguments, s string) error {
		digits, ok := strings.CutPrefix(s, "0x")
		n, err := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil {
			return cmp.Or(err, strconv.ErrSyntax)
		}
		id := int64(n)
		f.Session = &id
		return nil
	}, "0x1001", `{"session": "0x1001"}`, false}
	calmArg = argument{"ms", func(f *arguments, s string) (err error) {
		f.Calm, err = strconv.ParseInt(s, 10, 64)
		return err
	}, "milliseconds as 20", `{"ms": 20}`, true}
)

// numbered reads the number of a client or a server.
func numbered(s, letter string, n *int) (err error) {
	digits, ok := strings.CutPrefix(s, letter)
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return strconv.ErrSyntax
	}
	*n, err = strconv.Atoi(digits)
	return err
}

const (
	usualCalm = 20
	maxCalm   = 60_000
)

// orders lists all orders.
var orders = []order{
	{"report", []argument{violationArg}, does(func(e *Ensemble, f *arguments) error { return e.Report(f.Violation) })},
	{"faults", []argument{planArg}, does(func(e *Ensemble, f *arguments) error { return e.Strike(f.Plan) })},
	{"expire", []argument{clientArg, sessionArg}, does((*Ensemble).expireOrdered)},
	{"stop", []argument{serverArg}, does(func(e *Ensemble, f *arguments) error { return e.Stop(f.Server) })},
	{"kill", []argument{serverArg}, does(func(e *Ensemble, f *arguments) error { return e.Kill(f.Server) })},
	{"continue", []argument{serverArg}, does(func(e *Ensemble, f *arguments) error { return e.Continue(f.Server) })},
	{"elect", nil, does(func(e *Ensemble, _ *arguments) error { return e.Elect() })},
	{"reset", nil, func(_ context.Context, e *Ensemble, _ *arguments) (*Judgement, error) {
		j, err := e.Reset()
		return &j, err
	}},
	{"quiet", []argument{calmArg}, func(ctx context.Context, e *Ensemble, f *arguments) (*Judgement, error) {
		return nil, e.quietOrdered(ctx, f)
	}},
}

// does is an order that waits for nothing and says nothing.
func does(run func(*Ensemble, *arguments) error) func(context.Context, *Ensemble, *arguments) (*Judgement, error) {
	return func(_ context.Context, e *Ensemble, f *arguments) (*Judgement, error) { return nil, run(e, f) }
}

// obey carries out the order in a body.
func (o *order) obey(ctx context.Context, e *Ensemble, body string) (*Judgement, error) {
	f, err := o.read(strings.TrimSpace(body))
	if err != nil {
		return nil, err
	}
	return o.run(ctx, e, f)
}

// read reads the body of a request: JSON with a field that the order takes, or the text of one of them.
func (o *order) read(body string) (*arguments, error) {
	f := &arguments{Calm: usualCalm}
	switch {
	case body == "" && (len(o.takes) == 0 || o.takes[0].blank):
		return f, nil
	case len(o.takes) == 0:
		return nil, fmt.Errorf("%s: %.40q, expected nothing", o.name, body)
	case strings.HasPrefix(body, "{"):
		return f, o.readJSON(body, f)
	}
	var expected []string
	for _, x := range o.takes {
		if body != "" && x.text(f, body) == nil {
			return f, nil
		}
		expected = append(expected, x.expects)
	}
	return nil, fmt.Errorf("%s: %.40q, expected %s", o.name, body, strings.Join(expected, " or "))
}

func (o *order) readJSON(body string, f *arguments) error {
	var given map[string]json.RawMessage
	d := json.NewDecoder(strings.NewReader(body))
	if err := d.Decode(&given); err != nil {
		return fmt.Errorf("%s: expected JSON as %s: %w", o.name, o.takes[0].sample, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: expected nothing after the JSON", o.name)
	}
	names := make([]string, len(o.takes))
	for i, x := range o.takes {
		names[i] = x.name
		if raw, ok := given[x.name]; ok && len(given) == 1 {
			return x.json(f, o.name, raw)
		}
	}
	for name := range given { // order-free: any that is wrong
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: unknown field %q, expected %s", o.name, name, strings.Join(names, " or "))
		}
	}
	if len(given) == 0 && o.takes[0].blank {
		return nil
	}
	return fmt.Errorf("%s: expected one of %s", o.name, strings.Join(names, " and "))
}

// json reads the field from JSON: a string with its text, or a number.
func (x *argument) json(f *arguments, order string, raw json.RawMessage) error {
	var text *string
	err := json.Unmarshal(raw, &text)
	switch {
	case err != nil:
		err = json.Unmarshal(fmt.Appendf(nil, "{%q: %s}", x.name, raw), f)
	case text == nil:
		err = strconv.ErrSyntax
	default:
		err = x.text(f, *text)
	}
	if err != nil {
		return fmt.Errorf("%s: expected JSON as %s, not {%q: %.40s}", order, x.sample, x.name, raw)
	}
	return nil
}

func (e *Ensemble) expireOrdered(f *arguments) error {
	if f.Session == nil {
		return e.Expire(f.Client)
	}
	return e.ExpireSession(*f.Session)
}

func (e *Ensemble) quietOrdered(ctx context.Context, f *arguments) error {
	if f.Calm < 0 || f.Calm > maxCalm {
		return fmt.Errorf("serve: quiet for %d ms, expected 0 to %d", f.Calm, maxCalm)
	}
	return e.Quiet(ctx, time.Duration(f.Calm)*time.Millisecond)
}

// errNoRules is the error of an order to strike without rules.
var errNoRules = errors.New("serve: the plan has no rules, expected one as lose-reply=1@client=c1")
