package serve

import (
	"net"
	"runtime"
	"testing"
)

// What is closed while the poller says that there is something to read must not wait for what the poller waits for.
func TestThePollerIsClosedWhileItTellsOfAConnection(t *testing.T) {
	ports, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	for range 100 {
		client, err := net.Dial("tcp", ports.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		sock, err := ports.Accept()
		if err != nil {
			t.Fatal(err)
		}
		l := &parking{}
		if l.poller, err = newPoller(); err != nil {
			t.Fatal(err)
		}
		if !l.poller.arm(&conn{sock: sock}) {
			t.Fatal("not armed")
		}
		told, goes, ended, closed := make(chan bool), make(chan bool), make(chan bool), make(chan bool)
		go func() {
			l.poller.run(func(fd int) {
				close(told)
				<-goes
				l.readable(fd)
			})
			close(ended)
		}()
		client.Write([]byte("x"))
		<-told
		go func() {
			l.close()
			close(closed)
		}()
		for range 1000 {
			runtime.Gosched()
		}
		close(goes)
		<-ended
		<-closed
		client.Close()
		sock.Close()
	}
}
