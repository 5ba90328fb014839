package gateway

// editStages is the way of an edit.
func (g *Gateway) editStages() []stage {
	return []stage{
		{"admit", g.admit},
		{"locate", g.locate},
		{"arm", g.needEditor},
		{"own", g.own},
		{"guard", g.guard},
		{"measure", g.measure},
		{"approve", g.approve},
		{"open", g.open},
		{"dispatch", g.dispatchEdit},
		{"settle", g.settle},
	}
}
