package store

import (
	_ "go/ast"
	_ "zksim/model"
)
