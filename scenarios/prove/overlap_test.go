package prove

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"zksim/scenarios/catalog"
)

// overlapParts is how many parts there are.
const overlapParts = 8

// statesOf returns all states of a search.
func statesOf(s *search) (all []fingerprint) {
	for i := range shardCount {
		all = append(all, s.known.members(i)...)
	}
	return all
}

// TestPartsOfOneScopeOverlap measures what it costs to explore one scope in parts that know nothing of each other: the
// lock with three clients, from the parts of a frontier, each part with a set of its own. Together they are the whole
// search, state by state; but a state that several parts reach is explored by each of them. ZKSIM_OVERLAP is the number
// of faults, ZKSIM_FRONTIER that of edges, breadth first, that are divided.
func TestPartsOfOneScopeOverlap(t *testing.T) {
	most, _ := strconv.Atoi(os.Getenv("ZKSIM_OVERLAP"))
	if testing.Short() || os.Getenv("ZKSIM_OVERLAP") == "" {
		t.Skip("a measurement: set ZKSIM_OVERLAP to a number of faults")
	}
	many := portionEdges
	if n, err := strconv.Atoi(os.Getenv("ZKSIM_FRONTIER")); err == nil {
		many = n
	}
	if most == 0 {
		most = -1 // which Bounds take for none
	}
	sc, err := Bounds{Clients: 3, Most: most}.Of(catalog.Named("lock/lock"))
	if err != nil {
		t.Fatal(err)
	}
	search := func() *search { return newSearch(&sc, Every, max(0, most)) }
	never := func() bool { return false }
	whole := search()
	if err := whole.run(t.Context(), 1, []edge{{}}, never); err != nil {
		t.Fatal(err)
	}
	states, digest := whole.known.size()

	begin := search()
	begin.memo = whole.memo
	edges, err := begin.frontier(t.Context(), many, never)
	if err != nil {
		t.Fatal(err)
	}
	known := statesOf(begin)
	var union set
	for _, key := range known {
		union.add(key)
	}
	explored, largest := 0, 0
	for part := range overlapParts {
		s := search()
		s.memo = whole.memo
		for _, key := range known {
			s.known.add(key)
		}
		mine := edges[len(edges)*part/overlapParts : len(edges)*(part+1)/overlapParts] // neighbours have more in common
		if err := s.run(t.Context(), 1, mine, never); err != nil {
			t.Fatal(err)
		}
		n, _ := s.known.size()
		explored += n - len(known)
		largest = max(largest, n-len(known))
		for _, key := range statesOf(s) {
			union.add(key)
		}
		t.Logf("part %d: %d edges, %d states", part+1, len(mine), n-len(known))
	}
	n, sum := union.size()
	if n != states || sum != digest {
		t.Errorf("the parts have %d states, digest %x; the whole %d, %x", n, sum, states, digest)
	}
	all := float64(states - len(known))
	t.Logf("%d states; %d parts of a frontier of %d edges after %d states explore %d: %.2f times; the largest %.2f",
		states, overlapParts, len(edges), len(known), explored, float64(explored)/all, float64(largest)/all)
}

// TestTheTableOfPartsIsOfThisLock compares the numbers of states in docs/scale.md with a search, where that is quick,
// and with docs/proved.md.
func TestTheTableOfPartsIsOfThisLock(t *testing.T) {
	table, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	proved, err := os.ReadFile("../../docs/proved.md")
	if err != nil {
		t.Fatal(err)
	}
	sc, err := Bounds{Clients: 3, Most: -1}.Of(catalog.Named("lock/lock"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(&sc, Every, 0)
	if err := s.run(t.Context(), 1, []edge{{}}, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	n, _ := s.known.size()
	one := regexp.MustCompile("`lock/lock` .*3c 1f ([0-9,]+)").FindSubmatch(proved)
	if one == nil {
		t.Fatal("docs/proved.md has no lock/lock of three clients with one fault")
	}
	want := map[string]string{"no": fmt.Sprintf("%d,%03d", n/1000, n%1000), "one": string(one[1])}
	rows := regexp.MustCompile(`(?m)^\| (no|one) fault \| ([0-9,]+) `).FindAllSubmatch(table, -1)
	if len(rows) == 0 {
		t.Fatal("docs/scale.md has no such table")
	}
	for _, row := range rows {
		if got := string(row[2]); got != want[string(row[1])] {
			t.Errorf("docs/scale.md: %s fault, %s states, want %s", row[1], got, want[string(row[1])])
		}
	}
}
