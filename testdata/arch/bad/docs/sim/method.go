package sim

func (t *Table[K]) Put() {}
