"""What the API and the process in front of it say to each other."""

import os
import resource
import socket

import pytest

from api.channel import Brought, DescriptorError, Logged, encode, new_channel, receive


def test_a_connection_comes_with_what_it_has_brought() -> None:
    ours, theirs = new_channel()
    one, other = socket.socketpair()
    with ours, one, other:
        socket.send_fds(theirs, [b"GET"], [one.fileno()])
        theirs.send(encode(Logged("a line")))
        theirs.close()
        found = receive(ours)
        assert isinstance(found, Brought)
        with found.connection:
            found.connection.send(b"answer")
        assert (found.data, other.recv(10)) == (b"GET", b"answer")
        assert receive(ours) == Logged("a line")
        assert receive(ours) is None


def test_what_has_lost_its_connection_is_no_message() -> None:
    """Whoever brings what looks like one, while no more files can be opened, is not believed."""
    ours, theirs = new_channel()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ours, theirs:
        socket.send_fds(theirs, [encode(Logged("believe me"))], [0])
        theirs.send(encode(Logged("a line")))
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
        try:
            with pytest.raises(DescriptorError, match="as many files open as it may"):
                receive(ours)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert receive(ours) == Logged("a line")
