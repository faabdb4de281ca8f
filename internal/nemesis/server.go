package nemesis

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"zksim/faults"
	"zksim/internal/wire"
	"zksim/model"
)

// servers are the faults that happen to servers, one after the other.
var servers = []string{"kill", "part", "depose", "elect", "stale-read"}

// How long servers may take.
const (
	electionLimit = 30 * time.Second
	restartLimit  = 45 * time.Second
)

// server makes a fault strike servers.
func (n *Nemesis) server(s *strike, r *faults.Rule, about string) {
	if n.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, electionLimit)
	defer cancel()
	leader, err := n.o.Servers.Leader(ctx)
	if err != nil {
		n.fail(err)
		n.mu.Lock()
		n.clients[s.client-1].open() // see stall
		n.mu.Unlock()
		return
	}
	struck := n.targets(s, r, leader)
	n.mu.Lock()
	name := r.Fault
	if r.Fault == "stale-read" {
		name += fmt.Sprintf(" c%d", s.client)
	}
	for _, i := range struck {
		name += fmt.Sprintf(" s%d", i+1)
	}
	n.record(s, name, about)
	n.mu.Unlock()
	switch r.Fault {
	case "kill":
		n.kill(struck, n.while(s))
	case "elect":
		n.elect(ctx, leader)
	case "pause":
		n.stop(struck, n.while(s))
	case "part":
		n.o.Servers.Part(struck[0])
		n.sleep(n.while(s))
		n.o.Servers.Join(struck[0])
	case "stale-read":
		n.staleRead(n.clients[s.client-1], struck[0])
	case "depose":
		n.depose(ctx, s, r, leader)
	}
	if n.ctx.Err() != nil {
		return
	}
	serve, cancel := context.WithTimeout(n.ctx, restartLimit)
	defer cancel()
	n.fail(n.o.Servers.AwaitServing(serve))
}

// targets returns the indexes of the servers that are struck.
func (n *Nemesis) targets(s *strike, r *faults.Rule, leader int) []int {
	all := len(n.o.Addrs)
	follower := (leader + 1 + int(s.salt>>1%2)) % all
	switch aim := r.Aim.Server; {
	case r.Fault == "depose" || r.Fault == "elect" || aim == faults.Leader:
		return []int{leader}
	case r.Fault == "stale-read" || aim == faults.Follower:
		return []int{follower}
	case aim == faults.All:
		list := make([]int, all)
		for i := range list {
			list[i] = i
		}
		return list
	case aim != "":
		return []int{int(aim[1] - '1')}
	}
	return []int{int(s.salt >> 2 % uint64(all))}
}

// while is how long a server is gone: for a shorter or longer time than the others wait for it.
func (n *Nemesis) while(s *strike) time.Duration {
	if s.salt%2 == 0 {
		return n.o.Servers.Patience() / 2
	}
	return n.o.Servers.Patience() + time.Second
}

func (n *Nemesis) kill(list []int, d time.Duration) {
	for _, i := range list {
		n.end(i)
	}
	if n.sleep(d) {
		n.restart(list)
	}
}

// end kills a server, which is to be restarted.
func (n *Nemesis) end(i int) {
	n.mu.Lock()
	n.dead[i] = true
	n.mu.Unlock()
	n.o.Servers.Kill(i)
}

// awaitOther waits for a leader other than this one.
func (n *Nemesis) awaitOther(ctx context.Context, leader int) {
	next, err := n.o.Servers.Leader(ctx, leader)
	n.fail(err)
	if err == nil {
		n.diary.Tell("s%d leads", next+1)
	}
}

// restart starts servers that were killed. Several of them need each other to serve.
func (n *Nemesis) restart(list []int) {
	ctx, cancel := context.WithTimeout(n.ctx, restartLimit)
	defer cancel()
	var wg sync.WaitGroup
	for _, i := range list {
		wg.Go(func() {
			err := n.o.Servers.Restart(ctx, i)
			n.fail(err)
			if err == nil {
				n.mu.Lock()
				defer n.mu.Unlock()
				delete(n.dead, i)
				n.diary.Tell("s%d serves again", i+1)
			}
		})
	}
	wg.Wait()
}

func (n *Nemesis) elect(ctx context.Context, leader int) {
	n.end(leader)
	n.awaitOther(ctx, leader)
	n.restart([]int{leader})
}

func (n *Nemesis) stop(list []int, d time.Duration) {
	for _, i := range list {
		n.fail(n.o.Servers.Pause(i))
	}
	n.sleep(d)
	for _, i := range list {
		n.fail(n.o.Servers.Continue(i))
	}
}

// staleRead moves a client to a follower, and cuts the follower off for too short a time to notice.
func (n *Nemesis) staleRead(c *client, follower int) {
	n.mu.Lock()
	c.next = follower
	before := c.welcomed
	c.cut()
	n.mu.Unlock()
	for end := time.Now().Add(n.o.Timeout / 3); n.ctx.Err() == nil && time.Now().Before(end); {
		n.mu.Lock()
		there := c.welcomed > before && c.server == follower
		n.mu.Unlock()
		if there {
			break
		}
		n.sleep(time.Millisecond)
	}
	n.o.Servers.Part(follower)
	n.sleep(n.o.Servers.Patience() / 2)
	n.o.Servers.Join(follower)
}

// deposed is a leader that is stopped while another one serves, and that will go on.
type deposed struct {
	server int
	rule   *faults.Rule
	hit    chan struct{} // closed when a write of a client has shown that the other one serves
	taken  bool
	wake   func()
}

// writes are the operations whose answers may be lost when a deposed leader goes on.
var writes = []model.Op{model.OpCreate, model.OpCreate2, model.OpDelete, model.OpSetData, model.OpMulti,
	model.OpCreateContainer, model.OpCreateTTL}

// takes reports whether an answer is lost: the first answer to a client on its connection to a server of the new
// leader, if it is to a write that the rule is for. The old leader goes on at once, and the client moves to it: the
// client has seen nothing that the old leader has not.
func (d *deposed) takes(c *client, l *link, p *wire.Packet) bool {
	if d.taken || d.hit == nil || l.answered != 1 || c.link != l || c.server == d.server || p.Err != model.OK ||
		!slices.Contains(writes, p.Request.Op) || d.rule.Aim.Client > 0 && d.rule.Aim.Client != c.id {
		return false
	}
	d.taken = true
	c.next = d.server
	delete(c.n.down, d.server)
	c.n.diary.Tell("the answer to %s is lost for c%d, which moves to s%d", c.n.words(p.Request), c.id, d.server+1)
	d.wake()
	close(d.hit)
	return true
}

// How long at most the old leader stays stopped after the new one serves.
const (
	firstWrite = 3 * time.Second        // until the first request of a client is a write
	othersMove = 300 * time.Millisecond // while others change what it does not learn
)

// depose stops the leader until another one serves. Meanwhile clients wait for connections, and their requests wait
// too. Then the old leader goes on: when a client loses the answer to its first write, or with a client that still
// waits.
func (n *Nemesis) depose(ctx context.Context, s *strike, r *faults.Rule, leader int) {
	n.mu.Lock()
	victim := n.clients[s.client-1]
	for _, c := range n.clients {
		c.shut(false)
	}
	n.down[leader] = true
	n.mu.Unlock()
	n.fail(n.o.Servers.Pause(leader))
	n.mu.Lock()
	for _, c := range n.clients {
		c.cut()
	}
	n.mu.Unlock()
	n.awaitOther(ctx, leader)
	waits := s.salt%2 == 0 && r.Aim.Op == ""
	d := &deposed{server: leader, rule: r}
	d.wake = func() { n.o.Servers.Continue(leader) }
	n.mu.Lock()
	if !waits {
		d.hit = make(chan struct{})
		n.deposed = d
	}
	for _, c := range n.clients {
		if !waits || c != victim {
			c.open()
		}
	}
	n.mu.Unlock()
	n.wake(d, waits, victim)
}

// wake lets the old leader go on.
func (n *Nemesis) wake(d *deposed, waits bool, victim *client) {
	if waits {
		n.sleep(othersMove)
	} else {
		t := time.NewTimer(firstWrite)
		defer t.Stop()
		select {
		case <-d.hit:
		case <-t.C:
		case <-n.ctx.Done():
		}
	}
	n.mu.Lock()
	d.taken, n.deposed = true, nil
	delete(n.down, d.server)
	n.diary.Tell("s%d goes on, which was deposed", d.server+1)
	if waits {
		victim.next = d.server
		n.diary.Tell("c%d, which waits for a connection, moves to it", victim.id)
	}
	n.mu.Unlock()
	n.fail(n.o.Servers.Continue(d.server))
	n.mu.Lock()
	victim.open()
	n.mu.Unlock()
}
