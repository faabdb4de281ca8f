package sim

var One, two = 1, 2
