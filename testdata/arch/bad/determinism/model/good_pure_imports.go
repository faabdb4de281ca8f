package model

import (
	_ "net/netip"
	_ "net/url"
)
