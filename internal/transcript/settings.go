package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"zksim/model"
)

// settings is what a header's cfg changes.
type settings struct {
	model        model.Config
	checkMillis  int64 // between two clean-ups of containers and ttl znodes
	maxPacketLen int   // jute.maxbuffer
}

// readSettings understands the zoo.cfg lines and -D flags of a header. The recorder enabled ttl znodes unless the
// header says otherwise; all other settings start from the server's defaults.
func readSettings(cfg string) (settings, error) {
	s := settings{model: model.Config{ExtendedTypes: true}, checkMillis: 60_000, maxPacketLen: model.MaxPacketLen}
	for _, entry := range strings.Fields(cfg) {
		key, value, ok := strings.Cut(strings.TrimPrefix(entry, "-D"), "=")
		if !ok {
			return s, fmt.Errorf("cfg: %q is not of the form key=value", entry)
		}
		var err error
		switch strings.TrimPrefix(key, "zookeeper.") {
		case "extendedTypesEnabled":
			s.model.ExtendedTypes, err = strconv.ParseBool(value)
		case "enforceQuota":
			s.model.EnforceQuota, err = strconv.ParseBool(value)
		case "znode.container.checkIntervalMs":
			s.checkMillis, err = strconv.ParseInt(value, 10, 32)
			if err == nil && s.checkMillis < 1 {
				err = strconv.ErrRange
			}
		case "jute.maxbuffer":
			s.maxPacketLen, err = strconv.Atoi(value)
			if err == nil && (s.maxPacketLen < 0 || s.maxPacketLen > maxPacketLen) {
				err = strconv.ErrRange
			}
		default:
			return s, fmt.Errorf("cfg: unknown setting %q", key)
		}
		if err != nil {
			return s, fmt.Errorf("cfg: bad value in %q", entry)
		}
	}
	return s, nil
}
