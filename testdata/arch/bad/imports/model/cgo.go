package model

import "C"
