package gateway

// retractStages is the way of a retract: no text, so neither guards nor measure.
func (g *Gateway) retractStages() []stage {
	return []stage{
		{"admit", g.admit},
		{"locate", g.locate},
		{"arm", g.needRetractor},
		{"own", g.own},
		{"approve", g.approve},
		{"open", g.open},
		{"dispatch", g.dispatchRetract},
		{"settle", g.settle},
	}
}
