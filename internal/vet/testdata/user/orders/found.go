// Package orders ranges over maps.
package orders

import (
	"maps"
	"reflect"
	"slices"

	"zksim/recipes"
)

type table struct {
	conn   recipes.Conn
	m      map[string]int
	names  []string
	other  map[string]int
	groups map[int][]string
	sum    float64
	text   string
	n      int
}

func (t *table) found() (string, error) {
	for k := range t.m { // want `^a range over a map has another order in each run; use slices.Sorted\(maps.Keys\(m\)\)$`
		t.conn.Delete(k, -1)
	}
	for _, v := range t.m { // want `a range over a map`
		println(v)
	}
	for k := range t.m { // want `a range over a map`
		return k, nil
	}
	for k := range t.m { // want `a range over a map`
		t.names = append(t.names, k)
	}
	for k, v := range t.m { // want `a range over a map`
		t.groups[v] = append(t.groups[v], k)
	}
	for k := range t.m { // want `a range over a map`
		t.text += k
	}
	for _, v := range t.m { // want `a range over a map`
		t.sum += float64(v)
	}
	for k, v := range t.m { // want `a range over a map`
		t.other[k[1:]] = v
	}
	for k := range t.m { // want `a range over a map`
		t.text = k
	}
	for k := range t.m { // want `a range over a map`
		t.m[k+"x"] = 1
	}
	for k := range t.m { // want `a range over a map`
		delete(t.m, k+"x")
	}
	return "", nil
}

func (t *table) more() {
	for _, v := range t.m { // want `a range over a map`
		t.n += v
		t.n *= 2
	}
	for _, v := range t.m { // want `a range over a map`
		if t.n < 3 {
			t.n += v
		}
	}
	for _, v := range t.m { // want `a range over a map`
		t.n += v
		if v > 3 {
			break
		}
	}
	for k, v := range t.m { // want `a range over a map`
		if v > t.n {
			t.n, t.text = v, k
		}
	}
	for k := range t.m { // want `a range over a map`
		t.other[k] = len(t.other)
	}
	for k := range t.m { // want `a range over a map`
		t.groups[1] = append(t.groups[1], k)
	}
	for k := range t.m { // want `a range over a map`
		t.other[k] = t.other["x"]
	}
	for _, v := range t.m { // want `a range over a map`
		if whole := *t; whole.n < v {
			t.n++
		}
	}
	for _, v := range t.m { // want `a range over a map`
		t.n += v
		t.conn.SessionID()
	}
	list := make([]table, 3)
	for range t.m { // has neither key nor value
	}
	i := 0
	for k := range t.m { // want `a range over a map`
		i++
		t.other[k] = list[i].n
	}
	for _, v := range t.m { // want `a range over a map`
		defer println(v)
	}
	for _, v := range t.m { // want `a range over a map`
		x := &t.n
		*x = v
	}
	for k := range t.m { // want `a range over a map`
		if t.has(k) {
			t.n++
		}
	}
outer:
	for k := range t.m { // want `a range over a map`
		for i := range k {
			t.n += i
			if i > 3 {
				break outer
			}
		}
	}
	a, b := false, false
	for k := range t.m { // want `a range over a map`
		if k == "a" {
			a = true
			break
		}
		if k == "b" {
			b = true
			break
		}
	}
	for k, v := range t.m { // want `a range over a map`
		if k == "a" {
			a = v > 1 && b
		}
	}
	for _, v := range t.m { // want `a range over a map`
		a = a && v > 1 || v < 0
	}
	_ = a
	for range t.m {
		t.names = append(t.names, "x")
	}
	var k string
	for k = range t.m { // want `a range over a map`
	}
	_ = k
}

func (t *table) leaves(numbers chan int) bool {
	for k := range t.m { // want `a range over a map`
		t.n++
		if k == "x" {
			return true
		}
	}
	for k := range t.m { // want `a range over a map`
		if k == "x" {
			return true
		}
		if k == "y" {
			return false
		}
	}
	for k := range t.m { // want `a range over a map`
		t.other[k] = <-numbers // want `a channel receive`
	}
	pointers := map[string]*int{}
	for k := range t.m { // want `a range over a map`
		pointers[k] = &t.n
	}
	slices.Sort(t.names)
	for k := range t.m { // want `a range over a map`
		t.names = append(t.names, k)
	}
	return false
}

func (t *table) iterators() []string {
	for k := range maps.Keys(t.m) { // want `^maps.Keys has another order in each run; use slices.Sorted\(maps.Keys\(m\)\)$`
		println(k)
	}
	for _, v := range maps.All(t.m) { // want `^maps.All has`
		println(v)
	}
	_ = slices.Max(slices.Collect(maps.Values(t.m))) // want `^maps.Values has`
	_ = reflect.ValueOf(t.m).MapKeys()               // want `^\(reflect.Value\).MapKeys has another order in each run; sort them$`
	_ = reflect.ValueOf(t.m).MapRange()              // want `^\(reflect.Value\).MapRange has`
	return slices.Collect(maps.Keys(t.m))            // want `^maps.Keys has`
}

func generic[M ~map[string]int](conn recipes.Conn, m M) {
	for k := range m { // want `a range over a map`
		conn.Delete(k, -1)
	}
}
