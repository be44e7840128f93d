"""Packets to and from the control plane of a switch that has its pipeline and entries, by finsy.

Usage: finsy_packets.py HOST:PORT FRAME_TO_CONTROLLER FRAME_TO_PORT_4 (in hexadecimal)
"""

import asyncio
import sys

import finsy as fy


async def main(target: str, punted: bytes, forwarded: bytes) -> None:
    async with fy.Switch("switch", target, fy.SwitchOptions(device_id=1, initial_election_id=50)) as switch:
        await switch.write([fy.P4PacketOut(forwarded, egress_port=7, by_tables=0, padding=0)])
        await switch.write([fy.P4PacketOut(forwarded, egress_port=0, by_tables=1, padding=0)])
        packets = switch.read_packets()
        waiting = asyncio.create_task(anext(packets))
        await asyncio.sleep(0)
        await switch.write([fy.P4PacketOut(punted, egress_port=0, by_tables=1, padding=0)])
        packet = await asyncio.wait_for(waiting, 60)
        assert packet.payload == punted
        print("packet in", packet["ingress_port"], packet["reason"])


asyncio.run(main(sys.argv[1], bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])))
