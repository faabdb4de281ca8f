package catalog

import (
	"strings"

	"zksim/scenarios/engine"
)

// sources say where recipes come from, by the names of recipes or of scenarios.
var sources = map[string]string{
	"lock":              "ZooKeeper recipes page, Locks",
	"lock/fan-out":      "ZooKeeper recipes page, herd effect",
	"lock/single-node":  "Junqueira and Reed, ZooKeeper (2013), the first master election",
	"barrier":           "ZooKeeper recipes page, Barriers",
	"cache":             "Curator, PathChildrenCache",
	"commit":            "ZooKeeper recipes page, Two-phased Commit",
	"config":            "ZooKeeper recipes page, Configuration",
	"config/flagged":    "ZooKeeper: Wait-free coordination for Internet-scale systems (2010), section 2.3",
	"counter":           "Curator DistributedAtomicLong, Kazoo Counter",
	"double-barrier":    "ZooKeeper recipes page, Double Barriers",
	"election":          "ZooKeeper recipes page, Leader Election",
	"master":            "Junqueira and Reed, ZooKeeper (2013), the master-worker example",
	"members":           "ZooKeeper recipes page, Name Service",
	"members/members":   "ZooKeeper recipes page, Group Membership",
	"monitor":           "Junqueira and Reed, ZooKeeper (2013)",
	"names":             "ZooKeeper recipes page, Name Service",
	"priority-queue":    "ZooKeeper recipes page, Priority Queues",
	"queue":             "ZooKeeper recipes page, Queues",
	"revocable":         "ZooKeeper recipes page, Recoverable Shared Locks",
	"revocable/break":   "ZooKeeper recipes page, laser beams",
	"rwlock":            "ZooKeeper recipes page, Shared Locks",
	"rwlock/fan-out":    "ZooKeeper recipes page, herd effect",
	"semaphore":         "Curator InterProcessSemaphoreV2",
	"semaphore/fan-out": "ZooKeeper recipes page, herd effect",
	"watch":             "Kazoo, DataWatch; Junqueira and Reed, ZooKeeper (2013), Dealing with state change",
	"watch/children":    "Kazoo, ChildrenWatch",
	"watch/patient":     "Kazoo, PatientChildrenWatch",
	"znodes":            "ZooKeeper Programmer's Guide, Consistency Guarantees",
	"names/owners":      "derived from ephemeral owners that restart",
	"revocable/insist":  "ZooKeeper recipes page, Recoverable Shared Locks and laser beams",
	"recipes":           "the doc comments of package recipes",
}

// sourced returns the scenarios with their sources.
func sourced(list []engine.Scenario) []engine.Scenario {
	for i := range list {
		s := &list[i]
		if s.Broken() {
			continue
		}
		source, ok := sources[s.Name]
		if !ok {
			recipe, _, _ := strings.Cut(s.Name, "/")
			source = sources[recipe]
		}
		*s = s.With(engine.Notes{Source: source})
	}
	return list
}
