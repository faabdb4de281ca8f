package model

import _ "net"
