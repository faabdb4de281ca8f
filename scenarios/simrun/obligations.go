package simrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"zksim/internal/pipeline"
	"zksim/internal/shard"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

const obligationsFormat = "zksim obligations 1"

// obligationsFile is a list of what is to be proved, with the times that the last proofs took.
type obligationsFile struct {
	Format      string             `json:"format"`
	Obligations []prove.Obligation `json:"obligations"`
}

// shardProof is the result of an obligation's proof in a part.
type shardProof struct {
	Kind        string            `json:"kind"`
	Certificate prove.Certificate `json:"certificate"`
	Seconds     float64           `json:"seconds"`
	Never       []string          `json:"never,omitempty"`   // sentences of Process.Sometimes that hold in no schedule
	Misuse      string            `json:"misuse,omitempty"`  // how the code has left the simulator
	Differs     string            `json:"differs,omitempty"` // how the same steps have given two different runs
	Failure     *shardFailure     `json:"failure,omitempty"`
}

// readObligations reads a list.
func readObligations(name string) (*obligationsFile, error) {
	x := &obligationsFile{}
	if err := readStrictly(name, obligationsFormat, x); err != nil {
		return nil, fmt.Errorf("-obligations: %w", err)
	}
	return x, nil
}

func (x *obligationsFile) check() error {
	if x.Format != obligationsFormat {
		return fmt.Errorf("its format is %.60q", x.Format)
	}
	return nil
}

// distinct fails if an obligation would be lost from the table of a merge, or count twice. That is possible in a list
// of another version.
func (x *obligationsFile) distinct() error {
	places := map[string]int{}
	for i := range x.Obligations {
		o := &x.Obligations[i]
		if !slices.Contains(prove.Kinds, o.Kind) {
			return fmt.Errorf("-obligations: number %d is of the kind %.60q, expected one of %s", i+1, o.Kind,
				strings.Join(prove.Kinds, ", "))
		}
		text, err := json.Marshal(&o.Claim)
		if err != nil {
			return err
		}
		if k, known := places[string(text)]; known {
			return fmt.Errorf("-obligations: numbers %d and %d are the same, expected each once: %v", k+1, i+1, o)
		}
		places[string(text)] = i
	}
	return nil
}

// write writes the list, one obligation per line.
func (x *obligationsFile) write(w io.Writer) error {
	fmt.Fprintf(w, "{\"format\": %q, \"obligations\": [", x.Format)
	for i := range x.Obligations {
		text, err := json.Marshal(&x.Obligations[i])
		if err != nil {
			return err
		}
		comma := ","
		if i == 0 {
			comma = ""
		}
		fmt.Fprintf(w, "%s\n%s", comma, text)
	}
	_, err := fmt.Fprintln(w, "\n]}")
	return err
}

// digest is a hash of what the list asks for, in order and by kind, without the times.
func (x *obligationsFile) digest() string {
	sum := sha256.New()
	e := json.NewEncoder(sum)
	for i := range x.Obligations {
		e.Encode(x.Obligations[i].Kind)
		e.Encode(&x.Obligations[i].Claim)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// goesWithObligations are the flags of prove that go with -obligations.
var goesWithObligations = []string{"obligations", "kind", "run", "shard", "for", "mem", "p", "o", "json", "junit"}

// obliged does what -obligations says: it writes the list, or, with -shard, proves a part of it.
func (c *proveFlags) obliged(
	ctx context.Context, a *app, f *flag.FlagSet, names []string, o prove.Options,
) (int, error) {
	if c.obligations == "" {
		return 0, errors.New("-kind goes with -obligations only")
	}
	if name := other(f, goesWithObligations...); name != "" {
		return 0, fmt.Errorf("-%s does not go with -obligations: the list says what to prove", name)
	}
	if err := separate(namedFile{"obligations", c.obligations}, namedFile{"junit", c.junit}); err != nil {
		return 0, err
	}
	list, err := readObligations(c.obligations)
	if errors.Is(err, fs.ErrNotExist) && c.part.text == "" {
		list, err = &obligationsFile{Format: obligationsFormat}, nil
	}
	if err != nil {
		return 0, err
	}
	if c.part.text == "" {
		if name := other(f, "obligations", "run"); name != "" {
			return 0, fmt.Errorf("-%s goes with -shard: without it the whole list is written, and nothing is proved", name)
		}
		return c.listObligations(ctx, a, names, list)
	}
	if len(names) > 0 || c.run != "" {
		return 0, errors.New("with -obligations and -shard the list says what to prove; NAMES and -run do not go with it")
	}
	if len(list.Obligations) == 0 {
		return 0, fmt.Errorf("%s has no obligations, expected a list as prove -obligations writes it without -shard",
			c.obligations)
	}
	if err := list.distinct(); err != nil {
		return 0, err
	}
	kind, err := regexp.Compile(c.kind)
	if err != nil {
		return 0, fmt.Errorf("-kind: %w", err)
	}
	part, err := c.part.read(a, "prove")
	if err != nil {
		return 0, err
	}
	return c.provePart(ctx, a, list, part, kind, o)
}

// listObligations writes the list of the named scenarios, with the times of the old list.
func (c *proveFlags) listObligations(
	ctx context.Context, a *app, names []string, old *obligationsFile,
) (int, error) {
	selected, err := a.pick(c.run, names...)
	if err != nil {
		return 0, err
	}
	list := &obligationsFile{Format: obligationsFormat}
	scenarios, untried := 0, 0
	for _, s := range selected {
		all, err := prove.Obligations(s)
		if err != nil {
			return 0, err
		}
		if len(all) > 0 {
			scenarios++
		}
		for _, x := range all {
			if i := slices.IndexFunc(old.Obligations, func(y prove.Obligation) bool { return y.Same(&x) }); i >= 0 {
				x.Seconds, x.Outcome = old.Obligations[i].Seconds, old.Obligations[i].Outcome
			}
			if x.Outcome == "" {
				untried++
			}
			list.Obligations = append(list.Obligations, x)
		}
	}
	prove.Longest(list.Obligations)
	out, err := a.openOutput("prove", "obligations", c.obligations)
	if err != nil {
		return 0, err
	}
	if err := out.write(ctx, list.write); err != nil {
		return 0, err
	}
	fmt.Fprintf(a.out, "%s of %s, of which %d were never tried\n", history.Counted(len(list.Obligations), "obligation"),
		history.Counted(scenarios, "scenario"), untried)
	return exitHeld, nil
}

// provePart proves the obligations of a part, one after the other, in the order of the list. It refuses a list with one
// that cannot be proved, also if that is in another part, because a merge needs all parts.
func (c *proveFlags) provePart(
	ctx context.Context, a *app, list *obligationsFile, part shard.Part, kind *regexp.Regexp, o prove.Options,
) (int, error) {
	var mine []prove.Obligation
	var scopes []prove.Scope
	var names []string
	k := 0
	for i, x := range list.Obligations {
		sc, err := x.Scope(a.all)
		if err != nil {
			return 0, fmt.Errorf("%s: number %d: %w", c.obligations, i+1, err)
		}
		if !kind.MatchString(x.Kind) {
			continue
		}
		if k++; part.Has(k - 1) {
			mine = append(mine, x)
			scopes = append(scopes, sc)
			names = append(names, x.String())
		}
	}
	if k == 0 {
		return 0, fmt.Errorf("-kind: no obligation is of a kind that matches %q; there are %s", kind,
			strings.Join(prove.Kinds, ", "))
	}
	if err := c.begin(); err != nil {
		return 0, err
	}
	rec, err := c.record(a, names)
	if err != nil {
		return 0, err
	}
	w, err := c.newShard(part, shardParameters{Obligations: list.digest(), Kind: c.kind, For: c.duration.String(),
		Memory: c.memory})
	if err != nil {
		return 0, rec.fails(ctx, err)
	}
	var t tally
	err = rec.each(ctx, false, func(i int, out io.Writer) (outcome, error) {
		y, err := c.obligation(ctx, a.to(out).nth(i, len(mine)), &mine[i], scopes[i], w, o, &t)
		if err != nil && len(mine) > 1 {
			return c.endedBy(err, out, names[i]), nil
		}
		return y, err
	})
	if err != nil {
		c.lose(w.end(broken + ": " + oneLine(err.Error())))
		return 0, err
	}
	c.lose(w.end(c.unended(ctx)))
	text := strings.Replace(t.summary(len(mine)), "scenario", "obligation", 1)
	t.leave(c.left)
	text = leftLine(c.left) + text
	return rec.end(ctx, a, &t, text, c.lost)
}

// obligation proves one obligation, whose scope is sc, and notes the result, unless it was interrupted.
func (c *proveFlags) obligation(
	ctx context.Context, a *app, x *prove.Obligation, sc prove.Scope, w *shardWriter, o prove.Options, t *tally,
) (outcome, error) {
	limited, cancel := context.WithTimeout(ctx, c.duration)
	defer cancel()
	bar := a.progress("prove", x.String(), 0)
	defer bar.clear()
	o.Progress, o.Reductions = tell(bar), x.Reductions
	began := time.Now()
	r, err := prove.Prove(limited, sc, o)
	took := time.Since(began)
	bar.clear()
	p := shardProof{Kind: x.Kind, Certificate: r.Certificate, Seconds: float64(took.Milliseconds()) / 1000, Never: r.Never}
	if misused(a.out, sc.Scenario, err) {
		p.Misuse, p.Certificate.Claim = misuseText(err), x.Claim
		c.lose(w.addProof(p))
		return outcome{code: t.count(engine.Misused)}, nil
	}
	if unstable, ok := errors.AsType[*prove.Unstable](err); ok {
		p.Certificate.Claim = x.Claim
		return c.differs(a, sc.Scenario, w, p, t, unstable), nil
	}
	if err != nil {
		return outcome{}, err
	}
	if ctx.Err() != nil && r.Outcome == prove.Inconclusive {
		return outcome{code: t.count(engine.Inconclusive), cut: true}, nil
	}
	row := pipeline.Proved(sc.Scenario, &r)
	printProof(a.out, &r, took)
	if r.Outcome == prove.Violated {
		sum := fnv.New32a()
		json.NewEncoder(sum).Encode(&x.Claim)
		folder := fmt.Sprintf("%s-%08x", byProof, sum.Sum32())
		s, found := pipeline.Found(sc.Scenario, &r)
		told, err := c.failed(ctx, a, s, found, pipeline.BySearch, folder, "prove "+scopeArgs(&x.Claim))
		if y, ok := errors.AsType[*pipeline.Unrepeatable](err); ok {
			return c.differs(a, s, w, p, t, y), nil
		}
		if err != nil {
			return outcome{}, err
		}
		f := shardFailureOf(found, told, "prove "+scopeArgs(&x.Claim))
		p.Failure = &f
	}
	if r.Outcome == prove.Holds {
		whole, err := a.find(x.Scenario)
		if err != nil {
			return outcome{}, err
		}
		proved(a.out, &r.Claim, sc.Outside(whole), r.Unstruck, r.Idle)
	}
	c.lose(w.addProof(p))
	status := pipeline.StatusOf(row)
	code := t.count(status)
	if w != nil && status == engine.Inconclusive { // a hole, which the table of the merge shows
		c.left[status]++
		code = exitHeld
	}
	return outcome{code: code}, nil
}

// differs notes and prints that the same steps of a proof have given two different runs.
func (c *proveFlags) differs(
	a *app, s *engine.Scenario, w *shardWriter, p shardProof, t *tally, why error,
) outcome {
	p.Differs = why.Error()
	c.lose(w.addProof(p))
	nondeterministic(a, s, why)
	return outcome{code: t.count(engine.Nondeterministic)}
}

// addProof notes the result of a proof.
func (w *shardWriter) addProof(p shardProof) error {
	if w == nil {
		return nil
	}
	w.file.Proofs = append(w.file.Proofs, p)
	return w.save()
}

// scopeArgs are the arguments of prove that lead to a claim.
func scopeArgs(c *prove.Claim) string {
	text := fmt.Sprintf("-run %s -clients %d -rounds %d -servers %d -faults %s -most %d -order %d -ticks %d",
		pipeline.Quote("^"+regexp.QuoteMeta(c.Scenario)+"$"), c.Clients, max(1, c.Rounds), c.Servers,
		pipeline.Quote(c.Faults), c.Most, c.Order, c.Ticks)
	if c.SlowWakes {
		text += " -slow-wakes"
	}
	if c.Like != "" {
		text += " -like " + c.Like
	}
	return text
}
