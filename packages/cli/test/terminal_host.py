"""Runs a command in a pseudo terminal: COLUMNS ROWS COMMAND... Standard input is what is typed, standard output what is shown."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def hang_up(*_):
    os.kill(child, signal.SIGKILL)
    sys.exit(1)


signal.signal(signal.SIGTERM, hang_up)
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed == b"":
            sources.remove(0)
        else:
            os.write(terminal, typed)
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        if shown == b"":
            break
        os.write(1, shown)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
