# Drives a switch by p4runtime-shell as a library: argv = address, P4Info as text, device config. Prints the steps that succeed.
import os
import sys
import time
import traceback

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeWriteException

address, p4info, config = sys.argv[1:4]


def failed(kind, error, trace):
    # Threads of the library wait for messages for ever.
    traceback.print_exception(kind, error, trace)
    sys.stderr.flush()
    os._exit(1)


sys.excepthook = failed


def step(name):
    print(f"ok {name}", flush=True)


def refused(write, code):
    """Whether an update is refused, and the details of the error can be read."""
    try:
        write()
    except P4RuntimeWriteException as error:
        text = str(error)
        assert code in text, text
        return
    raise AssertionError("not refused")


sh.setup(device_id=1, grpc_addr=address, election_id=(0, 1), config=sh.FwdPipeConfig(p4info, config))
sh.global_options["canonical_bytestrings"] = True
step("pipeline")

station = sh.TableEntry("I.stations")(action="I.forward")
station.match["hdr.frame.dst"] = "02:00:00:00:00:01"
station.action["port"] = "7"
station.insert()
refused(station.insert, "ALREADY_EXISTS")
station.action["port"] = "9"
station.modify()
found = list(sh.TableEntry("I.stations").read())
assert len(found) == 1 and found[0].action["port"] is not None, found
step("table entry")

rule = sh.TableEntry("I.rules")(action="I.drop")
rule.match["hdr.body.opcode"] = "3"
rule.match["hdr.body.medium"] = "0x100&&&0xff00"
rule.match["hdr.body.small"] = "1..9"
rule.match["hdr.body.large"] = "10.0.0.0/8"
rule.priority = 5
rule.insert()
assert len(list(sh.TableEntry("I.rules").read())) == 1
assert len(list(sh.TableEntry("I.fixed").read())) == 3
step("matches of all kinds")

default = sh.TableEntry("I.keyless")(action="I.forward", is_default=True)
default.action["port"] = "1"
default.modify()
refused(default.insert, "INVALID_ARGUMENT")
step("default entry")

counter = sh.CounterEntry("I.ports")
counter.index = 3
counter.packet_count = 5
counter.modify()
assert [each.packet_count for each in counter.read()] == [5]
counter.index = 99
refused(counter.modify, "OUT_OF_RANGE")
step("counter")

direct = sh.DirectCounterEntry("I.exact_counter")
direct.table_entry.match["hdr.frame.dst"] = "02:00:00:00:00:01"
assert [each.packet_count for each in direct.read()] == [0]
step("direct counter")

meter = sh.MeterEntry("I.rates")
meter.index = 2
meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 2, 3, 4
meter.modify()
assert [each.pir for each in meter.read()] == [3]
step("meter")

for number in (1, 2):
    member = sh.ActionProfileMember("I.selector")(member_id=number, action="I.forward")
    member.action["port"] = str(number)
    member.insert()
group = sh.ActionProfileGroup("I.selector")(group_id=1)
group.add(member_id=1, weight=1)
group.add(member_id=2, weight=3)
group.insert()
balanced = sh.TableEntry("I.balanced")(group_id=1)
balanced.match["hdr.body.large"] = "1"
balanced.insert()
assert len(list(group.read())) == 1
refused(group.delete, "FAILED_PRECONDITION")
step("members and groups")
balanced.delete()
group.delete()
for number in (1, 2):
    sh.ActionProfileMember("I.selector")(member_id=number, action="I.forward").delete()
once = sh.TableEntry("I.balanced")
once.match["hdr.body.large"] = "2"
actions = sh.Oneshot("I.balanced")
for number in (3, 4):
    action = sh.Action("I.forward")
    action["port"] = str(number)
    actions.add(action, weight=2)
once.oneshot = actions
once.insert()
step("one shot")

multicast = sh.MulticastGroupEntry(7)
multicast.add(1, 0).add(2, 1)
multicast.insert()
assert len(list(sh.MulticastGroupEntry(7).read())) == 1
clone = sh.CloneSessionEntry(9)
clone.add(4, 1)
clone.insert()
assert len(list(sh.CloneSessionEntry(9).read())) == 1
step("replication")

inbox = sh.PacketIn()
to_cpu = sh.TableEntry("I.stations")(action="I.to_cpu")
to_cpu.match["hdr.frame.dst"] = "02:00:00:00:00:02"
to_cpu.action["reason"] = "33"
to_cpu.insert()
frame = bytes.fromhex("020000000002" "040000000009" "0800") + bytes(46)
sh.PacketOut(frame, egress_port="0", is_direct="0").send()
packets = list(inbox.sniff(timeout=2))
assert len(packets) == 1 and packets[0].packet.payload == frame, packets
step("packet in and out")

digest = sh.DigestEntry("learned_t")
digest.max_timeout_ns = 0
digest.max_list_size = 1
digest.insert()
lists = sh.DigestList()
learn = sh.TableEntry("I.rules")(action="I.learn")
learn.match["hdr.body.opcode"] = "9"
learn.priority = 1
learn.insert()
packet = bytes.fromhex("0200000000ff" "040000000011" "1234" "09") + bytes(40)
sh.PacketOut(packet, egress_port="0", is_direct="0").send()
found = list(lists.sniff(timeout=2))
assert len(found) == 1 and found[0].digest.list_id == 1, found
step("digest")

idle = sh.IdleTimeoutNotification()
short = sh.TableEntry("I.stations")(action="I.drop")
short.match["hdr.frame.dst"] = "02:00:00:00:00:03"
short.idle_timeout_ns = 200_000_000
short.insert()
found = list(idle.sniff(timeout=2))
assert len(found) > 0 and found[0].idle_timeout_notification.table_entry[0].idle_timeout_ns == 200_000_000, found
step("idle timeout")

station.delete()
refused(station.delete, "NOT_FOUND")
sh.teardown()
step("end")
sys.stdout.flush()
time.sleep(0.1)
os._exit(0)
