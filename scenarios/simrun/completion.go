package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/internal/edit"
	"zksim/model"
	"zksim/scenarios/engine"
)

// scripts are the completion scripts, by the names of the shells; {name} stands for the program. They ask the program
// for everything, so they are never out of date.
var scripts = map[string]string{
	"bash": `# Completes {name} in bash.
_complete_{id}() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]/#\~/$HOME}" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _complete_{id} '{name}'
`,
	"zsh": `#compdef {name}
# Completes {name} in zsh.
_complete_{id}() {
	local -a found
	found=("${(@f)$("${(Q)words[1]/#\~/$HOME}" completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "$found" ]]; then
		compadd -- $found
	else
		_files
	fi
}
if [[ "$zsh_eval_context[-1]" == (loadautofunc|shfunc) ]]; then # it is a file in fpath, and so the function itself
	_complete_{id} "$@"
else
	compdef _complete_{id} '{name}'
fi
`,
}

var shells = []string{"bash", "zsh"}

// completion prints a script for a shell, or what the script asks for.
func completion(_ context.Context, a *app, args []string) (int, error) {
	if len(args) > 0 && args[0] == "words" {
		for _, word := range a.complete(args[1:]) {
			fmt.Fprintln(a.out, word)
		}
		return exitHeld, nil
	}
	f := a.flags("completion")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	script, ok := scripts[f.Arg(0)]
	if !ok {
		return 0, fmt.Errorf("the shell is bash or zsh, not %q%s", f.Arg(0), edit.Meant(f.Arg(0), shells))
	}
	identifier := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, a.called())
	if strings.ContainsRune(a.called(), '\'') {
		return 0, errors.New("the name of the program has a quote, for which there is no completion")
	}
	_, err := strings.NewReplacer("{name}", a.called(), "{id}", identifier).WriteString(a.out, script)
	return exitHeld, err
}

// complete returns the completions of the last of the words that follow the name of the program; none if that word is a
// file, or something that cannot be listed.
func (a *app) complete(words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	begins := func(s string) bool { return strings.HasPrefix(s, last) }
	if len(words) == 1 {
		return filter(commandNames(), begins)
	}
	c := commandNamed(words[0])
	if c == nil {
		return nil
	}
	flags := a.flagsOf(c)
	head, before, value, joined := valueAt(words)
	if name, isFlag := strings.CutPrefix(before, "-"); isFlag || joined {
		if x := flags.Lookup(strings.TrimPrefix(name, "-")); x != nil && !isSwitch(x) {
			values := filter(a.valuesOf(x.Name), func(s string) bool { return strings.HasPrefix(s, value) })
			for i := range values {
				values[i] = head + values[i]
			}
			return values
		}
		if joined {
			return nil
		}
	}
	if strings.HasPrefix(last, "-") {
		var names []string
		flags.VisitAll(func(x *flag.Flag) { names = append(names, "-"+x.Name) })
		return filter(names, begins)
	}
	switch c.operands {
	case scenarioOperands:
		return filter(a.names(), begins)
	case shellOperands:
		return filter(shells, begins)
	case commandOperands:
		return filter(commandNames(), begins)
	}
	return nil
}

// valueAt splits the end of a command line: the word before the value that is typed, that value, and what the last word
// has before it. The two are joined if there is a = between them: zsh leaves -flag=value one word, bash makes three.
func valueAt(words []string) (head, before, value string, joined bool) {
	n := len(words)
	before, value = words[n-2], words[n-1]
	switch name, rest, both := strings.Cut(value, "="); {
	case value == "=":
		return "", before, "", true
	case before == "=":
		return "", words[n-3], value, true
	case both && strings.HasPrefix(name, "-"):
		return name + "=", name, rest, true
	}
	return "", before, value, false
}

// flagsOf returns the flags of a command: it asks the command for its help.
func (a *app) flagsOf(c *command) *flag.FlagSet {
	b, flags := *a, flag.NewFlagSet(c.name, flag.ContinueOnError)
	b.collect = func(f *flag.FlagSet) { flags = f }
	c.run(context.Background(), &b, []string{"-h"}) // always returns flag.ErrHelp
	return flags
}

// isSwitch reports whether a flag has no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// valuesOf returns the values that a flag takes, if they can be listed.
func (a *app) valuesOf(name string) (values []string) {
	switch name {
	case "strategy":
		for _, s := range engine.Strategies {
			values = append(values, string(s))
		}
	case "backend":
		values = backends
	case "like":
		values = model.Likes()
	case "faults":
		for i := range faults.Table {
			values = append(values, faults.Table[i].Name)
		}
		values = append(values, "none", "contract")
	case "variants":
		values = a.variantNames()
	}
	return values
}

// filter returns the words for which fits is true.
func filter(words []string, fits func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(words), func(s string) bool { return !fits(s) })
}
