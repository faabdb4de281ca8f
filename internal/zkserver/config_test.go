package zkserver

import (
	"strings"
	"testing"
	"time"
)

func members(n int) []*member {
	all := make([]*member, n)
	for i := range all {
		id := i + 1
		all[i] = &member{id: id, dir: "/z/server-" + string(rune('0'+id)), client: 100 + id, quorum: 200 + id,
			elect: 300 + id}
	}
	return all
}

func TestConfigOfAStandaloneServer(t *testing.T) {
	o, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	all := members(1)
	const want = `tickTime=500
dataDir=/z/server-1/data
clientPort=101
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=*
extendedTypesEnabled=true
maxClientCnxns=0
`
	if got := o.config(all[0], all); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestConfigOfAMemberOfAQuorumWithSessionLimits(t *testing.T) {
	o := Options{TickTime: 100 * time.Millisecond, MinSessionTimeout: 200 * time.Millisecond,
		MaxSessionTimeout: time.Minute}
	all := members(3)
	const want = `tickTime=100
dataDir=/z/server-2/data
clientPort=102
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=*
extendedTypesEnabled=true
maxClientCnxns=0
minSessionTimeout=200
maxSessionTimeout=60000
initLimit=10
syncLimit=5
server.1=127.0.0.1:201:301
server.2=127.0.0.1:202:302
server.3=127.0.0.1:203:303
`
	if got := o.config(all[1], all); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPropertiesEscapeWhatJavaWouldMisread(t *testing.T) {
	for in, want := range map[string]string{
		"/tmp/plain dir":   "/tmp/plain dir",
		`C:\Temp`:          `C:\\Temp`,
		"/tmp/grün\n/🔒":    `/tmp/gr\u00fcn\u000a/\ud83d\udd12`,
		"/tmp/a=b:c#d!e f": "/tmp/a=b:c#d!e f", // special in keys only
	} {
		if got := escapeProperty(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestOptionsAreCheckedBeforeAnythingStarts(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Servers: 2}, "zkserver: 2 servers: want 1 or 3"},
		{Options{Servers: -1}, "zkserver: -1 servers: want 1 or 3"},
		{Options{TickTime: time.Microsecond}, "zkserver: TickTime 1µs: want whole milliseconds"},
		{Options{StartTimeout: -time.Second}, "zkserver: StartTimeout -1s: want whole milliseconds"},
		{Options{MinSessionTimeout: 2 * time.Second, MaxSessionTimeout: time.Second},
			"zkserver: MinSessionTimeout exceeds MaxSessionTimeout"},
	} {
		if _, err := Start(t.Context(), c.o); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.o, err, c.want)
		}
	}
}

func TestTailKeepsTheLastLinesAndPassesAllOn(t *testing.T) {
	var log strings.Builder
	out := tail{prefix: "server 1: ", log: &log}
	if got := out.String(); got != "" {
		t.Errorf("empty tail: %q", got)
	}
	for range tailLines {
		out.Write([]byte("old\n"))
	}
	long := strings.Repeat("x", lineBytes+10)
	for _, part := range []string{"two ", "parts\r\n\nand ", long, "\nopen"} {
		if n, err := out.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	want := strings.Repeat("    old\n", tailLines-3) +
		"    two parts\n    \n    and " + long[:lineBytes-4] + "\n    open"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(log.String(), "open") {
		t.Error("an unfinished line was passed on")
	}
	out.end()
	if got := strings.Count(log.String(), "server 1: "); got != tailLines+4 ||
		!strings.HasSuffix(log.String(), "server 1: open\n") {
		t.Errorf("%d lines in the log:\n%s", got, log.String())
	}
}
