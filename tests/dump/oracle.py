"""A second reader of INSERT statements, written apart from the first: slow, one character after the other, plain Python."""

from __future__ import annotations

import re

WORD = re.compile(rb"[A-Za-z0-9_$\x80-\xff]+")
NUMBER = re.compile(rb"[+-]?[0-9.](?:[0-9.]|[eE][+-]?)*")
ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a", b"%": b"\\%", b"_": b"\\_"}
DEFAULT, EXPRESSION = object(), object()


class Broken(Exception):
    """The text is no sequence of complete statements."""


class Oracle:
    """Reads a whole text; ``encoding`` gbk or big5 for two-byte characters, utf8 for none."""

    def __init__(self, data: bytes, encoding: str = "utf8", backslash: bool = True) -> None:
        self.data, self.encoding, self.backslash, self.i = data, encoding, backslash, 0

    def peek(self, count: int = 1) -> bytes:
        return self.data[self.i : self.i + count]

    def char(self) -> bytes:
        """The next character as the server sees it: two bytes only where they are a valid pair."""
        first, second = self.peek(), self.data[self.i + 1 : self.i + 2]
        if not first:
            raise Broken("end")
        trail = second and (0x40 <= second[0] <= 0x7E or (0x80 if self.encoding == "gbk" else 0xA1) <= second[0] <= 0xFE)
        lead = (0x81 <= first[0] <= 0xFE) if self.encoding == "gbk" else (self.encoding == "big5" and 0xA1 <= first[0] <= 0xF9)
        size = 2 if lead and trail else 1
        self.i += size
        return self.data[self.i - size : self.i]

    def blanks(self) -> None:
        while True:
            two, one = self.peek(2), self.peek()
            if one and one in b" \t\n\r\v\f":
                self.i += 1
            elif one == b"#" or (two == b"--" and (len(self.peek(3)) < 3 or self.peek(3)[2] <= 32)):
                end = self.data.find(b"\n", self.i)
                self.i = len(self.data) if end < 0 else end + 1
            elif two == b"*/":
                self.i += 2
            elif found := re.match(rb"/\*M?!\d*", self.peek(40)):
                self.i += found.end()
            elif two == b"/*":
                end = self.data.find(b"*/", self.i + 2)
                if end < 0:
                    raise Broken("comment")
                self.i = end + 2
            else:
                return

    def string(self) -> bytes:
        quote, found = self.char(), b""
        while True:
            char = self.char()
            if char == b"\\" and self.backslash:
                following = self.data[self.i : self.i + 1]
                if not following:
                    raise Broken("end")
                self.i += 1
                found += ESCAPES.get(following, following)
            elif char == quote:
                if self.peek() != quote:
                    return found
                found += self.char()
            else:
                found += char

    def quoted_name(self) -> None:
        quote = self.char()
        while True:
            if self.char() == quote:
                if self.peek() != quote:
                    return
                self.i += 1

    def word(self) -> bytes:
        found = WORD.match(self.data, self.i)
        self.i = found.end() if found else self.i
        return found[0].upper() if found else b""

    def digits(self, allowed: str, per_byte: int, quoted: bool) -> bytes:
        found = re.compile(f"[{allowed}]*".encode()).match(self.data, self.i)[0]
        self.i += len(found)
        if quoted and self.char() != b"'":
            raise Broken("digits")
        if not found:
            return b""
        size = -(-len(found) // per_byte)
        return int(found, 16 if per_byte == 2 else 2).to_bytes(size, "big")

    def strings(self) -> bytes:
        found = self.string()
        self.blanks()
        while self.peek() in (b"'", b'"'):
            found += self.string()
            self.blanks()
        here = self.i
        if self.word() == b"COLLATE":
            self.blanks()
            self.word()
        else:
            self.i = here
        return found

    def value(self):
        one, two = self.peek(), self.peek(2)
        if one in (b"'", b'"'):
            return self.strings()
        if two in (b"0x", b"0b"):
            self.i += 2
            return self.digits("0-9A-Fa-f", 2, False) if two == b"0x" else self.digits("01", 8, False)
        if two.lower() in (b"x'", b"b'"):
            self.i += 2
            return self.digits("0-9A-Fa-f", 2, True) if two.lower() == b"x'" else self.digits("01", 8, True)
        if found := NUMBER.match(self.data, self.i):
            if found[0] in (b".",):
                raise Broken("number")
            self.i = found.end()
            return found[0]
        if two == b"\\N":
            self.i += 2
            return None
        if not one or one[0] >= 0x80:
            raise Broken("value")
        word = self.word()
        if word == b"NULL":
            return None
        if word in (b"TRUE", b"FALSE"):
            return b"1" if word == b"TRUE" else b"0"
        if word == b"DEFAULT":
            return DEFAULT
        self.blanks()
        if word and self.peek() == b"(":
            self.call()
            return EXPRESSION
        if re.fullmatch(rb"C......_.+", word) and self.peek() in (b",", b")"):
            return EXPRESSION
        if word.startswith(b"_") or word in (b"N", b"DATE", b"TIME", b"TIMESTAMP"):
            if self.peek() in (b"'", b'"') or self.peek(2).lower() == b"x'" or self.peek(2) == b"0x":
                return self.value()
        raise Broken("value")

    def call(self) -> None:
        depth = 0
        while True:
            one = self.peek()
            if one in (b"'", b'"'):
                self.string()
            elif one == b"`":
                self.quoted_name()
            elif one == b";":
                raise Broken("call")
            else:
                self.i += 1
                if not one:
                    raise Broken("end")
                depth += (one == b"(") - (one == b")")
                if depth == 0:
                    return

    def tuple(self) -> list:
        if self.peek() != b"(":
            raise Broken("tuple")
        self.i += 1
        self.blanks()
        found: list = []
        if self.peek() == b")":
            self.i += 1
            return found
        while True:
            found.append(self.value())
            self.blanks()
            separator = self.peek()
            self.i += 1
            if separator == b")":
                return found
            if separator != b",":
                raise Broken("separator")
            self.blanks()

    def rows(self) -> list[tuple[int, int, list]]:
        """All rows: start, end, values. The text may hold only INSERT … VALUES statements and comments."""
        found = []
        while True:
            self.blanks()
            if not self.data[self.i :].strip(b" \t\r\n\v\f\0\x1a"):  # what old systems put at the end of a file
                return found
            if self.peek() == b";":
                self.i += 1
                continue
            if self.word() not in (b"INSERT", b"REPLACE"):
                raise Broken("statement")
            self.head()
            while True:
                self.blanks()
                start = self.i
                values = self.tuple()
                found.append((start, self.i, values))
                self.blanks()
                separator = self.peek()
                self.i += 1
                if separator == b";":
                    break
                if separator != b",":
                    raise Broken("end of statement")

    def head(self) -> None:
        depth = 0
        while True:
            self.blanks()
            one = self.peek()
            if one in (b"`", b'"'):
                self.quoted_name()
            elif one and one in b"().,":
                depth += (one == b"(") - (one == b")")
                self.i += 1
            else:
                word = self.word()
                if not word:
                    raise Broken("head")
                if depth == 0 and word in (b"VALUES", b"VALUE"):
                    return
                if word in (b"SELECT", b"SET"):
                    raise Broken("no rows")
