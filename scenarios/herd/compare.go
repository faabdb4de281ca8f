package herd

// Difference is one count of a variant in a simulation and on a real ensemble.
type Difference struct {
	Variant   string  `json:"variant"`
	Clients   int     `json:"clients"`
	Count     string  `json:"count"`
	Simulated float64 `json:"simulated"`
	Real      float64 `json:"real"`
	// Why says why the two may differ. It is empty if the protocol determines the count, so that they must not.
	Why string `json:"why,omitempty"`
}

// Compare returns all counts of two measurements of the variant with the same number of clients. Times are not counts:
// a simulation knows only their order of magnitude.
func (v *Variant) Compare(simulated, real Measurement) []Difference {
	var all []Difference
	add := func(count string, of func(m *Measurement) float64) {
		all = append(all, Difference{v.Name, real.Clients, count, of(&simulated), of(&real), v.Open})
	}
	add("events", func(m *Measurement) float64 { return float64(m.Events) })
	add("notifications", func(m *Measurement) float64 { return m.Notifications })
	add("at once", func(m *Measurement) float64 { return float64(m.Burst) })
	add("in vain", func(m *Measurement) float64 { return m.Wasted })
	add("requests", func(m *Measurement) float64 { return m.Requests })
	add("txns", func(m *Measurement) float64 { return m.Txns })
	add("messages", func(m *Measurement) float64 { return m.Messages })
	add("watches", func(m *Measurement) float64 { return float64(m.Watches) })
	return append(all, real.Server.Compare(v.Name, real.Clients)...)
}

// Compare sets what the servers have counted beside what the clients have.
func (s *Server) Compare(variant string, clients int) []Difference {
	row := func(count string, client, server int) Difference {
		return Difference{variant, clients, count, float64(client), float64(server), ""}
	}
	return []Difference{
		row("notifications to clients / watches fired by mntr", s.Notifications, s.Fired),
		row("packets of clients / received by mntr", s.Sent, s.Received),
		row("watches of clients / by mntr", s.Expected, s.Watches),
	}
}

// Equal reports whether there is no difference.
func (d *Difference) Equal() bool { return d.Simulated == d.Real }
