"""The version of this package, which is that of the service that it matches."""

VERSION = "0.1.0"
