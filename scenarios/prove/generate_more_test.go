package prove_test

import "fmt"

// quotaLimits and quotaStats are the znodes of a quota.
const (
	quotaLimits = "/zookeeper/quota/a/zookeeper_limits"
	quotaStats  = "/zookeeper/quota/a/zookeeper_stats"
)

// protect makes a znode whose name has a number that was drawn.
func (g *generator) protect() []stmt {
	list := g.to("protected", pick(g, "/a/s", "/a/s", "/s"), g.data())
	if name := g.regs[len(g.regs)-1]; g.chance(3) {
		list = append(list, g.to(pick(g, "get", "exists"), name)...)
	}
	return list
}

// quota reads what a quota counts, or changes that there is one.
func (g *generator) quota() []stmt {
	switch g.IntN(6) {
	case 0:
		return g.to("delete", pick(g, quotaLimits, quotaStats), "-1")
	case 1:
		return g.to("create", pick(g, quotaLimits, quotaStats), g.data(), "-", "any")
	case 2, 3:
		return g.to(pick(g, "get", "getw"), quotaStats)
	case 4:
		return g.to("create", "/a/x", g.data(), pick(g, "-", "e"), "any")
	default:
		return g.to("set", pick(g, "/a", "/a/x"), g.data(), "-1")
	}
}

// rest waits until nothing else can happen.
func (g *generator) rest() []stmt {
	if g.chance(2) {
		return append(st("rest"), g.plain()...)
	}
	return st("rest")
}

// queue makes a channel, sends to one or closes it.
func (g *generator) queue() []stmt {
	if len(g.chans) == 0 || g.chance(3) {
		return g.to("make", g.IntN(3))
	}
	switch ch := pick(g, g.chans...); g.IntN(4) {
	case 0:
		return st("end", ch)
	case 1:
		return append(st("step"), g.to("len", ch)...)
	default:
		return st("send", ch, fmt.Sprint(1+g.IntN(2)))
	}
}

// dial takes another connection, or goes back to the other one.
func (g *generator) dial() []stmt {
	return st(pick(g, "dial", "dial", "other"))
}

// loop repeats statements, as often as it takes or twice.
func (g *generator) loop() []stmt {
	if g.inner == "if" || g.inner == "loop" {
		return nil
	}
	inner := g.inner
	if g.inner == "" {
		g.inner = "if"
	}
	g.left += 2
	body := g.some()
	words := []string{"repeat"}
	if len(g.regs) > 0 && g.chance(2) {
		words = []string{"until", pick(g, g.regs...) + pick(g, ".ok", ".err", ".data=1", ".version=1")}
	}
	g.inner = inner
	return []stmt{statement(words, body...)}
}
