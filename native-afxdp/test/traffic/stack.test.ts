import { describe, expect, it } from 'vitest';
import { arp, FrameMaker, ipFrame, ping, REPORT_PORT, syn, udp } from '../frames.js';
import { MOSTLY_DRIVER, pairFor, startTraffic } from '../pair.js';

const OTHER_PORT = 9_999;
const text = (words: string): Uint8Array => Buffer.from(words);

/** Both fragments of a datagram to the port of reports: the first has the UDP header, the second has none. */
function fragments(payload: string): Buffer[] {
  const datagram = udp(REPORT_PORT, text(payload));
  return [
    ipFrame(17, datagram.subarray(0, 24), { fragment: 0x2000 }),
    ipFrame(17, datagram.subarray(24), { fragment: 3 }),
  ];
}

describe.each(MOSTLY_DRIVER)('while a socket is open in %s mode, the stack of the system', (mode) => {
  it('receives other ports, both IP versions and fragments, and the socket its ports', async () => {
    const pair = await pairFor({ ipv6: true });
    const right = await startTraffic({ at: pair.right });
    const left = await startTraffic({ at: pair.left });
    await right.call('listen', OTHER_PORT, 4);
    await right.call('listen', OTHER_PORT, 6);
    await right.call('listen', REPORT_PORT, 4);
    await right.call('open', { interface: pair.right.interface, mode });
    await left.call('open', { interface: pair.left.interface, ports: [], frames: 64, txFrames: 64 });
    const report = new FrameMaker().make(7);
    await left.call('frames', [
      ipFrame(17, udp(OTHER_PORT, text('over IPv4'))),
      ipFrame(17, udp(OTHER_PORT, text('over IPv6'), 6), { version: 6 }),
      report,
      ...fragments('a datagram in two fragments'),
    ]);
    await left.call('say', pair.right.ipv4, OTHER_PORT, [text('from a socket')]);
    await left.call('say', pair.right.ipv6, OTHER_PORT, [text('from a socket, IPv6')]);

    const others = ['from a socket', 'from a socket, IPv6', 'over IPv4', 'over IPv6'];
    expect([...(await right.call('heard', OTHER_PORT, 4))].sort()).toEqual(others);
    expect(await right.call('heard', REPORT_PORT, 1)).toEqual(['a datagram in two fragments']);
    expect((await right.call('take', 1)).map((frame) => Buffer.from(frame).equals(report))).toEqual([true]);
    expect(await right.call('stats')).toMatchObject({ received: 1, program: { steered: 1, noSocket: 0 } });
    await Promise.all([left.stop(), right.stop()]);
  });

  it('answers a ping, an ARP request and a TCP segment', async () => {
    const pair = await pairFor();
    const right = await startTraffic({ at: pair.right });
    const left = await startTraffic({ at: pair.left });
    await right.call('open', { interface: pair.right.interface, mode });
    await left.call('open', { interface: pair.left.interface, mode, ports: 'all', frames: 64, txFrames: 64 });
    await left.call('frames', [ping(5), arp(), syn(7)]);
    const answers = (await left.call('take', 3)).map((frame) => Buffer.from(frame));
    const kinds = answers.map((frame) => {
      const type = frame.readUInt16BE(12);
      if (type === 0x0806) return `ARP ${frame.readUInt16BE(20)}`;
      return frame[23] === 1
        ? `ICMP ${frame[34]} ${frame.readUInt16BE(40)}`
        : `protocol ${frame[23]} ${frame[47]! & 0x3f}`;
    });
    // An answer; an echo reply with the number of the request; a segment with the flags RST and ACK.
    expect(kinds.sort()).toEqual(['ARP 2', 'ICMP 0 5', 'protocol 6 20']);
    expect(await right.call('stats')).toMatchObject({ received: 0, program: { steered: 0, passed: 3 } });
    await Promise.all([left.stop(), right.stop()]);
  });

  it("gets the socket's ports back when the socket is closed", async () => {
    const pair = await pairFor();
    const right = await startTraffic({ at: pair.right });
    const left = await startTraffic({ at: pair.left });
    await right.call('listen', REPORT_PORT, 4);
    await right.call('open', { interface: pair.right.interface, mode });
    await left.call('say', pair.right.ipv4, REPORT_PORT, [text('for the socket')]);
    expect((await right.call('take', 1)).map((frame) => Buffer.from(frame).toString('latin1', 42))).toEqual([
      'for the socket',
    ]);
    await right.call('close');
    await left.call('say', pair.right.ipv4, REPORT_PORT, [text('for the stack')]);
    expect(await right.call('heard', REPORT_PORT, 1)).toEqual(['for the stack']);
    await Promise.all([left.stop(), right.stop()]);
  });

  it('sends what a socket of the system says to the socket under test, none lost', async () => {
    const pair = await pairFor();
    const right = await startTraffic({ at: pair.right });
    const left = await startTraffic({ at: pair.left });
    await right.call('open', { interface: pair.right.interface, mode });
    const taken: string[] = [];
    const said: string[] = [];
    for (let round = 0; round < 20; round++) {
      const words = Array.from({ length: 100 }, (_, number) => `datagram ${round * 100 + number}`);
      said.push(...words);
      await left.call('say', pair.right.ipv4, REPORT_PORT, words.map(text));
      for (const frame of await right.call('take', 100)) taken.push(Buffer.from(frame).toString('latin1', 42));
    }
    // In generic mode, those sent from two processors may overtake each other.
    expect(taken.sort()).toEqual(said.sort());
    await Promise.all([left.stop(), right.stop()]);
  });
});
