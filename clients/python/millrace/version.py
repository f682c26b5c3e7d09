"""The version of this client, which the package and the greeting of a connection name."""

VERSION = "0.1.0"
