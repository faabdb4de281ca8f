package catalog

import "zksim/scenarios/engine"

// withDefaults returns s with what it does not say of the size of its runs.
func withDefaults(s engine.Scenario, clients int) engine.Scenario {
	if s.Clients == 0 {
		s.Clients = clients
	}
	if s.Servers == nil {
		s.Servers = []int{1, 3}
	}
	return s
}
