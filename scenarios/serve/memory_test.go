//go:build unix

package serve

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"zksim/internal/zkserver"
	"zksim/model"
	"zksim/model/jute"
)

const helperVariable = "ZKSIM_SERVE_MEMORY"

// TestHelperServesInAProcessOfItsOwn is no test: [BenchmarkMemory] runs it in another process. It answers each line
// with how many bytes live.
func TestHelperServesInAProcessOfItsOwn(t *testing.T) {
	if os.Getenv(helperVariable) == "" {
		t.Skip("run by a benchmark")
	}
	raised(t, 10_000)
	e := start(t, Options{TickTime: time.Minute, Events: 1000}) // the history is not what is measured
	fmt.Printf("ready %s\n", e.Addrs()[0])
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Printf("bytes %d\n", m.HeapAlloc+m.StackInuse)
	}
}

// lives starts a server in a process of its own. The function tells how many bytes live there.
func lives(b *testing.B, name string) (addr string, bytes func() int) {
	if name == "zookeeper" {
		return livesReal(b)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestHelperServesInAProcessOfItsOwn$", "-test.v")
	cmd.Env = append(os.Environ(), helperVariable+"=1")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	next := func(word string) string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), word+" "); ok {
				return text
			}
		}
		b.Fatalf("no line %q", word)
		return ""
	}
	addr = next("ready")
	return addr, func() int {
		fmt.Fprintln(in)
		n, err := strconv.Atoi(next("bytes"))
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
}

func livesReal(b *testing.B) (addr string, bytes func() int) {
	if _, err := exec.LookPath("jcmd"); err != nil {
		b.Skip(err)
	}
	e, err := zkserver.Start(b.Context(), zkserver.Options{TickTime: time.Minute})
	if errors.Is(err, zkserver.ErrUnavailable) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Stop() })
	total := regexp.MustCompile(`(?m)^Total +\d+ +(\d+)`)
	return e.Addrs()[0], func() int { // the histogram is of what lives, after a collection
		out, err := exec.Command("jcmd", strconv.Itoa(e.Pid(0)), "GC.class_histogram").CombinedOutput()
		found := total.FindSubmatch(out)
		if err != nil || found == nil {
			b.Fatalf("%v: %s", err, out)
		}
		n, _ := strconv.Atoi(string(found[1]))
		return n
	}
}

// BenchmarkMemory tells how many bytes a session, a znode and a watch take in the process of a server.
func BenchmarkMemory(b *testing.B) {
	const sessions, znodes = 2000, 50_000
	raised(b, sessions)
	for _, name := range []string{"zksim", "zookeeper"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				addr, bytes := lives(b, name)
				begin := bytes()
				socks := make([]net.Conn, sessions)
				for i := range socks {
					socks[i] = dialTo(b, addr)
					hello(b, socks[i], 0, make([]byte, jute.PasswordLen))
				}
				sessionBytes := bytes() - begin
				pipeline(b, socks[0], znodes, func(i int) model.Request {
					return model.Request{Op: model.OpCreate, Path: fmt.Sprintf("/z%09d", i), Data: make([]byte, 10), ACL: open}
				})
				znodeBytes := bytes() - begin - sessionBytes
				pipeline(b, socks[0], znodes, func(i int) model.Request {
					return model.Request{Op: model.OpGetData, Path: fmt.Sprintf("/z%09d", i), Watch: true}
				})
				watchBytes := bytes() - begin - sessionBytes - znodeBytes
				b.ReportMetric(float64(begin)/1e6, "MB/server")
				b.ReportMetric(float64(sessionBytes)/sessions, "B/session")
				b.ReportMetric(float64(znodeBytes)/znodes, "B/znode")
				b.ReportMetric(float64(watchBytes)/znodes, "B/watch")
				for _, sock := range socks {
					sock.Close()
				}
			}
		})
	}
}

// pipeline makes n requests, some hundreds at a time, and reads all answers.
func pipeline(b *testing.B, sock net.Conn, n int, request func(i int) model.Request) {
	const most = 500
	in := bufio.NewReader(sock)
	sock.SetDeadline(time.Now().Add(5 * time.Minute))
	for i := 0; i < n; i += most {
		var packets []byte
		for k := i; k < min(i+most, n); k++ {
			q := request(k)
			at := len(packets)
			packets = jute.EndFrame(jute.AppendRequest(jute.StartFrame(packets), int32(k), &q), at)
		}
		if _, err := sock.Write(packets); err != nil {
			b.Fatal(err)
		}
		for k := i; k < min(i+most, n); k++ {
			packet, err := receive(in)
			if err != nil {
				b.Fatal(err)
			}
			if a, err := jute.ParseReply(packet); err != nil || a.Err != model.OK {
				b.Fatal(err, a.Err)
			}
		}
	}
}
