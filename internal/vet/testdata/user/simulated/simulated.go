// Package simulated has functions that are simulated, and others.
package simulated

import (
	"context"
	"time"

	"zksim/recipes"
	"zksim/scenarios"
)

// By a parameter.

func conn(c recipes.Conn)                          { time.Sleep(1) } // want `time.Sleep`
func env(e recipes.Env)                            { time.Sleep(1) } // want `time.Sleep`
func process(p *scenarios.Process)                 { time.Sleep(1) } // want `time.Sleep`
func object(o scenarios.Object)                    { time.Sleep(1) } // want `time.Sleep`
func pointer(c *recipes.Conn)                      { time.Sleep(1) } // want `time.Sleep`
func variadic(all ...recipes.Conn)                 { time.Sleep(1) } // want `time.Sleep`
func holder(l *lock)                               { time.Sleep(1) } // want `time.Sleep`
func typeParameter[C recipes.Conn](c C)            { time.Sleep(1) } // want `time.Sleep`
func more(c wide)                                  { time.Sleep(1) } // want `time.Sleep`
func alias(e short)                                { time.Sleep(1) } // want `time.Sleep`
func named(c renamed)                              { time.Sleep(1) } // want `time.Sleep`
func anonymous(x struct{ env recipes.Env })        { time.Sleep(1) } // want `time.Sleep`
func result() recipes.Conn                         { time.Sleep(1); return nil }
func callback(f func(p *scenarios.Process))        { time.Sleep(1) }
func list(all []recipes.Conn)                      { time.Sleep(1) }
func foreign(l *recipes.Lock)                      { time.Sleep(1) }
func scenario(s scenarios.Scenario)                { time.Sleep(1) }
func nothing(ctx context.Context, d time.Duration) { time.Sleep(d) }

// By the receiver.

type lock struct {
	conn recipes.Conn
	path string
}

func (l *lock) method() { time.Sleep(1) } // want `time.Sleep`
func (l lock) byValue() { time.Sleep(1) } // want `time.Sleep`
func (lock) unnamed()   { time.Sleep(1) } // want `time.Sleep`

type (
	wide interface {
		recipes.Conn
		More()
	}
	short          = recipes.Env
	renamed        recipes.Conn
	embedded       struct{ *lock }
	deep           struct{ inner struct{ l *lock } }
	generic[T any] struct {
		env   recipes.Env
		value T
	}
	cyclic struct {
		next *cyclic
		env  recipes.Env
	}
	boxed[C recipes.Conn] struct{ conn C }
	programs              struct{ run func(p *scenarios.Process) }
	owner                 struct{ lock *recipes.Lock }
	plain                 struct{ next *plain }
)

func (e embedded) method()    { time.Sleep(1) } // want `time.Sleep`
func (d *deep) method()       { time.Sleep(1) } // want `time.Sleep`
func (g *generic[T]) method() { time.Sleep(1) } // want `time.Sleep`
func (c cyclic) first()       { time.Sleep(1) } // want `time.Sleep`
func (c *cyclic) method()     { time.Sleep(1) } // want `time.Sleep`
func (b *boxed[C]) method()   { time.Sleep(1) } // want `time.Sleep`
func (p *programs) method()   { time.Sleep(1) }
func (o *owner) method()      { time.Sleep(1) }
func (p *plain) method()      { time.Sleep(1) }

// By what mentions it.

func (l *lock) acquire() {
	helper()
	defer l.later(last)
	var p plain
	p.used()
	apply[int](1)
	f := func() { literal() }
	f()
	_ = begin
	_ = initial()
}

func helper()                { second() }
func second()                { time.Sleep(1); helper() } // want `^time.Sleep blocks outside of the simulator; use Env.Sleep \(simulated because helper uses second\)$`
func last()                  { time.Sleep(1) }           // want `simulated because lock.acquire uses last`
func (l *lock) later(func()) {}
func (p *plain) used()       { time.Sleep(1) } // want `simulated because lock.acquire uses plain.used`
func apply[T any](T)         { time.Sleep(1) } // want `simulated because lock.acquire uses apply`
func literal()               { time.Sleep(1) } // want `simulated because lock.acquire uses literal`
func unused()                { time.Sleep(1); helper() }

var begin = time.Now() // want `^time.Now reads the real clock; use Env.Now \(simulated because lock.acquire uses begin\)$`

var initial = func() time.Time { return time.Now() } // want `simulated because lock.acquire uses initial`

var one, two = pair()

func pair() (time.Time, time.Time) { return time.Now(), time.Now() } // want `simulated because one uses pair` `simulated because one uses pair`

func (l *lock) both() { _ = two }

var unmentioned = time.Now()

// Function literals.

func literals() {
	time.Sleep(1)
	_ = func() { time.Sleep(1) }
	_ = func(c recipes.Conn) {
		time.Sleep(1) // want `time.Sleep`
		func() {
			time.Sleep(1) // want `time.Sleep`
			also()
		}()
		_ = func(p *scenarios.Process) { inner() }
	}
	time.Sleep(1)
}

func inner() { time.Sleep(1) } // want `simulated because the function literal in literals uses inner`

func also() { time.Sleep(1) } // want `simulated because the function literal in literals uses also`

var program = func(p *scenarios.Process) {
	time.Sleep(1) // want `time.Sleep`
}

var mine = scenarios.Scenario{
	Name: "mine",
	Program: func(p *scenarios.Process) {
		time.Sleep(1) // want `time.Sleep`
	},
}
