"""A switch that tests the ports, not a program: what comes in by sw1 leaves by sw2, with its first byte counted up; what
begins with ff is lost; what comes in by sw2 leaves by both."""
import select
import socket


def opened(name):
    each = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    each.bind((name, 0))
    return each


one, two = opened("sw1"), opened("sw2")
while True:
    for ready in select.select([one, two], [], [])[0]:
        frame, address = ready.recvfrom(65536)
        if address[2] == 4 or frame[0] == 0xFF:
            continue
        if ready is one:
            two.send(bytes([frame[0] + 1]) + frame[1:])
        else:
            one.send(frame)
            two.send(frame)
