package serve

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"zksim/internal/zkserver/zkservertest"
)

// What the getting-started guide has one type, and what comes of it.
const article = `ls /
create /zk_test my_data
ls /
get /zk_test
stat /zk_test
set /zk_test junk
get -s /zk_test
delete /zk_test
ls /
quit
`

// zkCli is Debian's.
const zkCli = "/usr/share/zookeeper/bin/zkCli.sh"

var (
	cliLog   = regexp.MustCompile(`(?m)^(SLF4J|log4j|Picked up|/usr|\d{4}-\d\d-\d\d).*\n`)
	cliDates = regexp.MustCompile(`(?m)^([cm]time = |Connecting to ).*`)
	cliEvent = regexp.MustCompile(`\nWATCHER::\n\n.*\n`)
)

// cliSession returns what the command line says, without its log and dates, and after it the events, which a thread of
// their own prints.
func cliSession(t *testing.T, addr string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), zkCli, "-server", addr)
	cmd.Stdin = strings.NewReader(article)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := cliLog.ReplaceAllString(string(out), "")
	events := cliEvent.FindAllString(text, -1)
	return cliDates.ReplaceAllString(cliEvent.ReplaceAllString(text, ""), "$1...") + strings.Join(events, "")
}

// The session of the guide goes word for word as it did on Debian's ZooKeeper 3.8.0, which is in testdata/zkcli.txt.
// With ZKSIM_PEERS=1 it is compared with that of a real server as well.
func TestTheCommandLineSaysWhatItSaysOnARealServer(t *testing.T) {
	if _, err := exec.LookPath(zkCli); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	want, err := os.ReadFile("testdata/zkcli.txt")
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, Options{})
	if got := cliSession(t, e.Addrs()[0]); got != string(want) {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	if os.Getenv("ZKSIM_PEERS") != "1" {
		return
	}
	if got := cliSession(t, zkservertest.ForTest(t, 1).Addrs()[0]); got != string(want) {
		t.Errorf("the real server: got\n%s\nexpected\n%s", got, want)
	}
}
