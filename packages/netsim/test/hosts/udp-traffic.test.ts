import { decodeFrame, formatIpv4 } from '@int/codec';
import { ipv4HeaderChecksum, udpChecksum } from '@int/codec/internals';
import { ADDRESSES, buildNetwork, type Datagram, Host, Network, UdpTraffic, udpFrame, udpPayload } from '@int/netsim';
import { describe, expect, it } from 'vitest';
import { Recorder } from '../behaviours.js';
import { SEED } from '../seed.js';

const star = (hosts: number) =>
  buildNetwork({ seed: SEED, switches: 1, links: [], hosts: { count: hosts, link: { delayNs: 1000 } } });

describe('UDP traffic', () => {
  it('sends at its rate in the long run, evenly or like Poisson', () => {
    for (const spacing of ['constant', 'poisson'] as const) {
      const net = star(4);
      const gaps: number[] = [];
      let last = 1000;
      net.network.tap(net.hostLinks[0]!, 'ab', (_frame, timeNs) => {
        gaps.push(timeNs - last);
        last = timeNs;
      });
      const traffic = new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 3000, spacing });
      traffic.start();
      traffic.start();
      net.network.run(10e9);
      // Poisson: a standard deviation of 173 packets.
      expect(Math.abs(traffic.sent - 30_000)).toBeLessThanOrEqual(spacing === 'constant' ? 0 : 866);
      traffic.stop();
      net.network.run(11e9);
      expect(net.hosts.reduce((sum, host) => sum + host.received, 0)).toBe(traffic.sent);
      expect(net.hosts.reduce((sum, host) => sum + host.sent, 0)).toBe(traffic.sent);
      expect(traffic.isRunning).toBe(false);
      const interval = 1e9 / 3000;
      const regular = gaps.filter((gap) => Math.abs(gap - Math.round(gap / interval) * interval) <= 1.5);
      expect(gaps.length).toBeGreaterThan(7000);
      expect(regular.length === gaps.length).toBe(spacing === 'constant');
    }
  });

  it('changes its rate, and starts again where it stopped', () => {
    const net = star(2);
    const traffic = new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 1000 });
    traffic.start();
    net.network.run(1e9);
    traffic.setRate(2000);
    net.network.run(2e9);
    expect(Math.abs(traffic.sent - 3000)).toBeLessThanOrEqual(1);
    traffic.stop();
    traffic.stop();
    net.network.run(3e9);
    const { sent } = traffic;
    traffic.start();
    net.network.run(4e9);
    expect(traffic.sent - sent).toBe(2000);
  });

  it('picks every ordered pair of hosts equally often, never a host with itself', () => {
    const net = star(4);
    const seen = new Map<string, number>();
    for (const link of net.hostLinks) {
      net.network.tap(link, 'ab', (frame) => {
        const { flow } = decodeFrame(frame)[0]!;
        const pair = `${flow!.source} ${flow!.destination}`;
        seen.set(pair, (seen.get(pair) ?? 0) + 1);
      });
    }
    new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 12_000 }).start();
    net.network.run(1e9);
    expect(seen.size).toBe(12);
    // 1000 each, a standard deviation of 30.
    for (const [pair, count] of seen) {
      expect(Math.abs(count - 1000)).toBeLessThan(150);
      expect(new Set(pair.split(' ')).size).toBe(2);
    }
  });

  it('can keep to pairs drawn at the start', () => {
    const net = star(10);
    const traffic = new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 10_000, pairs: 1, bytes: 42 });
    traffic.start();
    net.network.run(1e9);
    expect(net.hosts.filter((host) => host.sent > 0).length).toBe(1);
    expect(net.hosts.filter((host) => host.received > 0).length).toBe(1);
    expect(net.hosts.find((host) => host.sent > 0)!.sentBytes).toBe(42 * traffic.sent);
  });

  it('refuses rates, sizes and hosts that make none', () => {
    const net = star(2);
    const base = { hosts: net.hosts, packetsPerSecond: 1 };
    const wrong = [
      { packetsPerSecond: 0 },
      { packetsPerSecond: Number.POSITIVE_INFINITY },
      { bytes: 41 },
      { pairs: 0 },
    ];
    for (const options of [...wrong, { hosts: net.hosts.slice(1) }]) {
      expect(() => new UdpTraffic(net.network, { ...base, ...options })).toThrow(RangeError);
    }
  });
});

describe('a host', () => {
  it('sends datagrams and reports those for it', () => {
    const got: [number, Datagram][] = [];
    const net = buildNetwork({
      seed: 1,
      switches: 2,
      links: [[0, 1]],
      hosts: { count: 2, link: { delayNs: 5 }, onDatagram: (host, datagram) => void got.push([host, datagram]) },
    });
    net.hosts[0]!.send({ destination: ADDRESSES.host(1), sourcePort: 4, destinationPort: 5 }, Uint8Array.of(1, 2, 3));
    net.network.run(1000);
    const source = ADDRESSES.host(0);
    expect(got).toEqual([
      [1, { source, sourcePort: 4, destinationPort: 5, payload: Uint8Array.of(1, 2, 3), timeNs: 10 }],
    ]);
    net.hostNodes[1]!.accept(
      udpFrame({ source, destination: 1, sourcePort: 1, destinationPort: 1 }, new Uint8Array(0)),
      0,
    );
    net.hostNodes[1]!.accept(new Uint8Array(3), 0);
    expect(net.hosts[1]).toMatchObject({ received: 1, receivedBytes: 45, ignored: 2 });
  });

  it('that belongs to no network cannot send', () => {
    const host = new Host({ address: 1 });
    expect(() => host.send({ destination: 2, sourcePort: 1, destinationPort: 1 }, new Uint8Array(0))).toThrow(
      TypeError,
    );
    const recorder = new Recorder();
    const network = new Network({ seed: 1 });
    network.connect(network.add('host', host), network.add('other', recorder));
    host.send({ destination: 2, sourcePort: 1, destinationPort: 1 }, new Uint8Array(0));
    network.run(0);
    expect(recorder.frames.length).toBe(1);
  });
});

describe('a UDP frame', () => {
  it('has the checksums, addresses and lengths that decoders want', () => {
    const payload = Uint8Array.from({ length: 101 }, (_, i) => i);
    const frame = udpFrame(
      {
        source: 0xc0a80101,
        destination: 0x0a000001,
        sourcePort: 60_000,
        destinationPort: 7,
        dscp: 33,
        ttl: 9,
        checksum: true,
      },
      payload,
    );
    const [record] = decodeFrame(frame);
    expect(record?.flow).toMatchObject({
      source: '192.168.1.1',
      destination: formatIpv4(0x0a000001),
      sourcePort: 60_000,
    });
    expect([frame[15], frame[22]]).toEqual([33 << 2, 9]);
    expect(ipv4HeaderChecksum(frame, 14)).toBe((frame[24]! << 8) | frame[25]!);
    expect((frame[40]! << 8) | frame[41]!).toBe(udpChecksum(frame, 14, 34, 109));
    expect(udpPayload(frame)).toEqual(payload);
    expect(udpPayload(frame.subarray(0, 100))).toBeNull();
    expect(udpPayload(new Uint8Array(10))).toBeNull();
  });

  it('is refused where a field does not fit', () => {
    const base = { source: 1, destination: 2, sourcePort: 3, destinationPort: 4 };
    for (const wrong of [{ sourcePort: -1 }, { destinationPort: 65_536 }, { dscp: 64 }, { ttl: 0 }]) {
      expect(() => udpFrame({ ...base, ...wrong }, new Uint8Array(1))).toThrow(RangeError);
    }
    expect(() => udpFrame(base, new Uint8Array(65_508))).toThrow(RangeError);
    expect(udpFrame(base, new Uint8Array(65_507)).length).toBe(65_549);
  });
});
