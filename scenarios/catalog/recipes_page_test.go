package catalog

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The table of docs/recipes.md ends each row with the numbers of the mutants of its types, as "1-6, 8".
func TestEveryMutantStandsWithARecipe(t *testing.T) {
	text, err := os.ReadFile("../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `.*\\| ([0-9, -]+) \\|$")
	stands := map[int]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for _, part := range strings.Split(m[1], ", ") {
			first, last, more := strings.Cut(part, "-")
			from, err := strconv.Atoi(first)
			to := from
			if more && err == nil {
				to, err = strconv.Atoi(last)
			}
			if err != nil {
				t.Fatal(err)
			}
			for n := from; n <= to; n++ {
				if stands[n] {
					t.Errorf("%d stands twice", n)
				}
				stands[n] = true
			}
		}
	}
	for i := range All {
		s := &All[i]
		if n := s.Notes().Number; n > 0 && !strings.HasPrefix(s.Name, "znodes/") {
			if !stands[n] {
				t.Errorf("%s, number %d, does not stand there", s.Name, n)
			}
			delete(stands, n)
		}
	}
	for n := range stands {
		t.Errorf("there is no mutant %d", n)
	}
}
