// Package sample is changed in every way by the tests of package mutate.
package sample

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

const limit = 3 // of a constant there is no mutant

var errOdd = errors.New("odd")

// hint is for tools.
func hint(...any) {}

func even(n int) (int, error) {
	defer hint(n)
	hint(&n)
	if n%2 != 0 {
		return n, errOdd
	}
	return n / 2, nil
}

func half(n int) (int, error) { return even(n) }

func between(n int) bool { return n > 0 && n < limit || n == 10 }

func sum(list ...int) (total int) {
	for _, n := range list {
		if n < 0 {
			continue
		}
		if n >= 100 {
			break
		}
		total += n
	}
	return total
}

func wait() time.Duration {
	d := time.Duration(0)
	for i := 0; i <= 2; i++ {
		d += 2 * time.Second
	}
	return d
}

func late() (text string) {
	defer func() { text += " late" }()
	text = "early"
	return text
}

func said(yes bool) string {
	if yes {
		return "yes"
	} else if ok := !yes; ok {
		return "no"
	}
	return strconv.FormatBool(true)
}

// Shown calls everything.
func Shown() (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("panic: ", r)
		}
	}()
	a, err1 := even(4)
	b, err2 := half(3)
	return fmt.Sprint(a, err1, b, err2, between(0), between(2), between(3), between(10), sum(1, -1, 2, 100, 5), wait(),
		late(), said(true), said(false))
}
