import { formatIpv4 } from '@int/codec';
import { GPINT_PORT } from '@int/codec/internals';
import { ADDRESSES, type BuildOptions, udpFrame } from '@int/netsim';
import { describe, expect, it } from 'vitest';
import { FEEDBACK, line, monitored, PROBE, probeOf, RECOVERY, walk } from './probe-frames.js';

const MS = 1_000_000;

/** Switches in a row, 1 ms between them. */
const row = (count: number, more: Partial<BuildOptions> = {}): ReturnType<typeof monitored> =>
  monitored({
    seed: 1,
    switches: count,
    links: line(count),
    link: { delayNs: MS },
    gpint: { timeoutNs: 10 * MS },
    ...more,
  });

describe('a probe', () => {
  it('is confirmed by its first switch, measured by each, and comes home from the last', () => {
    const net = row(4);
    net.monitor.send(0, probeOf(7, walk(net, [0, 1, 2, 3])));
    net.network.run(1000 * MS);
    expect(net.returns).toEqual([
      { dscp: FEEDBACK, requestId: 7, switches: [], measurements: [], route: [], port: 0, timeNs: 0 },
      { dscp: PROBE, requestId: 7, switches: [0, 1, 2, 3], measurements: [], route: [], port: 3, timeNs: 3 * MS },
    ]);
    for (const [index, each] of net.switches.entries()) {
      const isLast = index === 3;
      expect(each).toMatchObject({
        probes: isLast ? 0 : 1,
        completed: isLast ? 1 : 0,
        feedbackSent: 1,
        feedbackMatched: isLast ? 0 : 1,
        feedbackUnmatched: 0,
        notices: 0,
        pendingClones: 0,
      });
    }
  });

  it('may visit a switch more than once', () => {
    const net = row(3);
    const visits = [0, 1, 0, 1, 2, 1, 0];
    net.monitor.send(0, probeOf(0x7fff, walk(net, visits)));
    net.network.run(1000 * MS);
    expect(net.returns.map((each) => each.dscp)).toEqual([FEEDBACK, PROBE]);
    expect(net.returns[1]).toMatchObject({ requestId: 0x7fff, switches: visits, port: 0, timeNs: 6 * MS });
    expect(net.switches.map((each) => each.feedbackMatched)).toEqual([2, 3, 1]);
    expect(net.switches.map((each) => each.pendingClones + each.notices)).toEqual([0, 0, 0]);
  });

  it('brings the counters that its entries ask for: packets by port, or hits by rule', () => {
    const net = row(2, { hosts: { count: 2 } });
    const to = (destination: number): void =>
      net.hosts[0]!.send({ destination, sourcePort: 1, destinationPort: 9 }, new Uint8Array(10));
    for (let i = 0; i < 5; i++) to(ADDRESSES.host(1));
    net.network.run(100 * MS);
    // Port 0 leads to the monitor, port 1 to the other switch, port 2 to the host; the probe itself is counted.
    net.monitor.send(0, probeOf(1, walk(net, [0, 1], 4)));
    net.network.run(200 * MS);
    expect(net.returns[1]!.measurements).toEqual([1, 0, 5, 0, 0, 6, 0, 0]);
    const rule = net.switches[0]!.routes.entryOf(ADDRESSES.host(1));
    net.monitor.send(0, probeOf(2, [[0, rule, 1]], { type: 'rule-hits' }));
    net.network.run(300 * MS);
    expect(net.returns[3]).toMatchObject({ requestId: 2, switches: [0], measurements: [5] });
  });

  it('reports the input queue, cut to what the layout holds', () => {
    const depths: number[] = [];
    for (const extended of [false, true]) {
      const net = row(1, { extended, switchNode: { rate: 1000 }, hosts: { count: 1 } });
      net.monitor.onPayload = (payload, dscp) => {
        if (dscp === PROBE) depths.push(extended ? (payload[8]! << 8) | payload[9]! : payload[7]!);
      };
      net.monitor.send(0, probeOf(1, [[0, 0, 0]], { extended }));
      net.network.run(1);
      for (let i = 0; i < 300; i++)
        net.hosts[0]!.send({ destination: 1, sourcePort: 1, destinationPort: 9 }, new Uint8Array(1));
      net.network.run(1000 * MS);
    }
    expect(depths).toEqual([255, 300]);
  });

  it('is dropped where it would exceed 2200 bytes, and the switch before says so', () => {
    const net = row(3);
    // 8 bytes, and a DLV header of 4 and 1020 of measurements at each switch: two fit.
    net.monitor.send(0, probeOf(3, walk(net, [0, 1, 2], 255)));
    net.network.run(1000 * MS);
    expect(net.returns.map(({ dscp, switches }) => ({ dscp, switches }))).toEqual([
      { dscp: FEEDBACK, switches: [] },
      { dscp: RECOVERY, switches: [0, 1] },
    ]);
    expect(net.switches[2]).toMatchObject({ droppedTooLong: 1, feedbackSent: 0 });
  });

  it('has 16-bit ids and ports in large networks', () => {
    const net = row(300);
    expect(net.extended).toBe(true);
    net.monitor.send(299, probeOf(4, walk(net, [299, 298, 297]), { extended: true }));
    net.network.run(1000 * MS);
    expect(net.returns[1]).toMatchObject({ dscp: PROBE, switches: [299, 298, 297], port: 297 });
  });

  it('is neither confirmed nor kept where recovery is off', () => {
    const net = row(3, { gpint: { recovery: false } });
    net.monitor.send(0, probeOf(5, walk(net, [0, 1, 2])));
    net.links[1]!.fail();
    net.monitor.send(1, probeOf(6, walk(net, [1, 0])));
    net.network.run(10_000 * MS);
    expect(net.returns.map(({ dscp, requestId }) => [dscp, requestId])).toEqual([[PROBE, 6]]);
    expect(net.switches.every((each) => each.feedbackSent + each.pendingClones + each.notices === 0)).toBe(true);
  });
});

describe('a recovery notice', () => {
  it('comes t_f after a probe went onto a link that is down, with what was gathered and the way not gone', () => {
    const net = row(4);
    net.links[1]!.fail();
    net.monitor.send(0, probeOf(9, walk(net, [0, 1, 2, 3], 1)));
    net.network.run(1000 * MS);
    expect(net.returns.map((each) => each.dscp)).toEqual([FEEDBACK, RECOVERY]);
    expect(net.returns[1]).toMatchObject({
      requestId: 9,
      switches: [0, 1],
      measurements: [1, 0],
      route: [net.portOf(2, 3), 0],
      port: 1,
      timeNs: 11 * MS,
    });
    expect(net.switches[1]).toMatchObject({ notices: 1, pendingClones: 0 });
  });

  it('comes although the probe arrives, if the feedback is lost or late', () => {
    const lost = row(3, { link: { delayNs: MS, bToA: { loss: 1 } } });
    const late = row(3, { link: { delayNs: 6 * MS } });
    for (const net of [lost, late]) {
      net.monitor.send(0, probeOf(10, walk(net, [0, 1, 2])));
      net.network.run(1000 * MS);
      expect(net.returns.map((each) => each.dscp).sort()).toEqual([PROBE, FEEDBACK, RECOVERY, RECOVERY]);
      expect(net.returns.filter((each) => each.dscp === RECOVERY).map((each) => each.switches)).toEqual([[0], [0, 1]]);
    }
    expect(lost.switches.map((each) => each.feedbackUnmatched)).toEqual([0, 0, 0]);
    expect(late.switches.map((each) => each.feedbackUnmatched)).toEqual([1, 1, 0]);
  });

  it('does not come where the feedback arrives just in time', () => {
    const net = row(2, { link: { delayNs: 5 * MS - 1 } });
    net.monitor.send(0, probeOf(11, walk(net, [0, 1])));
    net.network.run(1000 * MS);
    expect(net.switches[0]).toMatchObject({ notices: 0, feedbackMatched: 1 });
  });

  it('waits as long as the port asks for, and round-trip times are told by port', () => {
    const told: [number, number, number][] = [];
    const net = row(3, {
      gpint: (index) => ({
        timeoutNs: (port) => port * 7 * MS,
        onFeedback: (port, rttNs) => void told.push([index, port, rttNs]),
      }),
    });
    net.links[1]!.fail();
    net.monitor.send(0, probeOf(12, walk(net, [0, 1, 2])));
    net.network.run(1000 * MS);
    expect(told).toEqual([[0, 1, 2 * MS]]);
    // Switch 1 is at port 2 of itself towards 2: it got the probe after 1 ms.
    expect(net.returns[1]).toMatchObject({ dscp: RECOVERY, timeNs: 15 * MS });
  });

  it('is about the oldest clone, where a request left twice by one port', () => {
    // The second probe of the same id is lost: one feedback confirms the first clone, the second one becomes a notice.
    const net = row(2);
    net.monitor.send(0, probeOf(13, walk(net, [0, 1], 1)));
    net.network.run(MS / 2);
    net.links[0]!.configure({ loss: 1 }, 'ab');
    net.monitor.send(0, probeOf(13, walk(net, [0, 1], 1)));
    net.network.run(1000 * MS);
    const notice = net.returns.find((each) => each.dscp === RECOVERY);
    expect(notice).toMatchObject({ timeNs: 10.5 * MS, measurements: [2] });
    expect(net.switches[0]).toMatchObject({ notices: 1, feedbackMatched: 1, pendingClones: 0 });
  });

  it('does not come from a switch that failed meanwhile: its memory is gone', () => {
    const net = row(3);
    net.links[1]!.fail();
    net.monitor.send(0, probeOf(14, walk(net, [0, 1, 2])));
    net.network.run(5 * MS);
    expect(net.switches[1]!.pendingClones).toBe(1);
    net.switchNodes[1]!.fail();
    net.switchNodes[1]!.repair();
    net.network.run(1000 * MS);
    expect(net.returns.map((each) => each.dscp)).toEqual([FEEDBACK]);
    expect(net.switches[1]).toMatchObject({ clonesLost: 1, notices: 0, pendingClones: 0 });
  });
});

describe('clones', () => {
  it('take places of the input queue, unless told otherwise', () => {
    for (const clonesOccupyQueue of [true, false]) {
      const net = row(2, {
        gpint: { timeoutNs: 100 * MS, clonesOccupyQueue },
        switchNode: { rate: 10_000, queuePackets: 4 },
        hosts: { count: 2 },
      });
      net.links[0]!.fail();
      for (let i = 0; i < 3; i++) net.monitor.send(0, probeOf(20 + i, walk(net, [0, 1])));
      net.network.run(10 * MS);
      expect(net.switches[0]!.pendingClones).toBe(3);
      const burst = (): void => {
        for (let i = 0; i < 4; i++)
          net.hosts[0]!.send({ destination: 1, sourcePort: 1, destinationPort: 9 }, new Uint8Array(1));
      };
      burst();
      net.network.run(20 * MS);
      expect(net.switchNodes[0]!.droppedQueue).toBe(clonesOccupyQueue ? 3 : 0);
      net.network.run(200 * MS);
      expect(net.switches[0]).toMatchObject({ notices: 3, pendingClones: 0 });
      burst();
      net.network.run(300 * MS);
      expect(net.switchNodes[0]!.droppedQueue).toBe(clonesOccupyQueue ? 3 : 0);
    }
  });

  it('are refused beyond the capacity; the probe goes on unprotected', () => {
    const net = row(2, { gpint: { timeoutNs: 10 * MS, cloneCapacity: 2 } });
    for (let i = 0; i < 3; i++) net.monitor.send(0, probeOf(30 + i, walk(net, [0, 1])));
    net.network.run(1000 * MS);
    expect(net.returns.filter((each) => each.dscp === PROBE).length).toBe(3);
    expect(net.switches[0]).toMatchObject({ probes: 3, clonesRefused: 1, feedbackMatched: 2, feedbackUnmatched: 1 });
  });
});

describe('duplicates', () => {
  it('of a probe are served again, and the feedback for the second one is counted and harmless', () => {
    const net = row(2, { link: { delayNs: MS, aToB: { duplication: 1 } } });
    net.monitor.send(0, probeOf(40, walk(net, [0, 1])));
    net.network.run(1000 * MS);
    expect(net.returns.map((each) => each.dscp)).toEqual([FEEDBACK, PROBE, PROBE]);
    expect(net.switches[0]).toMatchObject({ feedbackMatched: 1, feedbackUnmatched: 1, notices: 0 });
  });
});

describe('a monitor that is attached to some switches', () => {
  it('gets probes and notices passed on hop by hop, and feedback of its entries', () => {
    const net = row(5, { monitor: { entries: [0] } });
    net.links[3]!.fail();
    net.monitor.send(0, probeOf(50, walk(net, [0, 1, 2, 3])));
    net.monitor.send(0, probeOf(51, walk(net, [0, 1, 2, 3, 4])));
    net.network.run(1000 * MS);
    expect(net.returns.map(({ dscp, requestId, timeNs }) => [dscp, requestId, timeNs])).toEqual([
      [FEEDBACK, 50, 0],
      [FEEDBACK, 51, 0],
      [PROBE, 50, 6 * MS],
      [RECOVERY, 51, 16 * MS],
    ]);
    expect(net.returns[3]!.switches).toEqual([0, 1, 2, 3]);
    expect(net.switches.map((each) => each.inTransit)).toEqual([2, 2, 2, 0, 0]);
    expect(() => net.monitor.send(1, probeOf(52, walk(net, [1])))).toThrow(RangeError);
  });

  it('loses what its lossy links lose', () => {
    const net = row(3, { monitor: { entries: [0], link: { bToA: { loss: 1 } } } });
    net.monitor.send(0, probeOf(53, walk(net, [0, 1, 2])));
    net.network.run(1000 * MS);
    expect(net.returns).toEqual([]);
    expect(net.switches[2]!.completed).toBe(1);
  });

  it('is found another way after rerouting', () => {
    const links: [number, number][] = [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 0],
    ];
    const net = row(4, { links, monitor: { entries: [0] }, hosts: { count: 4 } });
    expect(net.switches[1]!.monitorPort).toBe(net.portOf(1, 0));
    net.linkBetween(1, 0)!.fail();
    net.reroute();
    expect(net.switches[1]!.monitorPort).toBe(net.portOf(1, 2));
    net.monitor.send(0, probeOf(54, walk(net, [0, 3, 2, 1])));
    net.hosts[1]!.send({ destination: ADDRESSES.host(0), sourcePort: 1, destinationPort: 9 }, new Uint8Array(4));
    net.network.run(1000 * MS);
    expect(net.returns.at(-1)).toMatchObject({ dscp: PROBE, switches: [0, 3, 2, 1] });
    expect(net.hosts[0]!.received).toBe(1);
  });
});

describe('frames that are not what they look like', () => {
  const headers = {
    source: ADDRESSES.monitor,
    destination: ADDRESSES.switch(0),
    sourcePort: 5017,
    destinationPort: 5017,
  };

  it('are dropped and counted by reason', () => {
    const net = row(2);
    const inject = (dscp: number, payload: Uint8Array, port = 1): void =>
      net.switchNodes[0]!.accept(udpFrame({ ...headers, dscp }, payload), port);
    inject(PROBE, Uint8Array.of(1, 2, 3));
    inject(RECOVERY, new Uint8Array(0));
    inject(FEEDBACK, Uint8Array.of(1));
    inject(PROBE, Uint8Array.of(0, 2, 0, 9, 0, 0));
    inject(FEEDBACK, Uint8Array.of(0, 2));
    inject(PROBE, Uint8Array.of(0, 2, 0, 0, 0, 0, 0, 0), 0);
    inject(RECOVERY, probeOf(1, [[0, 0, 0]]), 0);
    net.network.run(1000 * MS);
    expect(net.switches[0]).toMatchObject({
      droppedMalformed: 4,
      feedbackUnmatched: 1,
      droppedMisdirected: 2,
      feedbackSent: 0,
      inTransit: 0,
    });
    expect(net.returns).toEqual([]);
  });

  it('are forwarded by address where only the DSCP or only the port is that of probes', () => {
    const net = row(2, { hosts: { count: 2 } });
    const send = (dscp: number, destinationPort: number): void =>
      net.hosts[0]!.send(
        { destination: ADDRESSES.host(1), sourcePort: 1, destinationPort, dscp },
        probeOf(1, [[0, 0, 0]]),
      );
    send(PROBE, 53);
    send(0, GPINT_PORT.PLAIN);
    net.network.run(1000 * MS);
    expect(net.hosts[1]!.received).toBe(2);
  });

  it('without a route or IPv4 are counted', () => {
    const net = row(1);
    net.switchNodes[0]!.accept(new Uint8Array(14), 0);
    net.switchNodes[0]!.accept(udpFrame({ ...headers, destination: 1 }, new Uint8Array(1)), 0);
    expect([net.switches[0]!.unroutable, net.switches[0]!.forwarded]).toEqual([2, 0]);
    expect(formatIpv4(ADDRESSES.switch(0))).toBe('10.0.0.1');
  });

  it('never throw and are never read past their end, whatever their bytes', () => {
    const net = row(2, { hosts: { count: 2 } });
    const random = net.network.random.derive('bytes');
    const sound = udpFrame({ ...headers, dscp: PROBE }, probeOf(3, walk(net, [0, 1], 3)));
    for (let i = 0; i < 20_000; i++) {
      // At a non-zero offset inside a larger buffer, so that reading beyond the end would find bytes.
      const whole = new Uint8Array(sound.length + 40).fill(0xff);
      const frame = whole.subarray(20, 20 + sound.length);
      frame.set(sound);
      for (let k = random.integer(4); k > 0; k--) frame[12 + random.integer(frame.length - 12)] = random.uint32();
      const cut = random.integer(4) === 0 ? frame.subarray(0, random.integer(frame.length + 1)) : frame;
      net.switchNodes[0]!.accept(cut, random.integer(3));
      if (i % 100 === 0) net.network.run(net.network.nowNs + MS);
    }
    net.network.run(Number.POSITIVE_INFINITY);
    expect(net.switches.map((each) => each.pendingClones)).toEqual([0, 0]);
    expect(net.switches[0]!.droppedMalformed).toBeGreaterThan(1000);
    expect(net.switches[0]!.completed + net.switches[0]!.probes).toBeGreaterThan(1000);
  });
});
