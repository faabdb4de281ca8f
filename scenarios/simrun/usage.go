package simrun

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"zksim/internal/edit"
	"zksim/internal/pipeline"
	"zksim/scenarios/engine"
)

// usage prints the commands.
func (a *app) usage(w io.Writer) {
	fmt.Fprintf(w, "Runs ZooKeeper recipes on simulated and real ensembles and judges what they do.\n\n"+
		"Usage:\n  %s COMMAND [flags] [arguments]\n\nCommands:\n", a.command)
	calls, wide := map[string]string{}, 0
	for _, c := range commands() {
		calls[c.name] = strings.TrimSpace(c.name + " " + c.args)
		wide = max(wide, len(calls[c.name]))
	}
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-*s  %s\n", wide, calls[c.name], c.doc)
	}
	fmt.Fprintf(w, "\n\"%s COMMAND -h\" shows the flags of a command and examples.\n\nExit status:\n", a.command)
	writeCodes(w, slices.Concat(judged, []exit{statusUsage}))
}

// help prints the usage, or the help of a command.
func help(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("help")
	words, err := parseMixed(f, args)
	switch {
	case err != nil:
		return 0, err
	case len(words) > 1:
		return 0, fmt.Errorf("unexpected argument %q", words[1])
	case len(words) == 0:
		a.usage(a.out)
		return exitHeld, nil
	}
	c := commandNamed(words[0])
	if c == nil {
		return 0, noCommand(words[0])
	}
	return c.run(ctx, a, []string{"-h"})
}

// noCommand is the error for a command that does not exist.
func noCommand(name string) error {
	all := commandNames()
	return fmt.Errorf("no command %q; there are %s%s", name, strings.Join(all, ", "), edit.Meant(name, all))
}

// flags makes the flag set of a command. Its errors are returned rather than printed, and its help goes to the
// standard output.
func (a *app) flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {
		if a.collect != nil {
			a.collect(f)
			return
		}
		a.explain(f)
	}
	return f
}

// explain prints the help of a command.
func (a *app) explain(f *flag.FlagSet) {
	c := commandNamed(f.Name())
	flags := ""
	f.VisitAll(func(*flag.Flag) { flags = " [flags]" })
	fmt.Fprintf(a.out, "Usage: %s %s\n\n", a.command, strings.TrimSpace(c.name+flags+" "+c.args))
	wrap(a.out, "", c.more)
	if flags != "" {
		fmt.Fprintln(a.out, "\nFlags:")
		f.SetOutput(a.out)
		f.PrintDefaults()
		f.SetOutput(io.Discard)
	}
	head := "\nExamples:\n"
	for _, x := range c.examples {
		if line, ok := a.filled(x.line); ok {
			fmt.Fprintf(a.out, "%s  %s\n", head, line)
			head = ""
			if doc, _ := a.filled(x.doc); doc != "" {
				fmt.Fprintf(a.out, "      %s\n", doc)
			}
		}
	}
	fmt.Fprintln(a.out, "\nExit status:")
	writeCodes(a.out, slices.Concat(c.codes, []exit{statusUsage}))
}

// filled returns the line of an example with its words in braces replaced. It is not ok if one stands for nothing.
func (a *app) filled(line string) (_ string, ok bool) {
	named := func(fits func(*engine.Scenario) bool) string {
		for i := range a.all {
			if fits(&a.all[i]) {
				return pipeline.Quote(a.all[i].Name)
			}
		}
		return ""
	}
	stands := map[string]string{"{it}": a.command, "{mutant}": named((*engine.Scenario).Broken),
		"{sound}": named(func(s *engine.Scenario) bool { return !s.Broken() })}
	if len(a.variants) > 0 {
		stands["{variant}"] = a.variants[0].Name
	}
	for _, word := range []string{"{it}", "{mutant}", "{sound}", "{variant}"} {
		if strings.Contains(line, word) && stands[word] == "" {
			return "", false
		}
		line = strings.ReplaceAll(line, word, stands[word])
	}
	return line, true
}

// writeCodes prints exit statuses in their order.
func writeCodes(w io.Writer, list []exit) {
	slices.SortStableFunc(list, func(a, b exit) int { return a.code - b.code })
	for _, x := range list {
		wrap(w, fmt.Sprintf("  %d  ", x.code), x.doc)
	}
}

// textWidth is the largest width of texts.
const textWidth = 79

// wrap prints a text in lines. The first begins with head, the others with as many blanks.
func wrap(w io.Writer, head, text string) {
	io.WriteString(w, wrapped(head, text, strings.Repeat(" ", len(head)), textWidth))
}
