// Package archtest has no code: its tests hold the tree to the layout and the
// import direction that CONTRIBUTING.md describes.
package archtest
