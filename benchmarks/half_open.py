"""Slow clients: connections that send a byte per second and never a whole request; those that are closed come again.

``python -m benchmarks.half_open PORT [CONNECTIONS]`` runs until it is killed, apart from the process that measures.
"""

import socket
import sys
import time


def main(port: str, connections: str = "920") -> None:
    held: list[socket.socket] = []
    while True:
        while len(held) < int(connections):
            try:
                held.append(socket.create_connection(("127.0.0.1", int(port))))
            except OSError:  # the server has ended, or is busy
                break
        held = [one for one in held if _sends(one)]
        time.sleep(1.0)


def _sends(connection: socket.socket) -> bool:
    try:
        connection.sendall(b"x")
    except OSError:
        connection.close()
        return False
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
