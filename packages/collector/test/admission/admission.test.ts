import { BatchDecoder, encodeReport, FLAG, FrameDecoder, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';
import { Collector, type CollectorTotals, type FrameSlab, type Sink, type Stage } from '@int/collector';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { hop, report, telemetry } from '../reports.js';
import { SEED } from '../seed.js';
import { HandSource, slabOf } from './hand-source.js';
import { plainlyAdmits } from './plain-senders.js';

const KNOWN = [1, 2, 3, 70_000] as const;
const isKnown = (id: number | null): boolean => id === null || id === NOT_AVAILABLE || KNOWN.includes(id as 1);

/** What a stage sees of a report: who sent it, about which hops, in which frame. */
interface Row {
  readonly nodeId: number;
  readonly hops: readonly number[];
  readonly frame: string;
  readonly timeNs: bigint;
}

/** Hops without the row of the reporting node itself. */
const stackOf = (batch: TelemetryBatch, row: number): number =>
  batch.hopCount[row]! - ((batch.flags[row]! & FLAG.OWN) === 0 ? 0 : 1);

/** Keeps the rows of all batches. */
class Rows implements Stage {
  readonly name = 'rows';
  readonly rows: Row[] = [];
  batches = 0;

  process(batch: TelemetryBatch): void {
    this.batches++;
    for (let row = 0; row < batch.reports; row++) {
      if (batch.code[row] !== 0) continue;
      const start = batch.frameOffset[batch.frame[row]!]!;
      const end = start + batch.frameLength[batch.frame[row]!]!;
      this.rows.push({
        nodeId: batch.nodeId[row]!,
        hops: Array.from(batch.hop.nodeId.subarray(batch.hopStart[row]!, batch.hopStart[row]! + stackOf(batch, row))),
        frame: Buffer.from(batch.bytes.subarray(start, end)).toString('hex'),
        timeNs: batch.timeNs(row),
      });
    }
  }
}

/** An Ethernet frame around a datagram for the port of reports. */
function framed(source: Uint8Array, payload: Uint8Array, hasTag = false): Uint8Array {
  const isIpv4 = source.length === 4;
  const type = isIpv4 ? [0x08, 0x00] : [0x86, 0xdd];
  const size = (length: number): number[] => [length >>> 8, length & 0xff];
  const udp = [0x30, 0x39, 0x7f, 0xfe, ...size(8 + payload.length), 0, 0, ...payload];
  const ip = isIpv4
    ? [0x45, 0, ...size(20 + udp.length), 0, 0, 0, 0, 64, 17, 0, 0, ...source, 10, 0, 0, 9]
    : [0x60, 0, 0, 0, ...size(udp.length), 17, 64, ...source, ...new Array<number>(15).fill(0), 9];
  const tag = hasTag ? [0x81, 0x00, 0, 5] : [];
  return Uint8Array.from([...new Array<number>(12).fill(2), ...tag, ...type, ...ip, ...udp]);
}

const id = fc.constantFrom(1, 2, 3, 70_000, 4, 65_536, 0xdead_beef);
const good = fc
  .tuple(id, fc.array(fc.array(id, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }))
  .map(([node, stacks]) =>
    encodeReport(
      telemetry(
        node,
        1,
        stacks.map((ids) => ids.map((each) => hop(each, 10, 5))),
      ),
    ),
  );
const datagram = fc.oneof(
  { weight: 4, arbitrary: good },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  {
    weight: 2,
    arbitrary: fc.tuple(good, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([bytes, at, value]) => {
      const mutated = bytes.slice();
      mutated[at % mutated.length] = value;
      return mutated;
    }),
  },
  { weight: 1, arbitrary: fc.tuple(good, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % bytes.length)) },
);

const DECODER = new FrameDecoder({ reportPorts: [32_766] });

type Fate = 'decoded' | 'unknown-source' | 'unknown-switch' | 'truncated' | 'malformed' | 'unsupported' | 'not-int';

/** The fate of a frame, and its rows, by the plain rules: one frame at a time, as objects. */
function plainly(
  frame: Uint8Array,
  link: 'report' | 'ethernet',
  isSenderKnown: boolean,
): { fate: Fate; rows: Omit<Row, 'timeNs'>[] } {
  if (!isSenderKnown) return { fate: 'unknown-source', rows: [] };
  const records = DECODER.decode(frame, link);
  const sound = records.filter(({ status }) => status === 'ok');
  const isForged = sound.some(
    (record) => !isKnown(record.report?.nodeId ?? null) || record.hops.some(({ nodeId }) => !isKnown(nodeId ?? null)),
  );
  if (isForged) return { fate: 'unknown-switch', rows: [] };
  const bad = records.find(({ status }) => status !== 'ok');
  const rows = sound.map((record) => ({
    nodeId: record.report?.nodeId ?? NOT_AVAILABLE,
    hops: record.hops.map(({ nodeId }) => nodeId ?? NOT_AVAILABLE),
    frame: Buffer.from(frame).toString('hex'),
  }));
  return { fate: bad === undefined ? 'decoded' : (bad.status as Fate), rows };
}

function closes({ received, decoded, dropped }: CollectorTotals): void {
  expect(received).toBe(decoded + Object.values(dropped).reduce((sum, count) => sum + count, 0));
}

/** The frames as a source pushes them that decodes by itself. */
function decodedOf(slab: FrameSlab, linkType: 'report' | 'ethernet'): TelemetryBatch {
  const batch = new TelemetryBatch({ frames: slab.count + 1, reports: 256, hops: 2048 });
  new BatchDecoder({ linkType, reportPorts: [32_766] }).decode(batch, slab);
  return batch;
}

async function collected(
  source: HandSource,
  slabs: readonly (readonly Uint8Array[])[],
  link: 'report' | 'ethernet' | null,
  known: readonly number[] | null,
  isDecoded = false,
): Promise<{ rows: readonly Row[]; totals: CollectorTotals }> {
  const stage = new Rows();
  const collector = new Collector({
    sources: [source],
    stages: [stage],
    decode: { reportPorts: [32_766] },
    ...(known !== null && { knownSwitches: known }),
  });
  await collector.start();
  for (const frames of slabs) {
    const slab = slabOf(frames, link);
    await source.push(isDecoded && link !== null ? decodedOf(slab, link) : slab);
  }
  const totals = await collector.stop();
  closes(totals);
  return { rows: stage.rows, totals };
}

describe('who may send', () => {
  test('frames become rows, or are counted by reason, as the plain rules say', async () => {
    const address = fc
      .constantFrom([10, 9, 0, 1], [10, 9, 255, 2], [10, 10, 0, 1])
      .map((bytes) => Uint8Array.from(bytes));
    const from = [{ address: Uint8Array.of(10, 9, 0, 0), length: 16 }];
    const seen: Partial<Record<Fate, number>> = {};
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.tuple(datagram, address, fc.boolean()), { maxLength: 12 }), { maxLength: 4 }),
        fc.constantFrom('report' as const, 'ethernet' as const),
        fc.boolean(),
        async (batches, link, isDecoded) => {
          const slabs = batches.map((batch) =>
            batch.map(([payload, source, hasTag]) => (link === 'report' ? payload : framed(source, payload, hasTag))),
          );
          const wanted = slabs.flatMap((frames, slab) =>
            frames.map((frame, at) =>
              plainly(frame, link, link === 'report' || plainlyAdmits(from, batches[slab]![at]![1])),
            ),
          );
          const source = new HandSource(link === 'report' ? null : ['10.9.0.0/16']);
          const { rows, totals } = await collected(source, slabs, link, KNOWN, isDecoded);
          expect(rows.map(({ timeNs: _, ...row }) => row)).toEqual(wanted.flatMap((each) => each.rows));
          expect('unknown-source' in totals.dropped).toBe(link === 'ethernet');
          const counts: Record<string, number> = { 'unknown-source': 0, decoded: totals.decoded, ...totals.dropped };
          const sums: Record<string, number> = Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));
          for (const { fate } of wanted) {
            sums[fate]!++;
            seen[fate] = (seen[fate] ?? 0) + 1;
          }
          expect(counts).toEqual(sums);
          expect(totals.reports).toBe(rows.length);
        },
      ),
      { numRuns: runs(1600), seed: SEED },
    );
    for (const fate of ['decoded', 'unknown-source', 'unknown-switch', 'malformed'] as const) {
      expect([fate, seen[fate] ?? 0]).toEqual([fate, expect.toSatisfy((count: number) => count > 3)]);
    }
  });

  test('times of what stays are those of its own frames', async () => {
    const frames = [4, 1, 5, 2].map((node) => report(node, 1, [hop(1, 10, 0)]));
    const { rows } = await collected(new HandSource(), [frames], 'report', KNOWN);
    const ms = rows.map(({ nodeId, timeNs }) => [nodeId, Number(timeNs / 1000n) / 1000 - 1_700_000_000_000]);
    expect(ms.map(([node, time]) => [node, Math.round(time!)])).toEqual([
      [1, 1],
      [2, 3],
    ]);
  });

  test('a frame whose sender cannot be read is of an unknown one', async () => {
    const arp = new Uint8Array(42);
    arp.set([0x08, 0x06], 12);
    const frame = framed(Uint8Array.of(10, 9, 0, 1), report(1, 1, [hop(1, 1, 1)]));
    const { rows, totals } = await collected(
      new HandSource(['10.9.0.0/16']),
      [[arp, frame.subarray(0, 30), frame]],
      'ethernet',
      null,
    );
    expect(rows.length).toBe(1);
    expect(totals.dropped).toMatchObject({ 'unknown-source': 2, 'not-int': 0, truncated: 0 });
    expect(totals.errors).toEqual({});
    const unknownLink = await collected(new HandSource(['10.9.0.0/16']), [[frame, frame]], null, null);
    expect(unknownLink.totals.dropped).toMatchObject({ 'unknown-source': 2, unsupported: 0 });
  });

  test('IPv6 senders, behind a tag or not', async () => {
    const of = (last: number) => Uint8Array.of(0x20, 1, 0xd, 0xb8, ...new Array<number>(11).fill(0), last);
    const payload = report(1, 1, [hop(1, 1, 1)]);
    const frames = [framed(of(1), payload), framed(of(2), payload, true), framed(of(1), payload, true)];
    const { rows, totals } = await collected(new HandSource(['2001:db8::1']), [frames], 'ethernet', null);
    expect([rows.length, totals.dropped['unknown-source']]).toEqual([2, 1]);
  });

  test('a report that names no switch stays; one that names an unknown one as a hop goes, with its whole frame', async () => {
    const forged = encodeReport(telemetry(1, 1, [[hop(2, 1, 1)], [hop(9, 1, 1)]]));
    const { rows, totals } = await collected(
      new HandSource(),
      [[forged, report(1, 2, [hop(2, 1, 1)])]],
      'report',
      KNOWN,
    );
    expect(rows.length).toBe(1);
    expect(totals).toMatchObject({ received: 2, decoded: 1, reports: 1, dropped: { 'unknown-switch': 1 } });
  });

  test('the ids of switches can change while it runs', async () => {
    const source = new HandSource();
    const stage = new Rows();
    const collector = new Collector({ sources: [source], stages: [stage], knownSwitches: [1] });
    await collector.start();
    const push = (): unknown => source.push(slabOf([report(7, 1, [hop(1, 1, 1)])], 'report'));
    push();
    expect(() => collector.setKnownSwitches([1, -1])).toThrow(/-1 is no switch id/);
    push();
    expect(stage.batches).toBe(0);
    collector.setKnownSwitches([1, 7]);
    push();
    expect(stage.rows.length).toBe(1);
    collector.setKnownSwitches(null);
    push();
    expect((await collector.stop()).dropped['unknown-switch']).toBe(2);
    expect(stage.rows.length).toBe(2);
  });

  test('a sink that keeps what is left of a batch makes later input wait', async () => {
    const source = new HandSource();
    const written: number[][] = [];
    let release: () => void = () => {};
    const slow: Sink = {
      name: 'slow',
      async write(batch) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        written.push(Array.from(batch.nodeId.subarray(0, batch.reports)));
      },
    };
    const collector = new Collector({ sources: [source], sinks: [slow], knownSwitches: KNOWN });
    await collector.start();
    const nodes = (...ids: readonly number[]) =>
      slabOf(
        ids.map((node) => report(node, 1, [hop(1, 1, 1)])),
        'report',
      );
    const first = source.push(nodes(1, 9, 2));
    const second = source.push(nodes(9, 3));
    release();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    release();
    await second;
    const totals = await collector.stop();
    expect(written).toEqual([[1, 2], [3]]);
    expect(totals.sinks.slow?.reports).toMatchObject({ offered: 3, delivered: 3 });
  });

  test('what is refused shows as a state that is no reason to restart', async () => {
    const source = new HandSource(['10.9.0.0/16']);
    const collector = new Collector({ sources: [source], knownSwitches: KNOWN });
    await collector.start();
    const names = () => collector.degraded().map(({ name }) => name);
    expect(names()).toEqual([]);
    const stranger = framed(Uint8Array.of(10, 10, 0, 1), report(1, 1, [hop(1, 1, 1)]));
    source.push(slabOf([stranger], 'ethernet'));
    expect(names()).toEqual([]);
    source.push(slabOf(new Array<Uint8Array>(150).fill(stranger), 'ethernet'));
    expect(names()).toEqual(['unknown-source']);
    source.push(slabOf([framed(Uint8Array.of(10, 9, 0, 1), report(99, 1, [hop(1, 1, 1)]))], 'ethernet'));
    expect(names()).toEqual(['unknown-source', 'unknown-switch']);
    expect(collector.degraded()[1]!.text).toContain('the last one 99');
    await collector.stop();
  });
});
