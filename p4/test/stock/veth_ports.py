"""Ports of a switch: veth pairs in this network namespace, one for each number given.

veth_ports.py PORT,... QUIET_MS COMMAND...

Makes the pairs swN and endN, starts COMMAND (a switch on the swN), and then reads lines: "PORT HEX" sends a frame into a
port. What comes out of all ports until QUIET_MS pass without a frame is written as "PORT HEX" lines, in the order of the
ports, then a line ".". At the end of input the switch is ended. Frames that the system itself sends are not seen: IPv6 and
ARP are off on all ends.
"""
import os
import select
import signal
import socket
import subprocess
import sys
import time

PACKET_OUTGOING = 4
SEND_BUFFER = 1 << 20
LONGEST = 65536
ETH_P_ALL = 3


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def make(port):
    ends = ["sw%d" % port, "end%d" % port]
    run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
    for end in ends:
        with open("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % end, "w") as setting:
            setting.write("1")
        run("ip", "link", "set", end, "arp", "off", "mtu", "9000", "up")
    # As large as the link takes; and whole: no offload may join or split frames.
    for end in ends:
        subprocess.run(["ethtool", "-K", end, "tx", "off", "rx", "off", "tso", "off", "gso", "off", "gro", "off"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SEND_BUFFER)
    opened.bind((ends[1], 0))
    opened.setblocking(False)
    return opened


def received(sockets, quiet_s, most_s):
    """Frames by port, until it has been quiet."""
    found = []
    end = time.monotonic() + most_s
    while time.monotonic() < end:
        ready, _, _ = select.select(list(sockets), [], [], quiet_s)
        if not ready:
            break
        for each in ready:
            frame, address = each.recvfrom(LONGEST)
            if address[2] != PACKET_OUTGOING:
                found.append((sockets[each], frame))
    # Within a port the order stays.
    return sorted(found, key=lambda pair: pair[0])


def main():
    ports = [int(port) for port in sys.argv[1].split(",")]
    quiet_s = int(sys.argv[2]) / 1000
    run("ip", "link", "set", "lo", "up")
    sockets = {make(port): port for port in ports}
    by_port = {port: each for each, port in sockets.items()}
    switch = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=sys.stderr, preexec_fn=os.setsid)
    try:
        for line in sys.stdin:
            words = line.split()
            if not words:
                continue
            if words[0] == "!":
                # A command for the switch's command line: what it says is in its lines, then the same end.
                done = subprocess.run(words[2:], input=bytes.fromhex(words[1]).decode(),
                                      text=True, capture_output=True, timeout=60, check=False)
                for said in (done.stdout + done.stderr).splitlines():
                    print("=", said)
                print("= status", done.returncode)
            else:
                if switch.poll() is not None:
                    print("= switch ended with", switch.returncode)
                else:
                    by_port[int(words[0])].send(bytes.fromhex(words[1] if len(words) > 1 else ""))
                    for port, frame in received(sockets, quiet_s, 10):
                        print(port, frame.hex())
            print(".", flush=True)
    finally:
        if switch.poll() is None:
            os.killpg(switch.pid, signal.SIGTERM)
            try:
                switch.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(switch.pid, signal.SIGKILL)


main()
