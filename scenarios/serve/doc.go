// Package serve is the simulated ensemble behind real sockets: one server or three, each with a port on which it
// speaks ZooKeeper's protocol with any client of any language. Faults of a plan strike the requests of these clients,
// and everything that happens is in a history.
//
// One world of package sim does all the work, under one lock: what a client asks is executed, answered and told to all
// that watch before the next request is looked at. Time is real, so the order in which requests come is not
// determined; which of them a rule of the plan strikes is: the n-th of the client with that number. Clients are
// numbered by their first connection.
//
// The package must not know what the bytes of a packet mean (package jute does), nor what an operation does (package
// model does).
package serve
