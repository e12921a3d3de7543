"""The version of this package: that of the tree it belongs to, and of the libblazed that it speaks to."""
VERSION = "0.1.0"
