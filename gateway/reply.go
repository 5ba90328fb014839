package gateway

// replyStages is the way of a reply.
func (g *Gateway) replyStages() []stage {
	return []stage{
		{"admit", g.admit},
		{"locate", g.locate},
		{"arm", g.needPoster},
		{"guard", g.guard},
		{"measure", g.measure},
		{"approve", g.approve},
		{"open", g.open},
		{"dispatch", g.dispatchPost},
		{"settle", g.settle},
	}
}
