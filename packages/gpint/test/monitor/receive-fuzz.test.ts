/** What a monitor takes from the network: anything at all, at any time. */
import { GPINT_DSCP } from '@int/codec';
import { type Graph, GraphBuilder, Monitor, Paths, type SessionReport } from '@int/gpint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { ModelNetwork } from './model-network.js';
import { SECOND } from './scenario.js';

const graph: Graph = new GraphBuilder().addLink('a', 'b').addLink('b', 'c').addLink('c', 'd').addLink('d', 'a').build();
const timeoutNs = SECOND;

/** One packet on its way to the monitor, as it should not be. */
interface Damage {
  /** Which of the packets so far it is made of; none: random bytes. */
  readonly of: number | null;
  readonly flips: readonly (readonly [at: number, bits: number])[];
  readonly cut: number;
  readonly bytes: Uint8Array;
  readonly dscp: number | null;
}

const dscps = fc.constantFrom(null, GPINT_DSCP.PROBE, GPINT_DSCP.FEEDBACK, GPINT_DSCP.RECOVERY, 0, 0x3f);
const damages = fc.array(
  fc.record({
    of: fc.option(fc.nat(20)),
    flips: fc.array(fc.tuple(fc.nat(80), fc.integer({ min: 1, max: 255 })), { maxLength: 4 }),
    cut: fc.oneof(fc.constant(0), fc.nat(12)),
    bytes: fc.uint8Array({ maxLength: 60 }),
    dscp: dscps,
  }),
  { maxLength: 40 },
);

function damaged({ of, flips, cut, bytes }: Damage, seen: readonly Uint8Array[]): Uint8Array {
  if (of === null || seen.length === 0) return bytes;
  const copy = seen[of % seen.length]!.slice();
  for (const [at, bits] of flips) if (at < copy.length) copy[at] = copy[at]! ^ bits;
  return copy.subarray(0, copy.length - Math.min(cut, copy.length));
}

describe('a monitor among damaged packets', () => {
  it('throws nothing, counts every packet once, and ends its sessions by their bound', () => {
    fc.assert(
      fc.property(damages, fc.nat(1000), fc.boolean(), (list, seed, extended) => {
        const network = new ModelNetwork({ graph, seed, extended, timeoutNs, loss: 0.1 });
        const seen: Uint8Array[] = [];
        const monitor = new Monitor({
          graph,
          plan: Paths.from([
            [0, 1],
            [2, 3],
          ]),
          transport: {
            send(entry, payload, isExtended) {
              seen.push(payload);
              network.transport.send(entry, payload, isExtended);
            },
          },
          clock: network.clock,
          config: { timeoutNs, maxAttempts: 1 },
          layout: extended ? 'extended' : 'plain',
        });
        let left = [...list];
        let received = 0;
        const receive = (payload: Uint8Array, dscp: number | null): void => {
          received++;
          monitor.receive(payload, dscp);
        };
        network.receive = (payload, dscp) => {
          seen.push(payload);
          // Some before each sound packet, the rest after the session.
          for (const one of left.splice(0, 6)) receive(damaged(one, seen), one.dscp);
          receive(payload, dscp);
        };
        let report: SessionReport | null = null;
        void monitor.collect((done) => {
          report = done;
        });
        const bound = network.clock.nowNs() + monitor.boundNs;
        network.run(bound + 1);
        expect(report).not.toBeNull();
        for (const one of left) receive(damaged(one, seen), one.dscp);
        left = [];
        const { counters } = monitor;
        const { feedback, lateFeedback, home, lateHome, notice, lateNotice } = counters;
        const { duplicate, stale, unknown, foreign, malformed } = counters;
        const taken = feedback + lateFeedback + home + lateHome + notice + lateNotice;
        expect(counters.received).toBe(received);
        expect(taken + duplicate + stale + unknown + foreign + malformed).toBe(received);
      }),
      { seed: SEED, numRuns: runs(800) },
    );
  });
});
