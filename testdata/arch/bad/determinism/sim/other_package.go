package sim

import "zksim/model"

func names(t model.Table) (last string) {
	for k := range t {
		last = k
	}
	return last
}
