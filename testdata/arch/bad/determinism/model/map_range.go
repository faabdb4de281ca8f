package model

func first(m map[string]int) string {
	for k := range m {
		return k
	}
	return ""
}
