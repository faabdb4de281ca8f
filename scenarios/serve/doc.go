// Package serve puts the simulated ensemble behind real sockets: one server or three, each with a port on which it
// speaks ZooKeeper's protocol with any client in any language. Faults of a plan strike the requests of these clients,
// and a history records everything that happens.
//
// One world of package sim does all the work, under one lock: a request is executed and answered, and all watchers are
// told, before the next request is looked at. Time is real, so the order in which requests come is not determined.
// Which of them a rule of the plan strikes is determined: the n-th of the client with that number. Clients are numbered
// by their first connection.
//
// The package must not know what the bytes of a packet mean (package jute does), nor what an operation does (package
// model does).
package serve
