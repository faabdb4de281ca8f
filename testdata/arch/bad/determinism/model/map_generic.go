package model

func pick[M ~map[K]V, K comparable, V any](m M) (v V) {
	for _, v = range m {
		break
	}
	return v
}
