package sim

func Step() {}
