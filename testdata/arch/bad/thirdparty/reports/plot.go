package reports

import _ "gonum.org/v1/plot/vg"
