"""Ports on loopback, for scripts that start other servers."""
import socket


def free_ports(count):
    """Returns ports that were free a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def answers(port):
    """Whether something listens there."""
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
