import { createHash } from 'node:crypto';
import { decodeFrame } from '@int/codec';
import { buildNetwork, PcapTap, UdpTraffic } from '@int/netsim';
import { readCapture } from '@int/pcap';
import { describe, expect, it } from 'vitest';
import { gpintOf, line, monitored, probeOf, walk } from './switches/probe-frames.js';

/** A ring of lossy links with traffic and probes, and a hash of the capture of each link. */
function hashes(seed: number): string[] {
  const net = buildNetwork({
    seed,
    switches: 8,
    links: [...line(8), [7, 0], [1, 5]],
    ties: 'random',
    link: { rateBps: 1e8, delayNs: 50_000, loss: 0.1, queuePackets: 5, duplication: 0.05, jitterNs: 20_000 },
    switchNode: { rate: 4000, queuePackets: 20 },
    gpint: { timeoutNs: 2_000_000 },
    hosts: { count: 6 },
  });
  const taps = [...net.links, ...net.monitorLinks].map((link) => {
    const tap = new PcapTap();
    net.network.tap(link, 'both', tap.sink);
    return tap;
  });
  new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 8000, spacing: 'poisson' }).start();
  for (let i = 0; i < 20; i++) {
    net.network.at(i * 7_000_000, () =>
      net.monitor.send(
        i % 8,
        probeOf(
          i,
          walk(
            net,
            [0, 1, 2, 3].map((v) => (v + i) % 8),
          ),
        ),
      ),
    );
  }
  net.network.at(60_000_000, () => net.links[2]!.fail());
  net.network.at(70_000_000, () => net.switchNodes[5]!.fail());
  net.network.at(90_000_000, () => net.links[2]!.repair());
  net.network.run(200_000_000);
  expect(taps.every((tap) => tap.frames > 2)).toBe(true);
  return taps.map((tap) => createHash('sha256').update(tap.bytes()).digest('hex'));
}

describe('a network', () => {
  it('gives the same bytes at every tap for the same seed, and others for another', () => {
    const first = hashes(1);
    expect(hashes(1)).toEqual(first);
    const other = hashes(2);
    expect(first.filter((hash, index) => hash === other[index])).toEqual([]);
  });

  it('is not changed by being watched', () => {
    const received = (tapped: boolean): number => {
      const net = buildNetwork({ seed: 3, switches: 3, links: line(3), link: { loss: 0.3 }, hosts: { count: 3 } });
      if (tapped) for (const link of net.links) net.network.tap(link, 'both', () => {}, { where: 'in' });
      new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 1000 }).start();
      net.network.run(1e9);
      return net.hosts.reduce((sum, host) => sum + host.received, 0);
    };
    expect(received(true)).toBe(received(false));
  });
});

describe('a capture of a link', () => {
  it('holds every frame with its time to the nanosecond, and probes decode as what they are', () => {
    const start = 1_700_000_000_000_000;
    const epochNs = 1_800_000_000_123_456_789n;
    const net = monitored({
      seed: 1,
      startNs: start,
      switches: 3,
      links: line(3),
      link: { delayNs: 1001 },
      gpint: { timeoutNs: 5000 },
    });
    const tap = new PcapTap({ epochNs });
    for (const link of [...net.monitorLinks, ...net.links]) net.network.tap(link, 'both', tap.sink);
    net.links[1]!.configure({ loss: 1 }, 'ab');
    net.monitor.send(0, probeOf(77, walk(net, [0, 1, 2], 2)));
    net.monitor.send(2, probeOf(78, walk(net, [2, 1])));
    net.network.run(start + 1e6);
    const frames = Array.from(readCapture(tap.bytes()), (frame) => ({
      time: Number(frame.timeNs - epochNs) - start,
      kind: gpintOf(frame.data).kind,
      requestId: gpintOf(frame.data).requestId,
      switches: gpintOf(frame.data).switches.map((each) => each.switchId),
    }));
    expect(frames.length).toBe(tap.frames);
    expect(frames).toEqual([
      { time: 0, kind: 'probe', requestId: 77, switches: [] },
      { time: 0, kind: 'probe', requestId: 78, switches: [] },
      { time: 0, kind: 'feedback', requestId: 77, switches: [] },
      { time: 0, kind: 'feedback', requestId: 78, switches: [] },
      { time: 1001, kind: 'probe', requestId: 77, switches: [0] },
      { time: 1001, kind: 'probe', requestId: 78, switches: [2] },
      { time: 1001, kind: 'probe', requestId: 78, switches: [2, 1] },
      { time: 2002, kind: 'feedback', requestId: 77, switches: [] },
      { time: 5000, kind: 'recovery', requestId: 78, switches: [2] },
      { time: 6001, kind: 'recovery', requestId: 77, switches: [0, 1] },
    ]);
  });

  it('shows frames as they are sent or as they arrive, of one direction or both, until it is taken off', () => {
    const net = buildNetwork({
      seed: 1,
      switches: 2,
      links: [[0, 1]],
      link: { delayNs: 10, loss: 1 },
      hosts: { count: 2 },
    });
    const seen: string[] = [];
    const watch = (name: string, direction: 'ab' | 'ba' | 'both', where: 'in' | 'out') =>
      net.network.tap(net.links[0]!, direction, (_frame, timeNs, from) => seen.push(`${name} ${from} ${timeNs}`), {
        where,
      });
    const removals = [watch('in', 'both', 'in'), watch('out', 'both', 'out'), watch('back', 'ba', 'in')];
    const send = (from: number, to: number): void =>
      net.hosts[from]!.send({ destination: 0x0a010001 + to, sourcePort: 1, destinationPort: 2 }, new Uint8Array(1));
    send(0, 1);
    send(1, 0);
    net.network.run(100);
    net.links[0]!.configure({ loss: 0 });
    send(0, 1);
    net.network.run(200);
    for (const remove of removals) remove();
    send(0, 1);
    net.network.run(300);
    expect(seen).toEqual(['in ab 0', 'in ba 0', 'back ba 0', 'in ab 100', 'out ab 110']);
  });

  it('can be cut short, and handed on in pieces', () => {
    const net = buildNetwork({ seed: 1, switches: 2, links: [[0, 1]], hosts: { count: 2 } });
    const pieces: Uint8Array[] = [];
    const tap = new PcapTap({ snapLength: 50, onBytes: (bytes) => void pieces.push(bytes) });
    net.network.tap(net.links[0]!, 'both', tap.sink);
    new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 1000, bytes: 200 }).start();
    net.network.run(20_000_000);
    expect([tap.frames, pieces.length, tap.bytes().length]).toEqual([20, 21, 0]);
    const frames = Array.from(readCapture(Buffer.concat(pieces)));
    expect(frames.map((frame) => [frame.data.length, frame.originalLength])).toEqual(Array(20).fill([50, 200]));
    expect(decodeFrame(frames[0]!.data)[0]!.status).not.toBe('ok');
    expect(() => new PcapTap({ snapLength: 0 })).toThrow(RangeError);
  });
});
