package scenarios

type network struct{ Conn int }

func (network) Connect() {}

func local() int {
	var zk network
	zk.Connect()
	return zk.Conn
}
