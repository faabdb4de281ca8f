package model

import "testing"

func TestStatisticsOfAQuotaThatNoServerHasWrittenAreCountedOn(t *testing.T) {
	for data, want := range map[string]string{ // of a real server, but for the last three, which take that down
		"": "count=0,bytes=2", "count=1": "count=2,bytes=2", "bytes=5,count=3": "count=4,bytes=8",
		"count=1,bytes=2,": "count=2,bytes=5", "count=-7,bytes=100,x=3": "count=-6,bytes=103=;x=3",
		"count=1=foo,bytes=2": "count=2,bytes=5", "count==1,bytes=2===7,x==1": "count=0,bytes=5=;x=-1",
		"junk": "count=0,bytes=2", "count=x,bytes=1": "count=0,bytes=4", "count=99999999999999999999": "count=0,bytes=2",
	} {
		stats := parseStats([]byte(data))
		stats["count"], stats["bytes"] = stats.get("count")+1, stats.get("bytes")+3
		if got := string(stats.format()); got != want {
			t.Errorf("%q: %s, expected %s", data, got, want)
		}
	}
}
