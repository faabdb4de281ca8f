package jute

// PasswordLen is the length of a session's password.
const PasswordLen = 16

// ConnectRequest is the first packet of a client. It has no header.
type ConnectRequest struct {
	Version  int32
	LastZxid int64 // the highest zxid that the client has seen
	Timeout  int32 // milliseconds
	Session  int64 // 0: a new one
	Password []byte
	ReadOnly bool // the client accepts a read-only server
	Old      bool // the packet has no field ReadOnly, like packets of clients before 3.4
}

// Append appends the packet.
func (c *ConnectRequest) Append(b []byte) []byte {
	b = appendInt64(appendInt32(b, c.Version), c.LastZxid)
	b = appendInt64(appendInt32(b, c.Timeout), c.Session)
	return appendReadOnly(appendBuffer(b, c.Password), c.ReadOnly, c.Old)
}

// ParseConnectRequest reads the packet.
func ParseConnectRequest(packet []byte) (c ConnectRequest, err error) {
	r := reader{b: packet}
	c = ConnectRequest{Version: r.int32(), LastZxid: r.int64(), Timeout: r.int32(), Session: r.int64(),
		Password: r.buffer()}
	c.ReadOnly, c.Old = r.readOnly()
	return c, r.err
}

// ConnectResponse is the first packet of a server. It has no header.
type ConnectResponse struct {
	Version  int32
	Timeout  int32 // granted by the server, in milliseconds; 0 with Session 0
	Session  int64 // 0: there is no such session, or the password is wrong
	Password []byte
	ReadOnly bool // the server is read-only
	Old      bool // the packet has no field ReadOnly, like the answer to a request without it
}

// Append appends the packet.
func (c *ConnectResponse) Append(b []byte) []byte {
	b = appendInt64(appendInt32(appendInt32(b, c.Version), c.Timeout), c.Session)
	return appendReadOnly(appendBuffer(b, c.Password), c.ReadOnly, c.Old)
}

// ParseConnectResponse reads the packet.
func ParseConnectResponse(packet []byte) (c ConnectResponse, err error) {
	r := reader{b: packet}
	c = ConnectResponse{Version: r.int32(), Timeout: r.int32(), Session: r.int64(), Password: r.buffer()}
	c.ReadOnly, c.Old = r.readOnly()
	return c, r.err
}

func appendReadOnly(b []byte, readOnly, old bool) []byte {
	if old {
		return b
	}
	return appendBool(b, readOnly)
}

// readOnly reads the field that clients and servers before 3.4 do not have.
func (r *reader) readOnly() (readOnly, old bool) {
	if len(r.b) == 0 {
		return false, true
	}
	return r.bool(), false
}
