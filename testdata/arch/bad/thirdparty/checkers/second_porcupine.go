package checkers

import p "github.com/anishathalye/porcupine"

var _ p.Model
