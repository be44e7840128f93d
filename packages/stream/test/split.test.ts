import {
  decodePartial,
  encodePartial,
  FlowSide,
  type FlowSideOptions,
  type ImmediateEvent,
  type NetworkPartial,
  NetworkSide,
  type NetworkWindow,
} from '@int/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { batchOf, type TestReport } from './reports.js';
import { Findings, run, SMALL } from './run.js';
import { SEED } from './seed.js';
import { traffic } from './traffic.js';

const RUNS = { seed: SEED, numRuns: runs(48) };
const SLICE_US = 250_000;

interface Found {
  readonly flowEvents: ImmediateEvent[];
  readonly networkEvents: ImmediateEvent[];
  readonly networkWindows: NetworkWindow[];
  readonly findings: Findings;
}

/** Network side fed by flow sides, one for each part; all are told the time before each report and at the end. */
function split(
  reports: readonly TestReport[],
  parts: number,
  partOf: (report: TestReport) => number,
  deliver: (partials: NetworkPartial[]) => NetworkPartial[],
): Found {
  const findings = new Findings();
  const networkEvents: ImmediateEvent[] = [];
  const network = new NetworkSide(
    { sides: parts },
    { networkWindow: findings.networkWindow, event: (e) => networkEvents.push(e) },
  );
  const partials: NetworkPartial[] = [];
  const sides = Array.from({ length: parts }, (_, side) => {
    const options: FlowSideOptions = { ...SMALL, side };
    return new FlowSide(options, {
      event: findings.event,
      flowWindow: (window) => {
        expect(window.side).toBe(side);
        // Which side it was is all that may differ.
        findings.flowWindow({ ...window, side: 0 });
      },
      partial: (partial) => partials.push(decodePartial(encodePartial(partial))),
    });
  });
  let clock = 0;
  for (const report of reports) {
    if ((report.code ?? 0) === 0) clock = Math.max(clock, report.timeUs);
    for (const side of sides) if (clock > 0) side.advance(clock / 1000);
    const batch = batchOf([report]);
    sides[partOf(report)]!.observe(batch);
  }
  for (const side of sides) side.flush();
  for (const partial of deliver(partials)) network.merge(partial);
  network.flush();
  return { flowEvents: findings.events, networkEvents, networkWindows: findings.networkWindows, findings };
}

const byId = <T extends { readonly id: string }>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (a.id < b.id ? -1 : 1));

describe('flow sides', () => {
  it('however flows are spread over them, and however their partials are interleaved and repeated, give the same', () => {
    fc.assert(
      fc.property(
        traffic,
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.nat(3)),
        fc.infiniteStream(fc.nat(7)),
        (reports, parts, places, dice) => {
          const one = run(reports);
          const partOf = ({ flow }: TestReport): number => (places[flow ?? 9] ?? flow ?? 0) % parts;
          const found = split(reports, parts, partOf, (partials) => {
            // Each side's own in their order; sides as it comes; some twice.
            const queues = Array.from({ length: parts }, (_, side) =>
              partials.filter((partial) => partial.side === side),
            );
            const order: NetworkPartial[] = [];
            while (queues.some((queue) => queue.length > 0)) {
              const queue = queues[dice.next().value! % parts]!;
              const next = queue.shift();
              if (next === undefined) continue;
              order.push(next);
              if (dice.next().value === 0) order.push(order[dice.next().value! % order.length]!);
            }
            return order;
          });
          const isOfFlow = ({ kind }: ImmediateEvent): boolean => ['loop', 'pathChange', 'blackHole'].includes(kind);
          expect(byId(found.flowEvents)).toEqual(byId(one.events.filter(isOfFlow)));
          expect(found.networkEvents).toEqual(one.events.filter((event) => !isOfFlow(event)));
          expect(byId(found.findings.flowWindows)).toEqual(byId(one.flowWindows));
          expect(found.networkWindows).toEqual(one.networkWindows);
        },
      ),
      RUNS,
    );
  });
});

describe('a network side', () => {
  const partial = (side: number, slice: number, more: Partial<NetworkPartial> = {}): NetworkPartial => ({
    side,
    number: slice,
    slice,
    sliceUs: SLICE_US,
    closed: slice + 1,
    whole: true,
    ended: false,
    broken: null,
    switches: [],
    links: [],
    queues: [],
    reporters: [],
    refused: { switches: 0, links: 0, queues: 0, sequences: 0, late: 0 },
    ...more,
  });
  const seen = (slice: number, nodes: readonly number[]): Partial<NetworkPartial> => ({
    switches: nodes.map((nodeId) => ({
      nodeId,
      reports: 1,
      lastSeenUs: slice * SLICE_US,
      count: 0,
      sum: 0,
      min: 0,
      max: 0,
      buckets: [],
    })),
  });
  const numbers = (mask: number): Partial<NetworkPartial> => ({
    reporters: [{ nodeId: 7, hwId: 0, bits: 22, blocks: [3, mask] }],
  });

  it('waits for the side that is behind, and drops what comes twice', () => {
    const side = new NetworkSide({ sides: 2 });
    side.merge(partial(0, 100));
    side.merge(partial(0, 101));
    side.merge(partial(0, 101));
    expect(side.totals()).toMatchObject({ slices: 0, repeated: 1 });
    side.merge(partial(1, 100));
    expect(side.totals()).toMatchObject({ slices: 1, incompleteSlices: 0 });
    side.merge(partial(1, 100));
    expect(side.totals()).toMatchObject({ slices: 1, repeated: 2, late: 0 });
  });

  it('does not wait for a side that has ended, also from its state, until that tells of something again', () => {
    const side = new NetworkSide({ sides: 2 });
    for (const one of [0, 1, 2]) side.merge(partial(one, 100));
    side.merge(partial(2, 101, { ended: true }));
    expect(side.totals()).toMatchObject({ slices: 1 });
    const after = new NetworkSide({ sides: 2 });
    for (const { key, value } of side.changes()) if (value !== null) after.restore(key, value);
    for (const slice of [101, 102, 103]) for (const one of [0, 1]) after.merge(partial(one, slice));
    expect(after.totals()).toMatchObject({ slices: 3, incompleteSlices: 0 });
    after.merge(partial(2, 104));
    for (const slice of [104, 105, 106]) for (const one of [0, 1]) after.merge(partial(one, slice));
    expect(after.totals()).toMatchObject({ slices: 4, incompleteSlices: 0 });
    // One that was to wait for more sides has waited for nothing.
    const more = new NetworkSide({ sides: 3 });
    for (const one of [0, 1]) more.merge(partial(one, 100));
    const fewer = new NetworkSide({ sides: 2 });
    for (const { key, value } of more.changes()) if (value !== null) fewer.restore(key, value);
    fewer.revise();
    expect([more, fewer].map((each) => each.totals().slices)).toEqual([0, 1]);
    // Those that have ended are none of the two.
    const few = new NetworkSide({ sides: 2 });
    few.merge(partial(0, 100));
    few.merge(partial(2, 100, { ended: true }));
    expect(few.totals()).toMatchObject({ slices: 0 });
  });

  it('goes on without a side that is missing for too long, and takes nothing for silent then', () => {
    const findings = new Findings();
    const side = new NetworkSide({ sides: 2, waitMs: 1000, forgetMs: 5000 }, findings);
    const link = {
      from: 1,
      to: 2,
      packets: 3,
      lastSeenUs: 25_000_000,
      flows: [1, 25_000_000, 2, 25_000_000, 3, 25_000_000],
    };
    side.merge(partial(1, 100, numbers(0b0001)));
    side.merge(partial(0, 100, { ...seen(100, [1, 2]), links: [link] }));
    for (let slice = 101; slice < 115; slice++)
      side.merge(partial(0, slice, { ...seen(slice, [1, 2]), ...numbers(0b1000) }));
    expect(side.totals()).toMatchObject({ slices: 10, incompleteSlices: 9 });
    expect(findings.events).toEqual([]);
    // Had the other side been there, with nothing to tell:
    const both = new Findings();
    const whole = new NetworkSide({ sides: 2 }, both);
    whole.merge(partial(1, 100, numbers(0b0001)));
    whole.merge(partial(0, 100, { ...seen(100, [1, 2]), links: [link] }));
    for (let slice = 101; slice < 115; slice++) {
      whole.merge(partial(0, slice, { ...seen(slice, [1, 2]), ...numbers(0b1000) }));
      whole.merge(partial(1, slice));
    }
    expect(both.events.map(({ kind }) => kind)).toEqual(['linkFailure', 'reportLoss']);
  });

  it('counts what comes for a slice that is closed', () => {
    const side = new NetworkSide({ sides: 2, waitMs: 1000, forgetMs: 5000 });
    side.merge(partial(0, 100));
    side.merge(partial(0, 200));
    side.merge(partial(1, 100, seen(100, [7])));
    expect(side.totals()).toMatchObject({ late: 1, lateReports: 1 });
  });

  it('closes slices when it is told that time has passed, however long', () => {
    const findings = new Findings();
    const side = new NetworkSide({ sides: 2 }, findings);
    side.merge(partial(0, 100, seen(100, [1])));
    side.advance(24 * 3600 * 1000);
    expect(side.totals().pending).toBe(0);
    expect(findings.switches).toMatchObject([{ nodeId: 1, complete: false }]);
  });

  it('keeps no more partials than it has room for', () => {
    const side = new NetworkSide({ sides: 2, pending: 4, waitMs: 60_000, forgetMs: 60_000 });
    for (let slice = 100; slice < 150; slice++) side.merge(partial(0, slice, seen(slice, [1])));
    expect(side.totals().pending).toBeLessThanOrEqual(4);
  });

  it('does not take numbers for lost when a flow side had no room for some', () => {
    const refused = { switches: 0, links: 0, queues: 0, sequences: 1, late: 0 };
    const findings = new Findings();
    const side = new NetworkSide({}, findings);
    side.merge(partial(0, 100, { ...numbers(0b1001), refused }));
    for (let slice = 101; slice < 110; slice++) side.merge(partial(0, slice));
    expect(findings.events).toEqual([]);
  });

  it('refuses partials of another length of slice', () => {
    expect(() => new NetworkSide({ sliceMs: 500 }).merge(partial(0, 1))).toThrow(RangeError);
  });
});
