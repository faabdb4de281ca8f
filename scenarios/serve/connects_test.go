//go:build unix

package serve

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// BenchmarkConnects has sixteen clients at a time connect to our server and to a real one, by turns, as [BenchmarkLoad]
// does: they connect only, open a session as well, or close that too. It tells the medians of connects a second, the
// median of the ratios, and for how many microseconds another client has waited for a set: the median, and the longest
// of a hundred.
func BenchmarkConnects(b *testing.B) {
	names, addrs := bothLive(b)
	for _, what := range []string{"warm", "connect", "session", "close"} { // the first time is for Java to compile
		b.Run(what, func(b *testing.B) {
			var rates, waits [2][]float64
			var ratios []float64
			for b.Loop() {
				for k, addr := range addrs {
					rate, waited := connects(b, addr, what)
					rates[k] = append(rates[k], rate)
					waits[k] = append(waits[k], waited...)
				}
				last := len(ratios)
				ratios = append(ratios, rates[0][last]/rates[1][last])
			}
			for k, name := range names {
				b.ReportMetric(median(rates[k]), name+"-connects/s")
				b.ReportMetric(median(waits[k]), name+"-us/set")
				b.ReportMetric(slices.Sorted(slices.Values(waits[k]))[len(waits[k])*99/100], name+"-us/set-p99")
			}
			b.ReportMetric(median(ratios), "x-faster")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// connects makes some connections, and returns how many a second, and for how long, in microseconds, each set of
// another client took meanwhile.
func connects(b *testing.B, addr, what string) (rate float64, waited []float64) {
	const total, at = 4000, 16
	other := client(b, 30*time.Second, addr)
	defer other.Close()
	if _, err := other.Set("/", nil, -1); err != nil {
		b.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for begin := time.Now(); ; begin = time.Now() {
			if _, err := other.Set("/", nil, -1); err != nil {
				b.Error(err)
			}
			waited = append(waited, float64(time.Since(begin).Microseconds()))
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	begin := time.Now()
	var all sync.WaitGroup
	for range at {
		all.Go(func() {
			for range total / at {
				connectOnce(b, addr, what)
			}
		})
	}
	all.Wait()
	rate = total / time.Since(begin).Seconds()
	close(stop)
	<-done
	return rate, waited
}

func connectOnce(b *testing.B, addr, what string) {
	sock, err := net.Dial("tcp", addr)
	if err != nil {
		b.Error(err)
		return
	}
	defer sock.Close()
	sock.(*net.TCPConn).SetLinger(0) // a reset, so that the machine does not run out of ports
	if what == "connect" {
		return
	}
	hello(b, sock, 0, make([]byte, jute.PasswordLen))
	if what == "session" {
		return
	}
	send(b, sock, jute.AppendRequest(nil, 1, &model.Request{Op: model.OpCloseSession}))
	if _, err := receive(sock); err != nil && err != io.EOF {
		b.Error(err)
	}
}
