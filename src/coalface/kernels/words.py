"""Reads the words of a text file inside compiled loops: numbers, hashes, and a table of distinct names.

A name is a span ``[start, end)`` of the file's bytes; nothing is copied. The Python bodies (``py_func``) take ``bytes``
as the buffer, whose items are Python integers.
"""

import numpy as np

from coalface.kernels.compile import inlined, kernel

LARGEST = float(np.nextafter(float(np.finfo(np.float32).max) + 2.0**103, 0.0))  # larger ones round to infinity
LOW32 = 0xFFFFFFFF
SPACE, TAB, BAR, COLON, QUOTE = 32, 9, 124, 58, 39
ZERO, NINE = 48, 57

_POWERS_OF_TEN = np.array([10.0**k for k in range(23)])  # all exact in float64
_LOW63 = 0x7FFFFFFFFFFFFFFF
_DOT, _PLUS, _MINUS, _UPPER_E, _LOWER_E = 46, 43, 45, 69, 101


@inlined
def read_number(buffer, start, end):  # type: ignore[no-untyped-def]
    """The number that begins at ``start``, and the place after it; that is ``start`` if there is no number."""
    place = start
    negative = False
    if place < end and (buffer[place] == _MINUS or buffer[place] == _PLUS):
        negative = buffer[place] == _MINUS
        place += 1
    digits = 0
    n_digits = 0
    exponent = 0
    while place < end:
        digit = 0 + int(buffer[place]) - ZERO
        if digit < 0 or digit > 9:
            break
        if digits < 10**17:  # the next digit still fits
            digits = digits * 10 + digit
        else:
            exponent += 1
        n_digits += 1
        place += 1
    if place < end and buffer[place] == _DOT:
        place += 1
        while place < end:
            digit = 0 + int(buffer[place]) - ZERO
            if digit < 0 or digit > 9:
                break
            if digits < 10**17:
                digits = digits * 10 + digit
                exponent -= 1
            n_digits += 1
            place += 1
    if n_digits == 0:
        return 0.0, start
    if place < end and (buffer[place] == _LOWER_E or buffer[place] == _UPPER_E):
        power, after = _read_exponent(buffer, place + 1, end)
        if after == place + 1:
            return 0.0, start
        exponent += power
        place = after
    value = _scaled(float(digits), exponent)
    return (-value if negative else value), place


@inlined
def _read_exponent(buffer, start, end):  # type: ignore[no-untyped-def]
    place = start
    negative = False
    if place < end and (buffer[place] == _MINUS or buffer[place] == _PLUS):
        negative = buffer[place] == _MINUS
        place += 1
    first = place
    power = 0
    while place < end and ZERO <= buffer[place] <= NINE:
        power = min(power * 10 + (0 + int(buffer[place]) - ZERO), 99999)
        place += 1
    if place == first:
        return 0, start
    return (-power if negative else power), place


@inlined
def _scaled(value, exponent):  # type: ignore[no-untyped-def]
    """``value * 10 ** exponent``: one correctly rounded operation if |exponent| <= 22, as in most files."""
    if value == 0.0:
        return value
    while exponent > 22 and value <= LARGEST:
        value *= _POWERS_OF_TEN[22]
        exponent -= 22
    while exponent < -22 and value > 0.0:
        value /= _POWERS_OF_TEN[22]
        exponent += 22
    if exponent > 22:  # already beyond float32
        return np.inf
    if exponent < -22:
        return 0.0
    if exponent >= 0:
        return value * _POWERS_OF_TEN[exponent]
    return value / _POWERS_OF_TEN[-exponent]


@inlined
def _rotated(word, bits):  # type: ignore[no-untyped-def]
    return ((word << bits) | (word >> (32 - bits))) & LOW32


@kernel
def murmur(buffer, start, end, seed):  # type: ignore[no-untyped-def]
    """MurmurHash3 (x86, 32 bits) of the bytes in ``[start, end)``."""
    state = seed & LOW32
    length = end - start
    place = start
    while place + 4 <= end:
        block = 0 + int(buffer[place])
        block |= (0 + int(buffer[place + 1])) << 8
        block |= (0 + int(buffer[place + 2])) << 16
        block |= (0 + int(buffer[place + 3])) << 24
        block = (block * 0xCC9E2D51) & LOW32
        block = (_rotated(block, 15) * 0x1B873593) & LOW32
        state = (_rotated(state ^ block, 13) * 5 + 0xE6546B64) & LOW32
        place += 4
    if place < end:
        block = 0
        for offset in range(end - place):
            block |= (0 + int(buffer[place + offset])) << (8 * offset)
        block = (block * 0xCC9E2D51) & LOW32
        state ^= (_rotated(block, 15) * 0x1B873593) & LOW32
    state ^= length & LOW32
    state = ((state ^ (state >> 16)) * 0x85EBCA6B) & LOW32
    state = ((state ^ (state >> 13)) * 0xC2B2AE35) & LOW32
    return state ^ (state >> 16)


@kernel
def vw_hash(buffer, start, end, seed):  # type: ignore[no-untyped-def]
    """VW's 32-bit hash of a name: if it is all digits, its integer plus the seed; otherwise murmur."""
    number = 0
    for place in range(start, end):
        if buffer[place] < ZERO or buffer[place] > NINE:
            return murmur(buffer, start, end, seed)
        number = (number * 10 + (0 + int(buffer[place]) - ZERO)) & LOW32
    return (number + seed) & LOW32


@inlined
def same_bytes(buffer, first, second, length):  # type: ignore[no-untyped-def]
    """Whether two spans contain the same bytes."""
    if first == second:
        return True
    for offset in range(length):  # noqa: SIM110 (a generator would not compile)
        if buffer[first + offset] != buffer[second + offset]:
            return False
    return True


@inlined
def _packed_bytes(buffer, start, end):  # type: ignore[no-untyped-def]
    """Up to seven bytes as one integer."""
    word = 0
    for offset in range(min(end - start, 7)):
        word |= (0 + int(buffer[start + offset])) << (8 * offset)
    return word


@inlined
def _first_slot(buffer, mask, head, second, extent, start):  # type: ignore[no-untyped-def]
    """Where the search for a name begins: a hash of its first 14 bytes, its extent and the bytes after these."""
    hashed = (head * 0x2545F4914F6CDD1D) ^ (second * 0x1B03738712FAD5C9) ^ (extent * 0x369DEA0F31A53F85)
    length = extent & LOW32
    for place in range(start + 14, start + length):
        hashed = ((hashed & _LOW63) ^ (0 + int(buffer[place]))) * 0x100000001B3
    hashed &= _LOW63
    hashed = ((hashed ^ (hashed >> 31)) * 0x2545F4914F6CDD1D) & _LOW63  # every byte affects the high bits
    return (hashed >> 31) & mask


@inlined
def find_name(buffer, slots, names, space, start, end):  # type: ignore[no-untyped-def]
    """The slot of this name in this namespace, or the free slot where it belongs.

    ``names[code]`` = (first seven bytes, next seven, length + namespace * 2^32, start), so most names are compared
    without reading the file.
    """
    mask = len(slots) - 1
    head = _packed_bytes(buffer, start, end)
    second = _packed_bytes(buffer, start + 7, end)
    extent = (end - start) | (space << 32)
    slot = _first_slot(buffer, mask, head, second, extent, start)
    while True:
        code = slots[slot]
        if code < 0:
            return slot
        if (
            names[code, 0] == head
            and names[code, 1] == second
            and names[code, 2] == extent
            and same_bytes(buffer, names[code, 3] + 14, start + 14, end - start - 14)
        ):
            return slot
        slot = (slot + 1) & mask


@inlined
def write_name(buffer, names, code, space, start, end):  # type: ignore[no-untyped-def]
    """Write a name into row ``code`` of the table."""
    names[code, 0] = _packed_bytes(buffer, start, end)
    names[code, 1] = _packed_bytes(buffer, start + 7, end)
    names[code, 2] = (end - start) | (space << 32)
    names[code, 3] = start


@inlined
def enlarged_table(buffer, slots, names, n_names):  # type: ignore[no-untyped-def]
    """A copy of the table with twice the capacity."""
    wider = np.full(2 * len(slots), -1, np.int32)
    longer = np.empty((2 * len(names), 4), np.int64)
    mask = len(wider) - 1
    for code in range(n_names):
        for item in range(4):  # a slice would take seconds to compile
            longer[code, item] = names[code, item]
        head, second, extent, start = int(names[code, 0]), int(names[code, 1]), int(names[code, 2]), int(names[code, 3])
        slot = _first_slot(buffer, mask, head, second, extent, start)
        while wider[slot] >= 0:
            slot = (slot + 1) & mask
        wider[slot] = code
    return wider, longer


@inlined
def is_blank(byte):  # type: ignore[no-untyped-def]
    """Whether a byte ends a word: a space, a tab or a bar."""
    return byte in (SPACE, BAR, TAB)


@inlined
def word_end(buffer, start, end):  # type: ignore[no-untyped-def]
    """The place of the first blank or bar at or after ``start``; otherwise ``end``."""
    place = start
    while place < end and not is_blank(buffer[place]):
        place += 1
    return place
