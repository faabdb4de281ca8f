// Package jobs is a job service written as if for production. Orders are znodes in a folder, and the workers of any
// instance take and do them. It uses *zk.Conn, goroutines, select, maps, a mutex and tickers, and knows nothing about a
// simulator. On an unmodified Go toolchain, no two of its runs are the same.
//
// It has a bug: it repeats a create whose reply was lost, so one order is done twice.
package jobs

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	retry = time.Second
	poll  = 5 * time.Second
	rest  = 3 * time.Second
)

// Service is one instance of the job service.
type Service struct {
	conn   *zk.Conn
	folder string
	do     func(order string)
	orders chan string
	jobs   chan string
	quit   chan struct{}
	done   sync.WaitGroup

	mu     sync.Mutex
	seen   map[string]bool // jobs that workers of this instance have taken
	recent map[string]int  // how often this instance has done an order lately
}

// Start starts an instance with the given number of workers. They call do for each order.
func Start(conn *zk.Conn, folder string, workers int, do func(order string)) *Service {
	s := &Service{conn: conn, folder: folder, do: do, orders: make(chan string), jobs: make(chan string),
		quit: make(chan struct{}), seen: map[string]bool{}, recent: map[string]int{}}
	s.done.Go(s.accept)
	s.done.Go(s.follow)
	for range workers {
		s.done.Go(s.work)
	}
	return s
}

// Submit passes an order to the instance. It does not wait until the znode exists.
func (s *Service) Submit(order string) { s.orders <- order }

// Stop ends the instance, and waits for its goroutines.
func (s *Service) Stop() {
	close(s.quit)
	s.done.Wait()
}

// accept creates a znode for each order.
func (s *Service) accept() {
	for {
		select {
		case order := <-s.orders:
			for {
				_, err := s.conn.Create(s.folder+"/job-", []byte(order), zk.FlagSequence, zk.WorldACL(zk.PermAll))
				if err == nil {
					break
				}
				time.Sleep(retry) // the bug: the znode may exist already
			}
		case <-s.quit:
			return
		}
	}
}

// follow passes jobs to the workers.
func (s *Service) follow() {
	for {
		list, _, changed, err := s.conn.ChildrenW(s.folder)
		slices.Sort(list)
		for _, job := range list {
			select {
			case s.jobs <- job:
			case <-s.quit:
				return
			}
		}
		wait := poll
		if err != nil {
			changed, wait = nil, retry
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-s.quit:
			return
		}
	}
}

// work does jobs. Now and then it forgets the recent orders.
func (s *Service) work() {
	ticker := time.NewTicker(rest)
	defer ticker.Stop()
	for {
		select {
		case job := <-s.jobs:
			if s.first(job) && !s.one(job) {
				s.forget(job)
			}
		case <-ticker.C:
			s.mu.Lock()
			for order := range s.recent {
				delete(s.recent, order)
			}
			s.mu.Unlock()
		case <-s.quit:
			return
		}
	}
}

// first reports whether no worker of this instance has taken a job yet, and marks it as taken.
func (s *Service) first(job string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[job]
	s.seen[job] = true
	return !known
}

// forget allows workers to take a job again.
func (s *Service) forget(job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, job)
}

// one does a job if it is the one that deletes its znode. It returns false if the job has to be tried again.
func (s *Service) one(job string) bool {
	path := s.folder + "/" + job
	data, stat, err := s.conn.Get(path)
	if err == nil {
		err = s.conn.Delete(path, stat.Version)
	}
	if err == nil {
		s.do(string(data))
		s.mu.Lock()
		s.recent[string(data)]++
		s.mu.Unlock()
	}
	return err == nil || errors.Is(err, zk.ErrNoNode)
}
