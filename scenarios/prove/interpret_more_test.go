package prove_test

import "github.com/go-zookeeper/zk"

// connection runs a statement about the connection.
func (m *machine) connection(op string) {
	switch op {
	case "step":
		m.Step()
	case "rest":
		m.AtRest()
	case "close":
		m.Conn.Close()
	case "dial":
		if m.second != nil {
			return
		}
		m.second = m.Process
		p, err := m.Dial()
		if err != nil {
			panic(err)
		}
		m.second, m.Process = m.Process, p
	default:
		if m.second != nil {
			m.second, m.Process = m.Process, m.second
		}
	}
}

// queue sends to a channel that code has made, or closes it.
func (m *machine) queue(op string, a []string) {
	x := m.reg(a[0])
	switch {
	case x.own == nil || x.ended:
	case op == "end":
		x.ended = true
		close(x.own)
	case len(x.own) < cap(x.own):
		x.own <- zk.Event{Path: a[1]} //zksim:ignore there is room
	}
}
