package checkers

import _ "github.com/anishathalye/porcupine"
