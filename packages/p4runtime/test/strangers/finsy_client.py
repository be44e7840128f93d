# Drives a switch by finsy: argv = address, P4Info as text, device config. Prints the steps that succeed.
import asyncio
import copy
import sys
from pathlib import Path

import finsy as fy
from finsy.p4entity import P4ValueSetMember

address, p4info, config = sys.argv[1:4]


def step(name):
    print(f"ok {name}", flush=True)


def insert(entity):
    # An entity keeps the kind of its update.
    return +copy.copy(entity)


def modify(entity):
    return ~copy.copy(entity)


def delete(entity):
    return -copy.copy(entity)


async def refused(switch, *updates):
    """The codes of the updates that are refused, one per update."""
    try:
        await switch.write(updates)
    except fy.P4ClientError as error:
        return [each.canonical_code.name for each in error.details.values()]
    raise AssertionError("not refused")


async def read(switch, *entities):
    return [each async for each in switch.read(entities)]


async def drive(switch):
    assert switch.is_primary
    step("pipeline")

    station = fy.P4TableEntry(
        "stations", match=fy.Match(dst=0x020000000001), action=fy.Action("I.forward", port=7), metadata=b"abc"
    )
    await switch.write([insert(station)])
    assert await refused(switch, insert(station)) == ["ALREADY_EXISTS"]
    found = await read(switch, fy.P4TableEntry("stations"))
    assert len(found) == 1 and found[0].metadata == b"abc" and found[0].action.args["port"] == 7, found
    step("table entry")

    rule = fy.P4TableEntry(
        "rules",
        match=fy.Match(opcode=3, medium=(0x100, 0xFF00), small=(1, 9), **{"huge": 5, "hdr.body.large": "10.0.0.0/8"}),
        action=fy.Action("I.drop"),
        priority=5,
    )
    await switch.write([insert(rule)])
    assert (await read(switch, fy.P4TableEntry("rules")))[0].priority == 5
    codes = await refused(switch, insert(rule), delete(rule), delete(rule))
    assert codes[0] == "ALREADY_EXISTS" and codes[-1] == "NOT_FOUND", codes
    assert len(await read(switch, fy.P4TableEntry("fixed"))) == 3
    step("matches of all kinds")

    chosen = fy.P4TableEntry("keyless", action=fy.Action("I.forward", port=1), is_default_action=True)
    await switch.write([modify(chosen)])
    step("default entry")

    await switch.write([~fy.P4CounterEntry("ports", index=3, data=fy.P4CounterData(byte_count=4, packet_count=5))])
    assert (await read(switch, fy.P4CounterEntry("ports", index=3)))[0].packet_count == 5
    direct = await read(switch, fy.P4DirectCounterEntry("exact_counter", table_entry=fy.P4TableEntry("stations")))
    assert len(direct) == 1, direct
    step("counters")

    rates = fy.P4MeterConfig(cir=1, cburst=2, pir=3, pburst=4)
    await switch.write([~fy.P4MeterEntry("rates", index=2, config=rates)])
    assert (await read(switch, fy.P4MeterEntry("rates", index=2)))[0].config.pir == 3
    step("meters")

    await switch.write([~fy.P4RegisterEntry("cells", index=5, data=77)])
    assert (await read(switch, fy.P4RegisterEntry("cells", index=5)))[0].data == 77
    await switch.write([~fy.P4RegisterEntry("signed_cells", index=1, data=-3)])
    assert (await read(switch, fy.P4RegisterEntry("signed_cells", index=1)))[0].data == -3
    step("registers")

    values = [P4ValueSetMember(0x8100), P4ValueSetMember(0x22F3)]
    await switch.write([~fy.P4ValueSetEntry("types", members=values)])
    assert len((await read(switch, fy.P4ValueSetEntry("types", members=[])))[0].members) == 2
    step("value sets")

    members = [
        fy.P4ActionProfileMember("selector", member_id=n, action=fy.Action("I.forward", port=n)) for n in (1, 2)
    ]
    await switch.write([insert(each) for each in members])
    group = fy.P4ActionProfileGroup(
        "selector", group_id=1, members=[fy.P4Member(1, weight=1), fy.P4Member(2, weight=(3, 4))]
    )
    await switch.write([insert(group)])
    balanced = fy.P4TableEntry("balanced", match=fy.Match(large=1), action=fy.P4IndirectAction(group_id=1))
    await switch.write([insert(balanced)])
    assert await refused(switch, delete(group)) == ["FAILED_PRECONDITION"]
    assert (await read(switch, fy.P4ActionProfileGroup()))[0].members[1].weight == (3, 4)
    await switch.write([delete(balanced)])
    await switch.write([delete(group)])
    await switch.write([delete(each) for each in members])
    step("members and groups")

    shots = fy.P4IndirectAction([2 * fy.Action("I.forward", port=1), 1 * fy.Action("I.forward", port=2)])
    await switch.write([+fy.P4TableEntry("balanced", match=fy.Match(large=2), action=shots)])
    assert len((await read(switch, fy.P4TableEntry("balanced")))[0].action.action_set) == 2
    step("one shot")

    await switch.write([+fy.P4MulticastGroupEntry(7, replicas=[1, (2, 1)]), +fy.P4CloneSessionEntry(9, replicas=[4])])
    assert len(await read(switch, fy.P4MulticastGroupEntry(), fy.P4CloneSessionEntry())) == 2
    step("replication")

    to_cpu = fy.P4TableEntry(
        "stations", match=fy.Match(dst=0x020000000002), action=fy.Action("I.to_cpu", reason=33)
    )
    await switch.write([insert(to_cpu)])
    frame = bytes.fromhex("020000000002" "040000000009" "0800") + bytes(46)
    packets = switch.read_packets()
    waiting = asyncio.create_task(anext(packets))
    await asyncio.sleep(0)
    await switch.write([fy.P4PacketOut(frame, egress_port=0, padding=0, is_direct=0)])
    packet = await asyncio.wait_for(waiting, 20)
    assert packet.payload == frame and packet["reason"] == 33 and packet["ingress_port"] == 510, packet
    step("packet in and out")

    await switch.write([+fy.P4DigestEntry("learned_t", max_list_size=1, ack_timeout_ns=10**9)])
    learn = fy.P4TableEntry("rules", match=fy.Match(opcode=9), action=fy.Action("I.learn"), priority=1)
    await switch.write([insert(learn)])
    digests = switch.read_digests("learned_t")
    waiting = asyncio.create_task(anext(digests))
    await asyncio.sleep(0)
    body = bytes.fromhex("0200000000ff" "040000000011" "1234" "09") + bytes(40)
    await switch.write([fy.P4PacketOut(body, egress_port=0, padding=0, is_direct=0)])
    digest = await asyncio.wait_for(waiting, 20)
    assert digest.data[0]["station"] == 0x040000000011, digest
    await switch.write([digest.ack()])
    step("digest")

    idle = switch.read_idle_timeouts()
    waiting = asyncio.create_task(anext(idle))
    await asyncio.sleep(0)
    short = fy.P4TableEntry(
        "stations", match=fy.Match(dst=0x020000000003), action=fy.Action("I.drop"), idle_timeout_ns=200_000_000
    )
    await switch.write([insert(short)])
    notification = await asyncio.wait_for(waiting, 20)
    assert notification.table_entry[0].idle_timeout_ns == 200_000_000, notification
    step("idle timeout")

    await compete()
    try:
        await switch.delete_all()
        raise AssertionError("an entry of the program is constant")
    except fy.P4ClientError as error:
        assert [each.canonical_code.name for each in error.details.values()] == ["INVALID_ARGUMENT"], error
    assert await read(switch, fy.P4TableEntry("stations")) == []
    step("delete all")


async def compete():
    """Another controller with a higher election id takes over, and leaves."""
    options = fy.SwitchOptions(p4info=Path(p4info), initial_election_id=9)
    async with fy.Switch("other", address, options) as other:
        assert not other.is_primary
        try:
            await other.write([+fy.P4MulticastGroupEntry(8, replicas=[1])])
            raise AssertionError("a backup may not write")
        except fy.P4ClientError as error:
            assert error.code.name == "PERMISSION_DENIED", error
    step("competition")


async def main():
    options = fy.SwitchOptions(p4info=Path(p4info), p4blob=Path(config), p4force=True)
    async with fy.Switch("switch", address, options) as switch:
        await drive(switch)
    step("end")


asyncio.run(main())
