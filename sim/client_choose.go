package sim

import "github.com/go-zookeeper/zk"

// Choose returns a number from 0 to n-1, 1 <= n <= 65,536, which the chooser of the run chooses. It does so at once:
// until it has, nothing else can happen, not even a fault.
func (e Env) Choose(n int) int {
	g := e.c.here()
	g.woke(-1, zk.Event{}, nil)
	g.options, e.c.w.choosing = n, g
	g.park(choosing)
	return g.got
}

// chosen lets the code go on that has asked for a number.
func (w *World) chosen(number int) {
	g := w.choosing
	w.choosing = nil
	g.got = number
	g.client.see(g)
	g.resume()
}

// appendChoices appends the transitions of a client that has asked for a number below n.
func appendChoices(list []Transition, client, n int) []Transition {
	for i := range n {
		list = append(list, Transition{Choose, uint32(client), uint16(i)})
	}
	return list
}

// AppendChoices appends what can happen while the client's code has asked for a number, which is nothing else; nothing
// if it has not.
func (p *Part) AppendChoices(list []Transition) []Transition {
	return appendChoices(list, p.id, p.options)
}
