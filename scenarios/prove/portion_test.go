package prove

import (
	"bytes"
	"strings"
	"testing"

	"zksim/scenarios/catalog"
)

// Any number of portions has the states and the digest of the whole search, and each says the same of the frontier.
func TestPortionsOfAScopeAreTheWhole(t *testing.T) {
	sc, err := Bounds{Most: 1}.Of(catalog.Named("lock/lock"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Prove(t.Context(), sc, Options{Reductions: Every})
	if err != nil || whole.Outcome != Holds {
		t.Fatalf("%+v, %v", whole.Outcome, err)
	}
	for _, of := range []uint64{1, 3} {
		var all []*PortionReader
		for part := uint64(1); part <= of; part++ {
			x, _, err := provePortion(t.Context(), sc, Options{Reductions: Every}, part, of, 300)
			var file bytes.Buffer
			if err == nil {
				err = x.Write(&file)
			}
			if err != nil || x.Outcome != Holds {
				t.Fatalf("%d/%d: %s, %v", part, of, x.Outcome, err)
			}
			r, err := NewPortionReader(&file)
			if err != nil || len(all) > 0 && r.Frontier != all[0].Frontier {
				t.Fatalf("%v, frontier %s", err, x.Frontier)
			}
			all = append(all, r)
		}
		states, digest, err := UnitePortions(all)
		if err != nil || states != whole.Last.States || digest != whole.Last.Digest {
			t.Errorf("%d portions: %d states, digest %s, %v; expected %d and %s", of, states, digest, err,
				whole.Last.States, whole.Last.Digest)
		}
	}
}

func TestAPortionThatIsDamagedIsRefused(t *testing.T) {
	x := Portion{Format: portionFormat, States: 2, fingerprints: []fingerprint{{3, 9}, {7, 1}}}
	var file bytes.Buffer
	if err := x.Write(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	texts := []string{"", "{}\n", whole[:len(whole)-1], whole[:len(whole)-32], whole[:len(whole)-48], whole + "x"}
	for i := range whole {
		b := []byte(whole)
		b[i] ^= 1
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		r, err := NewPortionReader(strings.NewReader(text))
		if err == nil {
			_, _, err = UnitePortions([]*PortionReader{r})
		}
		if err == nil {
			t.Errorf("%q is a portion", text)
		}
	}
	r, err := NewPortionReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	if n, _, err := UnitePortions([]*PortionReader{r}); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestAPortionEndsWhereItsMemoryDoes has a limit that is reached before there is a frontier to divide.
func TestAPortionEndsWhereItsMemoryDoes(t *testing.T) {
	x, _, err := ProvePortion(t.Context(), about(t, "lock/lock", "disconnect=1", -1),
		Options{Reductions: Every, Memory: 1}, 1, 2)
	if err != nil || x.Outcome != Inconclusive || !strings.HasPrefix(x.Why, "the memory is up, ") ||
		strings.HasSuffix(x.Why, "; frontier 0") {
		t.Errorf("%+v, %v", x.Why, err)
	}
}
