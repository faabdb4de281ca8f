//go:build unix

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// works has a client create, read and delete until stop is closed; no request may fail.
func works(t *testing.T, c *zk.Conn, stop <-chan struct{}) (done chan int) {
	done = make(chan int, 1)
	go func() {
		n := 0
		defer func() { done <- n }()
		for ; ; n++ {
			select {
			case <-stop:
				if n > 0 {
					return
				}
			default:
			}
			path := fmt.Sprintf("/works-%d", n)
			_, err := c.Create(path, []byte("x"), 0, open)
			if err == nil {
				_, _, err = c.Get(path)
			}
			if err == nil {
				err = c.Delete(path, -1)
			}
			if err != nil {
				t.Errorf("somebody else is disturbed: %v", err)
				return
			}
		}
	}()
	return done
}

// calm returns how many goroutines there are, of which none is that of a connection if these can be parked.
func calm(t *testing.T, e *Ensemble, c *zk.Conn) int {
	t.Helper()
	if _, _, err := c.Get("/"); err != nil { // so that all goroutines of the client have begun
		t.Fatal(err)
	}
	awake := func() (n int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		for x := range e.conns {
			x.mu.Lock()
			if !x.parked {
				n++
			}
			x.mu.Unlock()
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); parks && awake() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections have goroutines", awake())
		}
	}
	return runtime.NumGoroutine()
}

// leaves waits until there is nothing left of others than one connection, and as many goroutines as before.
func leaves(t *testing.T, e *Ensemble, goroutines int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		e.mu.Lock()
		conns := len(e.conns)
		e.mu.Unlock()
		if conns == 1 && runtime.NumGoroutine() <= goroutines && e.input.Load() == 0 &&
			e.output.Load() == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections and %d goroutines are left, expected 1 and %d", conns, runtime.NumGoroutine(), goroutines)
		}
	}
}

func TestTenThousandConnectsDisturbNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("opens ten thousand sockets")
	}
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	before := calm(t, e, c)
	stop := make(chan struct{})
	done := works(t, c, stop)
	var wg sync.WaitGroup
	const many, at = 10_000, 8
	for k := range at {
		wg.Go(func() {
			for i := range many / at {
				sock, err := net.Dial("tcp", e.Addrs()[0])
				if err != nil {
					t.Error(err)
					return
				}
				switch (i + k) % 4 {
				case 1:
					sock.(*net.TCPConn).SetLinger(0) // a reset
				case 2:
					sock.Write([]byte{0, 0, 0, 44, 0, 0})
				case 3:
					sock.Write([]byte("ruok"))
				}
				sock.Close()
			}
		})
	}
	wg.Wait()
	close(stop)
	if n := <-done; n == 0 {
		t.Error("the client has come to nothing")
	}
	leaves(t, e, before)
}

// Packets that never come whole take memory up to a limit; those who go beyond it lose their connections.
func TestPartsOfPacketsTakeNoMoreThanALimit(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	before := calm(t, e, c)
	part := make([]byte, 1_000_000)
	copy(part, []byte{0, 0x0f, 0xff, 0xfe})
	ended := 0
	var socks []net.Conn
	for range maxTotalInput/len(part) + 10 {
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		socks = append(socks, sock)
		if _, err := sock.Write(part); err != nil {
			ended++
		}
	}
	for e.input.Load() < maxTotalInput/2 { // all of it has arrived, or was refused
		time.Sleep(time.Millisecond)
	}
	if n := e.input.Load(); n > maxTotalInput+int64(len(part)) {
		t.Errorf("%d bytes of parts are kept", n)
	}
	if _, _, err := c.Get("/"); err != nil {
		t.Error(err)
	}
	for _, sock := range socks {
		sock.Close()
	}
	leaves(t, e, before)
}

const victimVariable = "ZKSIM_SERVE_VICTIM"

// TestHelperIsKilled is no test: a client in a process of its own, which another test kills in the middle of a packet.
func TestHelperIsKilled(t *testing.T) {
	addr := os.Getenv(victimVariable)
	if addr == "" {
		t.Skip("run by another test")
	}
	c := client(t, 10*time.Second, addr)
	must[string](t)(c.Create("/mine", nil, zk.FlagEphemeral, open))
	if _, _, _, err := c.ChildrenW("/"); err != nil {
		t.Fatal(err)
	}
	sock, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	sock.Write([]byte{0, 0, 1, 0, 0, 0, 0, 9, 0})
	fmt.Println("ready")
	select {}
}

func TestAClientThatIsKilledLeavesNothing(t *testing.T) {
	e := start(t, Options{TickTime: 100 * time.Millisecond, MaxSessionTimeout: 30 * time.Second})
	other := client(t, 30*time.Second, e.Addrs()...)
	before := calm(t, e, other)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestHelperIsKilled$", "-test.v")
	cmd.Env = append(os.Environ(), victimVariable+"="+e.Addrs()[0])
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	exists, _, gone, err := other.ExistsW("/mine")
	if err != nil || !exists {
		t.Fatal(exists, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for k := 2; k <= 3; k++ { // its sessions live on, and end by the clock, or as here by order
		for e.Expire(k) == nil {
		}
	}
	if ev := <-gone; ev.Type != zk.EventNodeDeleted {
		t.Errorf("%+v", ev)
	}
	leaves(t, e, before+1) // the goroutine of a watch
	if s := e.State(); len(s.Sessions) != 1 || len(s.Znodes) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestTheControlChannelIsNotDisturbedByNonsense(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	url, err := e.Control("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/faults", `{"plan": `, 400, "expected JSON"},
		{"POST", "/faults", `{"plan": 1}`, 400, "expected JSON"},
		{"POST", "/faults", `{"plan": "none"} {"plan": "none"}`, 400, "nothing after the JSON"},
		{"POST", "/faults", `{"plan": "` + strings.Repeat("x", 10*maxOrder) + `"}`, 400, "too large"},
		{"POST", "/expire", "\x00\xff", 400, "expected c1 or 0x1001"},
		{"POST", "/expire", "c99999999999999999999", 400, "expected c1 or 0x1001"},
		{"POST", "/expire", `{"session": "0xfffffffffffffffff"}`, 400, `{\"session\": \"0x1001\"}, not {`},
		{"POST", "/expire", `{"session": "0x-1"}`, 400, "expected JSON"},
		{"POST", "/expire", `{"session": "4097"}`, 400, "expected JSON"},
		{"POST", "/expire", "0x0", 400, "no session 0x0"}, {"POST", "/expire", `{"session": 0}`, 400, "no session 0x0"},
		{"POST", "/expire", `{"client": 1.5}`, 400, `{\"client\": 1}, not {\"client\": 1.5}`},
		{"POST", "/expire", `{"client": null}`, 400, "expected JSON"}, {"POST", "/expire", "{}", 400, "one of client"},
		{"POST", "/expire", "", 400, "expected c1 or 0x1001"}, {"POST", "/stop", " \n", 400, "expected s1"},
		{"POST", "/kill", "s-1", 400, "expected s1"},
		{"POST", "/quiet", `{"ms": 9223372036854775807}`, 400, "expected 0 to"},
		{"GET", "/faults", "", 405, ""}, {"PUT", "/reset", "", 405, ""}, {"DELETE", "/state", "", 405, ""},
		{"POST", "/state", "", 405, ""}, {"POST", "/history", "", 405, ""},
		{"GET", "/", "", 404, ""}, {"GET", "/etc/passwd", "", 404, ""}, {"POST", "/commands/ruok", "", 404, ""},
	} {
		status, _, text := orderOf(t, x.method, url+x.path, x.body)
		if status != x.status || !strings.Contains(text, x.says) {
			t.Errorf("%s %s %.40q: %d %.200s, expected %d %q", x.method, x.path, x.body, status, text, x.status, x.says)
		}
	}
	addr := strings.TrimPrefix(url, "http://")
	for _, raw := range []string{"GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "\x00\x01\x02\r\n\r\n",
		"POST /faults HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n{",
		"GET /state HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n"} {
		sock, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer sock.Close()
		go io.WriteString(sock, raw) // and nothing more: the server waits for the rest, or answers
	}
	if _, _, err := c.Get("/"); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	e.Close() // at once, whatever is still under way
	if err := e.Report("x"); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if l, err := net.Listen("tcp", addr); err != nil {
		t.Error("the port is still taken: ", err)
	} else {
		l.Close()
	}
}

func TestWithoutATokenOnlyLoopbackIsServed(t *testing.T) {
	url, err := start(t, Options{}).Control("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	for host, status := range map[string]int{"": 200, "localhost": 200, "LOCALHOST:1": 403, "[::1]:2": 200, "::1": 200,
		"rebound.example": 403, "127.0.0.1.example:80": 403, "10.0.0.1": 403} {
		q, err := http.NewRequest("GET", url+"/state", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = host
		r, err := http.DefaultClient.Do(q)
		if err != nil || r.StatusCode != status {
			t.Fatalf("host %q: %v %v, expected %d", host, r, err, status)
		}
		r.Body.Close()
	}
}

// A client that does not read its events loses its connection when they are too many, and nobody waits for it.
func TestASlowReaderOfEventsHoldsNobodyUp(t *testing.T) {
	if testing.Short() {
		t.Skip("sends much")
	}
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	if a, _ := ask(t, sock, model.Request{Op: model.OpAddWatch, Path: "/", Mode: 1}); a.Err != model.OK {
		t.Fatal(a.Err)
	}
	name := "/" + strings.Repeat("x", 100_000)
	for range 250 { // 100 kB of events each
		must[string](t)(c.Create(name, nil, 0, open))
		if err := c.Delete(name, -1); err != nil {
			t.Fatal(err)
		}
		e.mu.Lock()
		for x := range e.conns {
			if n := x.waiting(); n > maxOutput+maxWaiting {
				t.Errorf("%d bytes wait", n)
			}
		}
		e.mu.Unlock()
	}
	for e.State().Servers[0].Connections > 1 {
		time.Sleep(time.Millisecond)
	}
}

// An ACL with the scheme auth has all identities of a client, so these have a limit.
func TestAClientHasALimitedNumberOfIdentities(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	before := calm(t, e, c)
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	for i := range 2 * maxIdentities {
		q := model.Request{Op: model.OpAuth, Path: "digest", Data: fmt.Appendf(nil, "user%d:secret", i)}
		if _, err := sock.Write(jute.EndFrame(jute.AppendRequest(jute.StartFrame(nil), jute.XidAuth, &q), 0)); err != nil {
			break
		}
	}
	n := 0
	for ; ; n++ {
		if _, err := receive(sock); err != nil {
			break
		}
	}
	if n > maxIdentities {
		t.Errorf("%d identities were accepted, expected %d at most", n, maxIdentities)
	}
	sock.Close()
	if _, _, err := c.Get("/"); err != nil {
		t.Error(err)
	}
	if err := e.Expire(2); err != nil {
		t.Error(err)
	}
	leaves(t, e, before)
}

// What waits for clients that do not read is known, and all of it is forgotten with their connections.
func TestWhatWaitsForClientsIsCounted(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/big", make([]byte, 900_000), 0, open))
	before := calm(t, e, c)
	const n = 20
	var socks [n]net.Conn
	for i := range socks {
		socks[i] = dial(t, e)
		hello(t, socks[i], 0, make([]byte, jute.PasswordLen))
		for range 20 {
			send(t, socks[i], jute.AppendRequest(nil, 1, &model.Request{Op: model.OpGetData, Path: "/big"}))
		}
	}
	for e.output.Load() < n*900_000 {
		time.Sleep(time.Millisecond)
	}
	e.mu.Lock()
	total := 0
	for x := range e.conns {
		x.mu.Lock()
		total += x.counted
		x.mu.Unlock()
	}
	e.mu.Unlock()
	if limit := n * (maxWaiting + 1_000_000); total > limit {
		t.Errorf("%d bytes wait, expected %d at most", total, limit)
	}
	for _, sock := range socks {
		sock.Close()
	}
	leaves(t, e, before)
}

// TestAnAnswerOfManyAnswersHasALimit: a packet of 1 MB could ask for 40 GB.
func TestAnAnswerOfManyAnswersHasALimit(t *testing.T) {
	e := start(t, Options{})
	stop := make(chan struct{})
	others := works(t, client(t, 30*time.Second, e.Addrs()...), stop)
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	ask(t, sock, model.Request{Op: model.OpCreate, Path: "/long", Data: make([]byte, 1_000_000), ACL: open})
	many := func(n int) model.Request {
		q := model.Request{Op: model.OpMultiRead}
		for range n {
			q.Ops = append(q.Ops, model.Request{Op: model.OpGetData, Path: "/long"})
		}
		return q
	}
	if a, _ := ask(t, sock, many(20)); a.Err != model.OK || len(a.Body) < 20_000_000 {
		t.Errorf("20 MB: %v, %d bytes", a.Err, len(a.Body))
	}
	if a, _ := ask(t, sock, many(30_000)); a.Err != model.MarshallingError {
		t.Errorf("30 GB: %v, %d bytes", a.Err, len(a.Body))
	}
	if b, err := receive(sock); err == nil {
		t.Errorf("the connection goes on: %x", b)
	}
	close(stop)
	<-others
}
