package model

import _ "os/exec"
