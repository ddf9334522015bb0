"""Which connection makes room for a new one."""

from coalface.web.connections import ConnectionBook, ConnectionState


class Visitor:
    """A connection as the book sees it."""

    def __init__(self, standing=ConnectionState.NEW):
        self.standing, self.is_open = standing, True

    def abort(self):
        self.is_open = False


def admitted(book, *standings, address="10.0.0.1"):
    visitors = [Visitor() for _ in standings]
    for visitor, standing in zip(visitors, standings, strict=True):
        assert book.admit(visitor, address)
        visitor.standing = standing
        book.note(visitor)
    return visitors


def test_half_open_connections_make_room_before_those_that_have_sent_requests():
    now = [100.0]
    book = ConnectionBook(per_address=4, clock=lambda: now[0])
    idle, new, answered, begun = admitted(
        book, ConnectionState.IDLE, ConnectionState.NEW, ConnectionState.ANSWERED, ConnectionState.BEGUN
    )
    assert admitted(book, ConnectionState.ANSWERED)
    assert (idle.is_open, new.is_open) == (True, False)
    assert admitted(book, ConnectionState.ANSWERED)
    assert not idle.is_open
    assert not book.admit(Visitor(), "10.0.0.1")  # none can be closed without breaking a request
    assert book.admit(Visitor(), "10.0.0.2")
    now[0] += 2.0
    assert book.admit(Visitor(), "10.0.0.1")  # the request that began long ago does not go on
    assert (begun.is_open, answered.is_open) == (False, True)
    assert (book.evicted, book.refused, len(book)) == (3, 1, 5)


def test_the_connection_that_has_waited_longest_makes_room():
    book = ConnectionBook(per_address=3)
    first, second, third = admitted(book, *[ConnectionState.IDLE] * 3)
    for standing in (ConnectionState.ANSWERED, ConnectionState.IDLE):
        first.standing = standing
        book.note(first)
    admitted(book, ConnectionState.ANSWERED, ConnectionState.ANSWERED)
    assert (first.is_open, second.is_open, third.is_open) == (True, False, False)


def test_bytes_do_not_make_a_half_open_connection_younger():
    book = ConnectionBook(per_address=2)
    first, second = admitted(book, ConnectionState.NEW, ConnectionState.NEW)
    book.note(first)
    admitted(book, ConnectionState.NEW)
    assert (first.is_open, second.is_open) == (False, True)


def test_a_full_server_closes_the_longest_waiting_connection_of_any_address():
    book = ConnectionBook(most=2)
    (first,) = admitted(book, ConnectionState.NEW, address="10.0.0.1")
    (second,) = admitted(book, ConnectionState.IDLE, address="10.0.0.2")
    admitted(book, ConnectionState.ANSWERED, address="10.0.0.3")
    assert (first.is_open, second.is_open) == (False, True)
    admitted(book, ConnectionState.ANSWERED, address="10.0.0.3")
    assert not second.is_open
