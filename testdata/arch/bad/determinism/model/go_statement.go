package model

func start(f func()) { go f() }
