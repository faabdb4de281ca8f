package banned

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/recipes/live"
)

func asks(conn recipes.Conn) {
	name, _ := os.Hostname()                   // want `^os.Hostname asks the machine, so that a replay elsewhere is another run; take the value as a parameter$`
	_ = os.Getenv("HOME")                      // want `^os.Getenv asks the machine`
	_, _ = os.ReadFile(name)                   // want `^os.ReadFile asks the machine`
	_, _ = net.Dial("tcp", name)               // want `^net.Dial waits outside of the simulator, for something that it cannot repeat; keep it out of simulated code$`
	_, _ = http.Get(name)                      // want `^net/http.Get waits`
	_ = exec.Command(name).Run()               // want `^\(\*os/exec.Cmd\).Run waits`
	_, _, _ = zk.Connect(nil, 0)               // want `^github.com/go-zookeeper/zk.Connect connects outside of the simulator; take a recipes.Conn as a parameter$`
	_, _ = live.Dial(nil, nil, live.Options{}) // want `^zksim/recipes/live.Dial connects`
	signal.Notify(nil)                         // want `^os/signal.Notify waits for what the simulator does not send; take a context as a parameter$`
	_, _ = signal.NotifyContext(nil)           // want `^os/signal.NotifyContext waits`
	_ = net.JoinHostPort(name, "")
	_ = net.ParseIP(name)
	fmt.Fprintln(os.Stderr, name)
	_ = fmt.Sprintf("%s-%[2]p", name, conn) // want `^the verb %p writes an address, another one in each run; write what names the value$`
	_ = fmt.Sprintf("100%%p, %d%", 1)
}

func gives(conn recipes.Conn) {
	log.Fatal()           // want `^log.Fatal ends the whole test, and no checker sees the run; return an error, or use Process.Fail$`
	log.Fatalf("")        // want `^log.Fatalf ends`
	log.Default().Fatal() // want `^\(\*log.Logger\).Fatal ends`
	log.Print()
	os.Exit(1) // want `^os.Exit ends the whole test`
}

// real is not simulated: it makes a Conn, and takes none.
func real() recipes.Conn {
	c, _ := live.Dial(nil, []string{os.Getenv("ZK")}, live.Options{})
	return c
}
