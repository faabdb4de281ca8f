package vet

import (
	"go/types"
	"maps"
	"strings"
)

// What is wrong with names of other packages, and what to use instead.
const (
	isReal      = "asks the machine, so that a replay elsewhere is another run; take the value as a parameter"
	isNet       = "waits outside of the simulator, for something that it cannot repeat; keep it out of simulated code"
	isClock     = "waits for the real clock; use Env.Sleep, or Env.WithTimeout and Env.Await"
	isDeadline  = "ends by the real clock; use Env.WithTimeout"
	isRandom    = "draws what no seed of the simulator decides; use Env.UUID for names, or rand.New with a fixed seed"
	isSecret    = "draws what no seed of the simulator decides; use Env.UUID"
	isGoroutine = "starts a goroutine outside of the simulator; use Env.Go"
	isLock      = "blocks outside of the simulator while the holder waits; " +
		"let one goroutine own what it guards, and use Env.Await to wait for it"
	isExit   = "ends the whole test, and no checker sees the run; return an error, or use Process.Fail"
	isSignal = "waits for what the simulator does not send; take a context as a parameter"
	isDial   = "connects outside of the simulator; take a recipes.Conn as a parameter"
	isZone   = "depends on the machine; use time.UTC"
)

// bannedNames are functions, methods and variables, as FullName writes them. A mention
// is enough: a function can be called later.
var bannedNames = map[string]string{
	"time.Sleep":        "blocks outside of the simulator; use Env.Sleep",
	"time.After":        isClock,
	"time.AfterFunc":    "starts a goroutine by the real clock; use Env.Go, and Env.Sleep in it",
	"time.NewTimer":     isClock,
	"time.NewTicker":    isClock,
	"time.Tick":         isClock,
	"time.Now":          "reads the real clock; use Env.Now",
	"time.Since":        "reads the real clock; use Env.Now and Time.Sub",
	"time.Until":        "reads the real clock; use Env.Now and Time.Sub",
	"time.Local":        isZone,
	"time.LoadLocation": isZone,
	"(time.Time).Local": isZone,

	"context.WithTimeout":       isDeadline,
	"context.WithTimeoutCause":  isDeadline,
	"context.WithDeadline":      isDeadline,
	"context.WithDeadlineCause": isDeadline,
	"context.AfterFunc":         "starts a goroutine outside of the simulator; use Env.Go, and Env.Await in it",

	"(*sync.Mutex).Lock":      isLock,
	"(*sync.RWMutex).Lock":    isLock,
	"(*sync.RWMutex).RLock":   isLock,
	"(sync.Locker).Lock":      isLock,
	"(*sync.WaitGroup).Wait":  awaitInstead,
	"(*sync.WaitGroup).Go":    isGoroutine,
	"(*sync.Cond).Wait":       awaitInstead,
	"(*sync.Pool).Get":        "returns what the garbage collector has left; make a new value",
	"(*sync.Map).Range":       "has another order in each run; use a map and slices.Sorted(maps.Keys(m))",
	"reflect.Select":          awaitInstead,
	"(reflect.Value).Recv":    awaitInstead,
	"runtime.Gosched":         "lets nothing in the simulator run; use Env.Sleep",
	"runtime.NumGoroutine":    isReal,
	"(reflect.Value).MapKeys": "has another order in each run; sort them",

	"(*golang.org/x/sync/errgroup.Group).Go":          isGoroutine,
	"(*golang.org/x/sync/errgroup.Group).TryGo":       isGoroutine,
	"(*golang.org/x/sync/errgroup.Group).Wait":        awaitInstead,
	"(*golang.org/x/sync/semaphore.Weighted).Acquire": awaitInstead,
	"(*golang.org/x/sync/singleflight.Group).Do":      awaitInstead,
	"(*golang.org/x/sync/singleflight.Group).DoChan":  isGoroutine,
	"github.com/go-zookeeper/zk.Connect":              isDial,
	"github.com/go-zookeeper/zk.ConnectWithDialer":    isDial,
	"zksim/recipes/live.Dial":                         isDial,
	"syscall.Nanosleep":                               isClock,
	"os.Exit":                                         isExit,
	"log.Fatal":                                       isExit,
	"log.Fatalf":                                      isExit,
	"log.Fatalln":                                     isExit,
	"(*log.Logger).Fatal":                             isExit,
	"(*log.Logger).Fatalf":                            isExit,
	"(*log.Logger).Fatalln":                           isExit,
	"os/signal.Notify":                                isSignal,
	"os/signal.NotifyContext":                         isSignal,
	"os.Environ":                                      isReal,
	"os.Getenv":                                       isReal,
	"os.LookupEnv":                                    isReal,
	"os.Getpid":                                       isReal,
	"os.Hostname":                                     isReal,
	"os.Open":                                         isReal,
	"os.OpenFile":                                     isReal,
	"os.Create":                                       isReal,
	"os.ReadFile":                                     isReal,
	"os.WriteFile":                                    isReal,
	"os.ReadDir":                                      isReal,
	"os.Stat":                                         isReal,
	"net.InterfaceAddrs":                              isReal,
	"net.Interfaces":                                  isReal,
	"net.Dial":                                        isNet,
	"net.DialTimeout":                                 isNet,
	"(*net.Dialer).Dial":                              isNet,
	"(*net.Dialer).DialContext":                       isNet,
	"net.Listen":                                      isNet,
	"net.LookupAddr":                                  isNet,
	"net.LookupHost":                                  isNet,
	"net.LookupIP":                                    isNet,
	"net/http.Get":                                    isNet,
	"net/http.Head":                                   isNet,
	"net/http.Post":                                   isNet,
	"net/http.PostForm":                               isNet,
	"net/http.ListenAndServe":                         isNet,
	"(*net/http.Client).Do":                           isNet,
	"(*net/http.Client).Get":                          isNet,
	"(*net/http.Client).Head":                         isNet,
	"(*net/http.Client).Post":                         isNet,
	"(*net/http.Client).PostForm":                     isNet,
	"(*os/exec.Cmd).CombinedOutput":                   isNet,
	"(*os/exec.Cmd).Output":                           isNet,
	"(*os/exec.Cmd).Run":                              isNet,
	"(*os/exec.Cmd).Start":                            isNet,
}

// Names are the functions, methods and variables that Banned knows by name, with what it says of them.
func Names() map[string]string { return maps.Clone(bannedNames) }

// Banned says what is wrong with the use of an object of another package in code that must do the same in every run,
// and what to use instead: "reads the real clock; use Env.Now". It is "" if nothing is.
func Banned(o types.Object) string {
	name := FullName(o)
	if why := bannedNames[name]; why != "" {
		return why
	}
	switch o.(type) {
	case *types.Func, *types.Var:
	default:
		return ""
	}
	switch o.Pkg().Path() {
	case "crypto/rand", "hash/maphash": // of which even a Hash has a new seed in every process
		if name != "" {
			return isSecret
		}
	case "math/rand", "math/rand/v2":
		// What has a seed of its own is decided by it.
		if o.Parent() == o.Pkg().Scope() && !strings.HasPrefix(o.Name(), "New") {
			return isRandom
		}
	}
	return ""
}

// FullName is the name of an object of package level or of a method, with its import path, and "" for others, such as
// fields and what the language has built in.
func FullName(o types.Object) string {
	if f, ok := o.(*types.Func); ok {
		return f.Origin().FullName()
	}
	if o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return o.Pkg().Path() + "." + o.Name()
}
