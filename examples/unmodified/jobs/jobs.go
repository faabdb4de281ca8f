// Package jobs is a job service as one would write it for production: orders are znodes in a folder, and the workers of
// any instance take and do them. It knows *zk.Conn, goroutines, select, maps, a mutex and tickers, and nothing of a
// simulator. On the toolchain as it is, no two of its runs are the same.
//
// It has a bug: a create whose reply was lost is tried again, so that one order is done twice.
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

// Service is an instance of it.
type Service struct {
	conn   *zk.Conn
	folder string
	do     func(order string)
	orders chan string
	jobs   chan string
	quit   chan struct{}
	done   sync.WaitGroup

	mu     sync.Mutex
	seen   map[string]bool // jobs
	recent map[string]int  // orders done
}

// Start starts an instance with so many workers, which call do for each order.
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

// Submit hands in an order.
func (s *Service) Submit(order string) { s.orders <- order }

// Stop ends the instance.
func (s *Service) Stop() {
	close(s.quit)
	s.done.Wait()
}

// accept makes orders znodes.
func (s *Service) accept() {
	for {
		select {
		case order := <-s.orders:
			for {
				_, err := s.conn.Create(s.folder+"/job-", []byte(order), zk.FlagSequence, zk.WorldACL(zk.PermAll))
				if err == nil {
					break
				}
				time.Sleep(retry) // the bug: it may be there
			}
		case <-s.quit:
			return
		}
	}
}

// follow hands jobs to workers.
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

// work does jobs.
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

// first reports whether no other worker has a job.
func (s *Service) first(job string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[job]
	s.seen[job] = true
	return !known
}

// forget has a job be tried again.
func (s *Service) forget(job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, job)
}

// one does a job, if this instance is the one that deletes it. It reports whether there is nothing left to do.
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
