package zkserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// The ports that servers get: none that needs privileges and, as a rule, none that the kernel gives to clients. A
// restarted server needs its port again, which a client could have got meanwhile.
const firstPort, lastPort = 10000, 65535

// portAttempts bounds how many ports are tried for each one that is needed.
const portAttempts = 100

// freePorts returns n different ports that nobody listens on at the moment, outside the range of the kernel.
func freePorts(n int) ([]int, error) {
	low, high := ephemeral()
	ports := make([]int, 0, n)
	var last error
	for attempt := 0; len(ports) < n && attempt < portAttempts*n; attempt++ {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if low <= port && port <= high {
			continue
		}
		l, err := net.Listen("tcp", loopback+":"+strconv.Itoa(port))
		if err != nil {
			last = err
			continue
		}
		defer l.Close() // only at the end, or the same port may come twice
		ports = append(ports, port)
	}
	if len(ports) < n {
		return nil, errors.Join(fmt.Errorf("there are not %d free ports from %d to %d", n, firstPort, lastPort), last)
	}
	return ports, nil
}

// ephemeral returns the first and the last port that the kernel gives to clients, or, if the kernel does not say, those
// of most systems. A range that leaves no port free is no reason to fail: then no port is left out.
func ephemeral() (low, high int) {
	low, high = 32768, 60999
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		low, high = parseRange(string(text), low, high)
	}
	if low <= firstPort && high >= lastPort {
		return 0, 0
	}
	return low, high
}

// parseRange reads two numbers; any other text leaves the range as it was.
func parseRange(text string, low, high int) (int, int) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return low, high
	}
	a, errLow := strconv.Atoi(fields[0])
	b, errHigh := strconv.Atoi(fields[1])
	if errLow != nil || errHigh != nil || a > b {
		return low, high
	}
	return a, b
}
