package reports

import (
	"regexp"
	"slices"
	"strings"

	"zksim/model/history"
)

// What of a story is folded: at least so many times the same, of so many steps at most.
const (
	fewestTurns = 4
	longestTurn = 12
)

// folded returns passages without those in which the same happens again and again, numbers aside, as code that polls
// has it: of each such stretch there are the first turn and the last one.
func (f *Failure) folded(list []passage) (short []passage) {
	kinds := make([]string, len(list))
	for i, p := range list {
		if !f.decides(p) && !p.has(faultLine) && !p.has(errorLine) {
			kinds[i] = p.kind()
		}
	}
	for i := 0; i < len(list); {
		turn, turns := repetition(kinds[i:])
		if turns < fewestTurns {
			short = append(short, list[i])
			i++
			continue
		}
		end := i + turn*turns
		short = append(short, list[i:i+turn]...)
		short = append(short, leftOut(turn*(turns-2)))
		short = append(short, list[end-turn:end]...)
		i = end
	}
	return short
}

// leftOut stands for so many steps that are left out.
func leftOut(steps int) passage {
	return passage{Lines: []line{{Text: "... " + history.Counted(steps, "step") + " like these"}}}
}

// repetition returns how long a turn is and how often it comes: that of which the list begins with the most steps.
func repetition(kinds []string) (turn, turns int) {
	for n := 1; n <= longestTurn && n <= len(kinds); n++ {
		k := 1
		for (k+1)*n <= len(kinds) && slices.Equal(kinds[:n], kinds[k*n:(k+1)*n]) && !slices.Contains(kinds[:n], "") {
			k++
		}
		if k > 1 && k*n > turn*turns {
			turn, turns = n, k
		}
	}
	return turn, turns
}

// numeral is a number, with all that belongs to it, as in 0x1a and 1m20s.
var numeral = regexp.MustCompile(`[0-9]\w*`)

// kind is what happens in the step, without its numbers.
func (p *passage) kind() string {
	verb, _, _ := strings.Cut(p.Name, " ")
	words := []string{verb}
	for _, l := range p.Lines {
		words = append(words, client(l.Client), numeral.ReplaceAllString(l.Text, ""))
	}
	return strings.Join(words, "\n")
}
