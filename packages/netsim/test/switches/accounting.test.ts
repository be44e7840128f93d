import { UdpTraffic } from '@int/netsim';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from '../seed.js';
import { FEEDBACK, line, monitored, PROBE, probeOf, RECOVERY, walk } from './probe-frames.js';

const MS = 1_000_000;

describe('GPINT switches', () => {
  it('account for every clone, probe and notice, whatever fails and whatever links do', () => {
    const scenario = fc.record({
      seed: fc.nat(),
      switches: fc.integer({ min: 2, max: 7 }),
      loss: fc.constantFrom(0, 0.05, 0.3),
      duplication: fc.constantFrom(0, 0.2),
      jitterNs: fc.constantFrom(0, 3 * MS),
      rate: fc.constantFrom(1000, Number.POSITIVE_INFINITY),
      inBand: fc.boolean(),
      traffic: fc.boolean(),
    });
    fc.assert(
      fc.property(scenario, ({ seed, switches: count, loss, duplication, jitterNs, rate, inBand, traffic }) => {
        const net = monitored({
          seed,
          switches: count,
          links: count > 2 ? [...line(count), [count - 1, 0]] : line(count),
          link: { delayNs: MS, rateBps: 1e8, queuePackets: 10, loss, duplication, jitterNs },
          switchNode: { rate, queuePackets: 12 },
          gpint: { timeoutNs: 8 * MS, cloneCapacity: 5 },
          hosts: { count: 3 },
          ...(inBand ? { monitor: { entries: [0], link: { loss } } } : {}),
        });
        const random = new Random(seed).derive('scenario');
        const background = new UdpTraffic(net.network, { hosts: net.hosts, packetsPerSecond: 2000 });
        if (traffic) background.start();
        for (let id = 0; id < 40; id++) {
          const visits = [inBand ? 0 : random.integer(count)];
          for (let hops = random.integer(6); hops > 0; hops--) {
            const list = net.neighbours[visits.at(-1)!]!;
            visits.push(list[random.integer(list.length)]!);
          }
          net.network.at(random.integer(100 * MS), () =>
            net.monitor.send(visits[0]!, probeOf(id, walk(net, visits, 1))),
          );
        }
        for (let i = random.integer(4); i > 0; i--) {
          const victim =
            random.integer(2) === 0
              ? net.links[random.integer(net.links.length)]!
              : net.switchNodes[random.integer(count)]!;
          const from = random.integer(60 * MS);
          net.network.at(from, () => victim.fail());
          net.network.at(from + random.integer(60 * MS), () => victim.repair());
        }
        net.network.run(150 * MS);
        background.stop();
        net.network.run(Number.POSITIVE_INFINITY);

        let [notices, completed] = [0, 0];
        for (const [index, each] of net.switches.entries()) {
          expect(each.pendingClones).toBe(0);
          // Each probe sent on left a clone, and each clone ended in one way.
          expect(each.probes - each.clonesRefused).toBe(each.feedbackMatched + each.notices + each.clonesLost);
          expect(each.feedbackSent).toBe(each.probes + each.completed);
          expect(each.droppedMalformed + each.droppedTooLong + each.droppedMisdirected).toBe(0);
          notices += each.notices;
          completed += each.completed;
          const node = net.switchNodes[index]!;
          expect(node.arrived).toBe(node.processed + node.droppedQueue + node.droppedDown);
          // No place of the queue is left taken.
          for (let place = 0; place < 12; place++) expect(node.reserve()).toBe(true);
        }
        const got = (dscp: number): number => net.returns.filter((each) => each.dscp === dscp).length;
        expect(net.returns.length).toBe(net.monitor.received);
        expect(net.monitor.ignored).toBe(0);
        if (!inBand) expect([got(PROBE), got(RECOVERY)]).toEqual([completed, notices]);
        else if (duplication === 0) expect([got(PROBE) <= completed, got(RECOVERY) <= notices]).toEqual([true, true]);
        if (loss + duplication === 0 && !inBand) expect(got(FEEDBACK)).toBeLessThanOrEqual(40);
        for (const each of net.links) {
          for (const direction of ['ab', 'ba'] as const) {
            const c = each.counters(direction);
            expect(c.offered + c.duplicated).toBe(c.delivered + c.lost + c.droppedQueue + c.droppedDown);
          }
        }
      }),
      { seed: SEED, numRuns: 120 },
    );
  });

  it('bring every probe home, measured in the order of its route, where nothing is lost', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 2, max: 12 }), fc.boolean(), (seed, count, extended) => {
        const net = monitored({ seed, switches: count, links: line(count), link: { delayNs: MS }, extended });
        const random = new Random(seed).derive('walks');
        const walks = Array.from({ length: 10 }, () => {
          const visits = [random.integer(count)];
          for (let hops = random.integer(30); hops > 0; hops--) {
            const list = net.neighbours[visits.at(-1)!]!;
            visits.push(list[random.integer(list.length)]!);
          }
          return visits;
        });
        for (const [id, visits] of walks.entries())
          net.monitor.send(visits[0]!, probeOf(id, walk(net, visits, 2), { extended }));
        net.network.run(Number.POSITIVE_INFINITY);
        const home = net.returns.filter((each) => each.dscp === PROBE).sort((a, b) => a.requestId - b.requestId);
        expect(home.map((each) => each.switches)).toEqual(walks);
        expect(home.map((each) => each.timeNs)).toEqual(walks.map((visits) => (visits.length - 1) * MS));
        expect(net.returns.length).toBe(20);
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});
