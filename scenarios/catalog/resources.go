package catalog

import (
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/scenarios/engine"
)

// resource is what the objects of a recipe may use and leave behind. A recipe is the first word of its scenarios'
// names.
type resource struct {
	recipe  string
	watches int    // of one kind on one znode by one call; 0: any number; -1: nobody watches
	missing string // patterns of znodes that may be watched while they do not exist: they may return
	stay    string // patterns of the persistent znodes that remain at the end; empty: programs make their own
}

// resources is the table. Only the cache promises how many watches it leaves; after each reading in a new state of the
// session there may be two more. Queues leave items that nobody takes, and names leave registered names.
var resources = []resource{
	{"lock", 0, "", "/lock"},
	{"barrier", 0, "", "/barrier /work"},
	{"cache", 3, "/watch/dir", ""},
	{"commit", 0, "/commit/* /commit/*/decision", "/commit /commit/* /commit/*/decision /commit/*/site-*"},
	{"config", 0, "/config", "/config /config/a /config/b /config/c"},
	{"counter", -1, "", "/counter"},
	{"double-barrier", 0, "", "/double /double/ready"},
	{"election", 0, "/election/leader", "/election /election/candidates /election/leader"},
	{"master", 0, "", ""},
	{"members", 0, "/group /group/*", "/group /group/_owners"},
	{"monitor", 0, "/rw", "/rw"},
	{"names", -1, "", "/names /names/* /names/*/_o_*"},
	{"priority-queue", 0, "", "/queue /queue/claims /queue/items /queue/items/*"},
	{"queue", 0, "/producer", "/queue /queue/claims /queue/items /queue/items/* /queue/turns"},
	{"revocable", 0, "", "/rw"},
	{"rwlock", 0, "", "/rw"},
	{"semaphore", 0, "", "/sem /sem/gate /sem/leases"},
	{"watch", 0, "/watch/dir /watch/dir/a", ""},
}

// frugal returns the scenarios with the judges of what their recipes use and leave behind. Among mutants, only those
// that these judges have to catch get them: the others are written in the plainest way.
func frugal(all []engine.Scenario) []engine.Scenario {
	for i := range all {
		s := &all[i]
		recipe, _, _ := strings.Cut(s.Name, "/")
		k := slices.IndexFunc(resources, func(r resource) bool { return r.recipe == recipe })
		if k < 0 {
			continue
		}
		r := resources[k]
		judges := func(name string) bool { return !s.Broken() || slices.Contains(s.Caught, name) }
		// The watches of a connection that is closed while it is down are not recorded.
		if r.watches >= 0 && s.Dials == 0 && judges("watches") {
			s.Checkers = append(slices.Clip(s.Checkers),
				checkers.Watches{Each: r.watches, Missing: strings.Fields(r.missing)})
		}
		if r.stay != "" && judges("leftover") {
			s.Checkers = append(slices.Clip(s.Checkers), checkers.Leftover{Stay: strings.Fields(r.stay)})
		}
	}
	return all
}
