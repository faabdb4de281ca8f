package sim

func Helper() {}
