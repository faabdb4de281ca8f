package plots

import (
	_ "gonum.org/v1/plot"
	_ "gonum.org/v1/plot/vg"
)
