package recipes

import "testing"

func TestOnlyNamesThatAServerGivesAreContenders(t *testing.T) {
	for name, want := range map[string]struct {
		word string
		n    int64
	}{
		"_c_0f-lock-0000000012":  {"lock", 12},
		"_c_0f-lock-2147483647":  {"lock", 2147483647},
		"_c_0f-lock--2147483648": {"lock", -2147483648},
		"_c_0f-lock--000000001":  {"lock", -1},
		"_c_0f-lock-00000000012": {"lock", 12}, // eleven digits
		"lock-0000000012":        {"lock", 12},
		"_c_0f-lock-2147483648":  {},
		"_c_0f-lock-9999999999":  {},
		"_c_0f-lock-000000012":   {}, // nine
		"_c_0f-lock-00000x0012":  {},
		"_c_0f-lock-000000-012":  {},
		"-0000000012":            {"", 12},
		"0000000012":             {},
		"":                       {},
	} {
		if word, n := contender(name); word != want.word || n != want.n {
			t.Errorf("%q: %q, %d; want %+v", name, word, n, want)
		}
	}
}
