/** Every word that a small cache holds after three reports, written out: other programs read this memory. */
import type { Flow } from '@int/codec';
import { EVENT_WORDS, FlowCache, type LayoutName } from '@int/flowcache';
import { describe, expect, test } from 'vitest';
import { RoomOutlet } from '../accounting/outlets.js';
import { type Report, type ReportHop, recordOf } from '../cache/reports.js';

const NA = 0xffffffff;
const TCP: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 0x1234, destinationPort: 80 };
const IPV6: Flow = {
  source: '2001:db8::1',
  destination: '2001:db8::2',
  protocol: 17,
  sourcePort: 53,
  destinationPort: 0xabcd,
};

const hop = (nodeId: number, hopLatency: number, queueOccupancy?: number): ReportHop => ({
  nodeId,
  values: { hopLatency, ...(queueOccupancy === undefined ? {} : { queueOccupancy }) },
});

const THRESHOLDS = {
  metrics: { hopLatency: { level: 350, change: 150 } },
  endToEnd: { level: 1000, change: 100 },
  pathChange: true,
} as const;

/** The reports of the vector; `second` is another flow. */
function reports(second: Flow): Report[] {
  return [
    { isOk: true, flow: TCP, nodeId: 12, hops: [hop(11, 100, 5), hop(12, 200, 6)], timeNs: 0x1122334455667788n },
    { isOk: true, flow: second, nodeId: 9, hops: [hop(21, 1, 2)], timeNs: 0x1122334455667789n },
    // A switch in the place of 12, and a third one where the cache has no place.
    {
      isOk: true,
      flow: TCP,
      nodeId: 14,
      hops: [hop(11, 400, 5), hop(13, 300), hop(14, 500, 9)],
      timeNs: 0x112233445566778an,
    },
  ];
}

function fill(layout: LayoutName, accelerator: boolean, second: Flow): { cache: FlowCache; events: number[][] } {
  const events = new RoomOutlet(EVENT_WORDS);
  const cache = new FlowCache({
    layout,
    accelerator,
    rows: 2,
    buckets: 3,
    hops: 2,
    metrics: ['hopLatency', 'queueOccupancy'],
    seed: 7,
    thresholds: THRESHOLDS,
    events: events.sink,
  });
  for (const report of reports(second)) cache.observe(recordOf(report), report.timeNs);
  return { cache, events: events.read(99).map((words) => [...new Uint32Array(words)]) };
}

/** The words from `from` on, unsigned. */
function wordsOf({ words }: FlowCache, from: number, to: number): number[] {
  return [...new Uint32Array(words.slice(from, to))];
}

const zeros = (count: number): number[] => new Array<number>(count).fill(0);

/** Words 0 to 127. */
function header(layout: number, bucketStride: number, generation: number): number[] {
  // biome-ignore format: a line for what belongs together
  return [
    0x43464e49, 2, layout, // "INFC", version
    2, 3, 2, 2, // rows, buckets, hops, metrics
    0, 7, // xxh32, seed
    4, bucketStride, // words of a row, of a bucket
    128, 144, // where rows and buckets begin
    generation, 0, 0, // generation, row of the next sweep, unused
    3, 3, // hopLatency: its column, twice for want of another word
    5, 5, // queueOccupancy
    ...zeros(4),
    ...zeros(16 + 24),
    // Counters, the lower word first.
    3, 0, 1, 0, 2, 0, 2, 0, // offered, hits, inserted, live
    0, 0, 0, 0, 0, 0, 0, 0, // evicted, aged: entries and packets
    0, 0, 0, 0, 0, 0, 0, 0, // retired, removed
    0, 0, 0, 0, // lost
    0, 0, 0, 0, 0, 0, // notOk, noFlow, unsupportedIpv6
    1, 0, 1, 0, 3, 0, 0, 0, 0, 0, // hopsBeyond, pathChanges, events, lostEvents, restoredPackets
    ...zeros(20),
  ];
}

/** Two words a report: an odd number while it is written. */
const GENERATION = 6;

describe.each([false, true])('accelerator %s', (accelerator) => {
  test('an exact cache', () => {
    const { cache, events } = fill('exact', accelerator, IPV6);
    expect(cache.usesAccelerator).toBe(accelerator);
    expect(cache.words.length).toBe(144 + 6 * 40);
    expect(wordsOf(cache, 0, 128)).toEqual(header(0, 40, GENERATION));
    // biome-ignore format: a line per row
    expect(wordsOf(cache, 128, 144)).toEqual([
      0x4d6d9dd8, 0, 0, 0x7f7f7f00, // tags of three buckets, their ranks
      0x7b8801c7, 0, 0, 0x7f7f7f00,
      ...zeros(8), // up to the next cache line
    ]);
    // biome-ignore format: a line for what belongs together
    expect(wordsOf(cache, 144, 184)).toEqual([
      0x0a000001, 0, 0, 0, 0x0a000002, 0, 0, 0, 0x12340050, // addresses, ports
      0x00030406, // three hops at last, two seen, TCP
      2, 1, // packets, path changes
      0x55667788, 0x11223344, 0x5566778a, 0x11223344, // first, last
      0x02ebfc02, 1, // MurmurHash3 step of 14 from 0x9747b28c; hops beyond
      1200, 2, 1500, 0, // end to end: last, count, sum
      11, 400, 5, 2, 2, 500, 0, 10, 0, // hop 0: id, lasts, counts, sums
      13, 300, NA, 2, 1, 500, 0, 6, 0, // hop 1: what 12 has had is no last value of 13
    ]);
    expect(wordsOf(cache, 184, 264)).toEqual(zeros(80));
    // biome-ignore format: a line for what belongs together
    expect(wordsOf(cache, 264, 304)).toEqual([
      0x20010db8, 0, 0, 1, 0x20010db8, 0, 0, 2, 0x0035abcd,
      0x00010311, // one hop at last, one seen, IPv6, UDP
      1, 0,
      0x55667789, 0x11223344, 0x55667789, 0x11223344,
      0x62322c9d, 0, // of the reporting node 9, which is no hop
      1, 1, 1, 0,
      21, 1, 2, 1, 1, 1, 0, 2, 0,
      NA, NA, NA, 0, 0, 0, 0, 0, 0,
    ]);
    expect(wordsOf(cache, 304, 384)).toEqual(zeros(80));
    // biome-ignore format: a line for what belongs together
    expect(events).toEqual([
      [
        0x06000003, 11, 400, 100, // TCP, hop 0, metric 0, T and C; switch, value, previous
        0x5566778a, 0x11223344, 0x12340050, 350, // time, ports, threshold
        0x0a000001, 0, 0, 0, 0x0a000002, 0, 0, 0,
      ],
      [
        0x06000013, NA, 1200, 300, // end to end, T and C
        0x5566778a, 0x11223344, 0x12340050, 1000,
        0x0a000001, 0, 0, 0, 0x0a000002, 0, 0, 0,
      ],
      [
        0x06000014, NA, 3, 2, // path change: three hops instead of two
        0x5566778a, 0x11223344, 0x12340050, 0,
        0x0a000001, 0, 0, 0, 0x0a000002, 0, 0, 0,
      ],
    ]);
  });

  test('a compact cache', () => {
    const { cache, events } = fill('compact', accelerator, { ...TCP, sourcePort: 2 });
    expect(cache.words.length).toBe(144 + 6 * 22);
    expect(wordsOf(cache, 0, 128)).toEqual(header(1, 22, GENERATION));
    // biome-ignore format: a line per row
    expect(wordsOf(cache, 128, 144)).toEqual([
      0x4d6d9dd8, 0xb1bb46a0, 0, 0x7f7f0100,
      0, 0, 0, 0x7f7f7f7f,
      ...zeros(8),
    ]);
    // biome-ignore format: a line for what belongs together
    expect(wordsOf(cache, 144, 188)).toEqual([
      0x0a000001, 0x0a000002, 0x12340050, 0x00030406, // addresses, ports, META
      2, 1, // packets, path changes
      0x55667788, 0x11223344, 0x5566778a, 0x11223344, // first, last
      11, 2, 400, 5, 0x437a0000, 0x40a00000, // hop 0: id, reports, lasts, means of 250 and 5
      13, 2, 300, NA, 0x437a0000, 0x40c00000, // hop 1: 250 and 6
      0x0a000001, 0x0a000002, 0x00020050, 0x00010206,
      1, 0,
      0x55667789, 0x11223344, 0x55667789, 0x11223344,
      21, 1, 1, 2, 0x3f800000, 0x40000000,
      NA, 0, NA, NA, 0, 0,
    ]);
    expect(wordsOf(cache, 188, 276)).toEqual(zeros(88));
    expect(events.map((words) => words.slice(0, 4))).toEqual([
      [0x06000003, 11, 400, 100],
      // T alone: the sum before is not kept.
      [0x06000011, NA, 1200, NA],
      [0x06000014, NA, 3, 2],
    ]);
  });

  test('words are little-endian bytes', () => {
    const { cache } = fill('exact', accelerator, IPV6);
    const bytes = new Uint8Array(cache.buffer, cache.byteOffset, cache.geometry.byteLength);
    expect([...bytes.subarray(0, 8)]).toEqual([0x49, 0x4e, 0x46, 0x43, 2, 0, 0, 0]);
    // Ports and META of the first bucket; its ranks.
    expect([...bytes.subarray((144 + 8) * 4, (144 + 10) * 4)]).toEqual([
      0x50, 0x00, 0x34, 0x12, 0x06, 0x04, 0x03, 0x00,
    ]);
    expect([...bytes.subarray(131 * 4, 132 * 4)]).toEqual([0x00, 0x7f, 0x7f, 0x7f]);
  });
});
