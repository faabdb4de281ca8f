package checkers

import (
	"context"
	"errors"
	"testing"

	"zksim/model/history"
)

// put is a script in which c1 puts item 7.
const put = `
	invoke c1 o1 put v7
	return c1 o1 put v7
`

func TestItemsAreNotLost(t *testing.T) {
	const lost = "item 7 of c1 is lost: it was put, nobody has got it, and it is not in the queue"
	judge(t, LostItem{}, []judgement{
		{name: "nothing was put"},
		{name: "still there", text: put + `Znode /q/items/a s0 7`},
		{name: "taken", text: put + `
			invoke c2 o2 trytake
			return c2 o2 trytake v7`},
		{name: "claimed and acknowledged", text: put + `
			invoke c2 o2 claim
			return c2 o2 claim v7
			invoke c2 o2 ack v7
			return c2 o2 ack v7`},
		{name: "gone", text: put + `Znode /q/items/b s0 77`, event: -1, message: lost},
		{name: "gone, while another was taken", text: put + `
			invoke c2 o2 take
			return c2 o2 take v8`, event: -1, message: lost},
		{name: "claimed and never acknowledged", text: put + `
			invoke c2 o2 claim
			return c2 o2 claim v7`, event: -1, message: lost},
		{name: "an acknowledgement that was refused", text: put + `
			invoke c2 o2 ack v7
			return c2 o2 ack v7 ok: claim lost`, event: -1, message: lost},
		{name: "an acknowledgement of unknown outcome", text: put + `
			invoke c2 o2 ack v7
			return c2 o2 ack: unknown`},
		{name: "an acknowledgement of another item, cut off", text: put + `
			invoke c2 o2 ack v8
			crashed c2`, event: -1, message: lost},
		{name: "the put was not acknowledged", text: `
			invoke c1 o1 put v7
			return c1 o1 put v7: unknown`},
		{name: "the producer crashed while it put", text: `
			invoke c1 o1 put v7
			crashed c1`},
		{name: "a consumer crashed in its take", text: put + `
			invoke c2 o2 take
			crashed c2`},
		{name: "a take of unknown outcome", text: put + `
			invoke c2 o2 take
			return c2 o2 take: unknown`},
		{name: "a take that was given up and says that it has done nothing", text: put + `
			invoke c2 o2 take
			return c2 o2 take ok: cancelled`, event: -1, message: lost},
		{name: "one take that was cut off does not explain two", text: put + `
			invoke c1 o1 put v8
			return c1 o1 put v8
			invoke c2 o2 take
			crashed c2`, event: -1,
			message: "2 items are lost, among them item 8 of c1; only 1 could have gone with a take that was cut off"},
		{name: "a run that was stopped says nothing", text: put + `Outcome stopped`},
	})
}

func TestAnObjectPutsAndTakesAtOnce(t *testing.T) {
	judge(t, DoubledItem{}, []judgement{
		{name: "taken while another is put by the same object", text: put + `
			invoke c2 o2 put v8
			invoke c2 o2 take
			return c2 o2 put v8
			return c2 o2 take v7
			invoke c3 o3 take
			return c3 o3 take v8`},
	})
}

func TestItemsAreNotDoubled(t *testing.T) {
	judge(t, DoubledItem{}, []judgement{
		{name: "taken once", text: put + `
			invoke c2 o2 take
			return c2 o2 take v7
			invoke c3 o3 take
			return c3 o3 take v8 ok: empty`},
		{name: "taken while it was put", text: `
			invoke c1 o1 put v7
			invoke c2 o2 take
			return c2 o2 take v7
			return c1 o1 put v7`},
		{name: "taken twice", text: put + `
			invoke c2 o2 take
			invoke c3 o3 trytake
			return c2 o2 take v7
			return c3 o3 trytake v7`, event: 5, message: "c3 took item 7, which c2 had taken before"},
		{name: "claimed twice", text: put + `
			invoke c2 o2 claim
			return c2 o2 claim v7
			invoke c3 o3 claim
			return c3 o3 claim v7`},
		{name: "claimed by somebody who asked before it was acknowledged", text: put + `
			invoke c3 o3 claim
			invoke c2 o2 ack v7
			return c2 o2 ack v7
			return c3 o3 claim v7`},
		{name: "claimed by somebody who asked after it was acknowledged", text: put + `
			invoke c2 o2 ack v7
			return c2 o2 ack v7
			invoke c3 o3 tryclaim
			return c3 o3 tryclaim v7`, event: 5, message: "c3 claimed item 7, which c2 had removed before it asked"},
		{name: "claimed after an acknowledgement of which nobody knows", text: put + `
			invoke c2 o2 ack v7
			return c2 o2 ack v7: unknown
			invoke c3 o3 claim
			return c3 o3 claim v7`},
		{name: "invented", text: `
			invoke c2 o2 claim
			return c2 o2 claim v7`, event: 1, message: "c2 got item 7, which nobody has put"},
		{name: "got before it was put", text: `
			invoke c2 o2 take
			return c2 o2 take v7` + put, event: 1, message: "c2 got item 7, which nobody has put"},
		{name: "taken and still there", text: put + `
			invoke c2 o2 take
			return c2 o2 take v7
			Znode /q/items/a s0 7`, event: -1, message: "item 7 is in the queue although c2 has removed it"},
		{name: "acknowledged and still there", text: put + `
			invoke c2 o2 ack v7
			return c2 o2 ack v7
			Znode /q/items/a s0 7`, event: -1, message: "item 7 is in the queue although c2 has removed it"},
		{name: "there twice", text: put + `
			Znode /q/items/a s0 7
			Znode /q/items/b s0 7`, event: -1, message: "item 7, put once by c1, is in the queue 2 times"},
		{name: "there although the producer was told otherwise", text: `
			invoke c1 o1 put v7
			return c1 o1 put ok: cancelled
			Znode /q/items/a s0 7`, event: -1, message: "item 7 is in the queue although c1 was told that it was not put"},
		{name: "got although the producer was told otherwise", text: `
			invoke c1 o1 put v7
			return c1 o1 put ok: cancelled
			invoke c2 o2 take
			return c2 o2 take v7`, event: 3, message: "c2 got item 7, which nobody has put"},
		{name: "of the end of a run that was stopped nothing is known", text: put + `
			Outcome stopped
			Znode /q/items/a s0 7
			Znode /q/items/b s0 7`},
	})
}

func TestEffectsAreNotDoubled(t *testing.T) {
	judge(t, DoubledEffect{}, []judgement{
		{name: "one of two may acknowledge", text: `
			invoke c2 o2 ack v7
			invoke c3 o3 ack v7
			return c2 o2 ack v7
			return c3 o3 ack v7 ok: claim lost`},
		{name: "two items", text: `
			invoke c2 o2 ack v7
			return c2 o2 ack v7
			invoke c2 o2 ack v8
			return c2 o2 ack v8`},
		{name: "an unknown outcome is no promise", text: `
			invoke c2 o2 ack v7
			return c2 o2 ack v7: unknown
			invoke c3 o3 ack v7
			return c3 o3 ack v7`},
		{name: "both", text: `
			invoke c2 o2 ack v7
			invoke c3 o3 ack v7
			return c3 o3 ack v7
			return c2 o2 ack v7`, event: 3, message: "c2 acknowledged item 7, which c3 had acknowledged before"},
	})
}

// inSequence is a script in which item 7 is put before item 8.
const inSequence = put + `
	invoke c1 o1 put v8
	return c1 o1 put v8
`

func TestNobodyIsPassedOverInAQueue(t *testing.T) {
	const passed = "c2 got item 8 while item 7 of c1, which comes first, was in the queue"
	judge(t, FIFO{}, []judgement{
		{name: "in order", text: inSequence + `
			invoke c2 o2 take
			return c2 o2 take v7
			invoke c3 o3 take
			return c3 o3 take v8`},
		{name: "out of order", text: inSequence + `
			invoke c2 o2 take
			return c2 o2 take v8
			invoke c3 o3 take
			return c3 o3 take v7`, event: 5, message: passed},
		{name: "the first is left", text: inSequence + `
			invoke c2 o2 claim
			return c2 o2 claim v8
			Znode /q/items/a s0 7`, event: 5, message: passed},
		{name: "a take that began before both puts", text: `invoke c2 o2 take` + inSequence + `
			return c2 o2 take v8
			Znode /q/items/a s0 7`, event: 5, message: passed},
		{name: "puts at once", text: `
			invoke c1 o1 put v7
			invoke c3 o3 put v8
			return c1 o1 put v7
			return c3 o3 put v8
			invoke c2 o2 take
			return c2 o2 take v8
			Znode /q/items/a s0 7`},
		{name: "the first was lost, which is another matter", text: inSequence + `
			invoke c2 o2 take
			return c2 o2 take v8`},
		{name: "the first was delivered before, and is back", text: inSequence + `
			invoke c3 o3 claim
			return c3 o3 claim v7
			invoke c2 o2 claim
			return c2 o2 claim v8
			Znode /q/items/a s0 7`},
		{name: "another consumer is at work", text: inSequence + `
			invoke c3 o3 take
			invoke c2 o2 take
			return c2 o2 take v8
			return c3 o3 take v7`},
		{name: "another consumer has crashed at work", text: inSequence + `
			invoke c3 o3 take
			crashed c3
			invoke c2 o2 take
			return c2 o2 take v8
			Znode /q/items/a s0 7`},
		{name: "another consumer was cut off before", text: inSequence + `
			invoke c3 o3 take
			return c3 o3 take: unknown
			invoke c2 o2 take
			return c2 o2 take v8
			Znode /q/items/a s0 7`},
		{name: "a consumer that crashes later", text: inSequence + `
			invoke c2 o2 take
			return c2 o2 take v8
			invoke c3 o3 take
			crashed c3
			Znode /q/items/a s0 7`, event: 5, message: passed},
	})
}

func TestNobodyIsPassedOverInARunThatWasStopped(t *testing.T) {
	judge(t, FIFO{}, []judgement{
		{name: "a run that was stopped says nothing of the end", text: inSequence + `
			invoke c2 o2 take
			return c2 o2 take v8
			Outcome stopped
			Znode /q/items/a s0 7`},
		{name: "a run that was stopped after the first was got", text: inSequence + `
			invoke c2 o2 take
			return c2 o2 take v8
			invoke c3 o3 take
			return c3 o3 take v7
			Outcome stopped`, event: 5, message: "c2 got item 8 while item 7 of c1, which comes first, was in the queue"},
	})
}

func TestAQueueIsCalledEmptyOnlyIfItIs(t *testing.T) {
	judge(t, FIFO{}, []judgement{
		{name: "called empty", text: put + `
			invoke c2 o2 trytake
			return c2 o2 trytake ok: empty
			Znode /q/items/a s0 7`, event: 3, message: "c2 was told that the queue is empty while item 7 of c1 was in it"},
		{name: "called empty while it was put", text: `
			invoke c1 o1 put v7
			invoke c2 o2 trytake
			return c1 o1 put v7
			return c2 o2 trytake ok: empty
			Znode /q/items/a s0 7`},
		{name: "a take that was given up calls nothing empty", text: put + `
			invoke c2 o2 take
			return c2 o2 take ok: cancelled
			Znode /q/items/a s0 7`},
	})
}

// A consumer that gave up may leave a claim that is removed a little later.
func TestAConsumerThatGaveUpExcusesThoseAfterIt(t *testing.T) {
	for _, err := range []error{context.Canceled, errors.Join(errors.New("x"), context.DeadlineExceeded)} {
		h := script(t, inSequence)
		add := func(k history.Kind, client int32, e history.Event) {
			e.Kind, e.Client, e.Object = k, client, client
			h.Add(e)
		}
		add(history.Invoke, 3, history.Event{Op: "trytake"})
		add(history.Return, 3, history.Event{Op: "trytake", Err: err, OK: true})
		add(history.Invoke, 2, history.Event{Op: "take"})
		add(history.Return, 2, history.Event{Op: "take", Value: 8})
		h.Tree = []history.Node{{Path: "/q/items/a", Data: "7"}}
		if v := (FIFO{}).Check(h); v != (Verdict{}) {
			t.Errorf("after %v: %+v", err, v)
		}
	}
}

func TestNobodyIsPassedOverInAPriorityQueue(t *testing.T) {
	c := PriorityOrder{Of: func(item int64) int64 { return item % 10 }}
	judge(t, c, []judgement{
		{name: "the higher priority first", text: `
			invoke c1 o1 put v19
			return c1 o1 put v19
			invoke c1 o1 put v10
			return c1 o1 put v10
			invoke c2 o2 take
			return c2 o2 take v10
			Znode /q/items/a s0 19`},
		{name: "the lower one first", text: `
			invoke c1 o1 put v19
			return c1 o1 put v19
			invoke c1 o1 put v10
			return c1 o1 put v10
			invoke c2 o2 take
			return c2 o2 take v19
			Znode /q/items/a s0 10`, event: 5, message: "c2 got item 19 while item 10 of c1, which comes first, was in the " +
			"queue"},
		{name: "the higher one came while the take was on", text: `
			invoke c1 o1 put v19
			return c1 o1 put v19
			invoke c2 o2 take
			invoke c1 o1 put v10
			return c1 o1 put v10
			return c2 o2 take v19
			Znode /q/items/a s0 10`},
		{name: "the higher one came while the take was on, but before the other", text: `
			invoke c2 o2 take
			invoke c1 o1 put v10
			return c1 o1 put v10
			invoke c1 o1 put v19
			return c1 o1 put v19
			return c2 o2 take v19
			Znode /q/items/a s0 10`, event: 5, message: "c2 got item 19 while item 10 of c1, which comes first, was in the " +
			"queue"},
		{name: "equals out of order", text: `
			invoke c1 o1 put v15
			return c1 o1 put v15
			invoke c1 o1 put v25
			return c1 o1 put v25
			invoke c2 o2 take
			return c2 o2 take v25
			Znode /q/items/a s0 15`, event: 5, message: "c2 got item 25 while item 15 of c1, which comes first, was in the " +
			"queue"},
	})
}

func TestLengthsAreThoseOfAMomentOfTheCall(t *testing.T) {
	const few = "c2 was told that the queue has 0 items while there were 1 at least, put before it asked"
	const many = "c2 was told that the queue has 1 item while there were 0 at most, the others were removed before it " +
		"asked"
	taken := put + `
		invoke c3 o3 take
		return c3 o3 take v7`
	judge(t, Length{}, []judgement{
		{name: "empty", text: `
			invoke c2 o2 len
			return c2 o2 len`},
		{name: "one", text: put + `
			invoke c2 o2 len
			return c2 o2 len v1`},
		{name: "missing", text: put + `
			invoke c2 o2 len
			return c2 o2 len`, event: 3, message: few},
		{name: "put during the call", text: `
			invoke c1 o1 put v7
			invoke c2 o2 len
			return c1 o1 put v7
			return c2 o2 len`},
		{name: "put of unknown outcome", text: `
			invoke c1 o1 put v7
			return c1 o1 put v7: unknown
			invoke c2 o2 len
			return c2 o2 len v1`},
		{name: "a put that was refused", text: `
			invoke c1 o1 put v7
			return c1 o1 put v7 ok: canceled
			invoke c2 o2 len
			return c2 o2 len v1`, event: 3, message: "c2 was told that the queue has 1 item while there were 0 at most"},
		{name: "taken before", text: taken + `
			invoke c2 o2 len
			return c2 o2 len v1`, event: 5, message: many},
		{name: "taken during the call", text: put + `
			invoke c2 o2 len
			invoke c3 o3 take
			return c3 o3 take v7
			return c2 o2 len v1`},
		{name: "acknowledged before", text: put + `
			invoke c3 o3 ack v7
			return c3 o3 ack v7
			invoke c2 o2 len
			return c2 o2 len v1`, event: 5, message: many},
		{name: "one that was taken, and another that came after that", text: put + `
			invoke c2 o2 len
			invoke c3 o3 take
			return c3 o3 take v7
			invoke c1 o1 put v8
			return c1 o1 put v8
			return c2 o2 len v2`, event: 7,
			message: "c2 was told that the queue has 2 items, and at no moment since it asked were there more than 1"},
		{name: "neither one that was taken, nor another that came before that", text: put + `
			invoke c2 o2 len
			invoke c1 o1 put v8
			return c1 o1 put v8
			invoke c3 o3 take
			return c3 o3 take v7
			return c2 o2 len`, event: 7,
			message: "c2 was told that the queue has 0 items, and at no moment since it asked were there fewer than 1"},
		{name: "either", text: put + `
			invoke c2 o2 len
			invoke c3 o3 take
			invoke c1 o1 put v8
			return c3 o3 take v7
			return c1 o1 put v8
			return c2 o2 len v2`},
	})
}

func TestWhatMayHaveBeenRemovedNeedNotBeCounted(t *testing.T) {
	const few = "c2 was told that the queue has 0 items while there were 1 at least, put before it asked"
	judge(t, Length{}, []judgement{
		{name: "perhaps by a take that goes on", text: put + `
			invoke c3 o3 take
			invoke c2 o2 len
			return c2 o2 len`},
		{name: "perhaps by a take that was cut off", text: put + `
			invoke c3 o3 take
			crashed c3
			invoke c2 o2 len
			return c2 o2 len`},
		{name: "a take that found nothing", text: `
			invoke c3 o3 trytake
			return c3 o3 trytake ok: empty` + put + `
			invoke c2 o2 len
			return c2 o2 len`, event: 5, message: few},
		{name: "claimed", text: put + `
			invoke c3 o3 claim
			return c3 o3 claim v7
			invoke c2 o2 len
			return c2 o2 len`, event: 5, message: few},
		{name: "perhaps acknowledged", text: put + `
			invoke c3 o3 ack v7
			return c3 o3 ack v7: unknown
			invoke c2 o2 len
			return c2 o2 len v0`},
		{name: "an acknowledgement that was refused", text: put + `
			invoke c3 o3 ack v7
			return c3 o3 ack v7 ok: claim lost
			invoke c2 o2 len
			return c2 o2 len`, event: 5, message: few},
		{name: "perhaps by one of two acknowledgements", text: put + `
			invoke c4 o4 ack v7
			invoke c3 o3 ack v7
			return c3 o3 ack v7 ok: claim lost
			invoke c2 o2 len
			return c2 o2 len`},
		{name: "a call that has failed", text: put + `
			invoke c2 o2 len
			return c2 o2 len: no connection`},
	})
}
