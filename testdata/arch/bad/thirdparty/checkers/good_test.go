package checkers

import (
	_ "github.com/anishathalye/porcupine"
	_ "gonum.org/v1/plot"
	_ "pgregory.net/rapid"
)
