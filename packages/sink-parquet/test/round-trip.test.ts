import { frame, malformed } from '@int/arbitraries';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchOf, HOUR_NS, Load } from './batches.js';
import { folder, number, open, rows } from './folder.js';
import { modelOf } from './model.js';
import { SEED } from './seed.js';

const INSTANCE = 'fedcba9876543210';

/** Times around the end of an hour, so that batches span files. */
const times = fc.bigInt({ min: HOUR_NS - 1000n, max: HOUR_NS + 1000n });
const frames = fc.array(
  fc.tuple(frame(), times).map(([{ bytes, options }, timeNs]) => ({ bytes, options, timeNs })),
  { minLength: 1, maxLength: 40 },
);
const broken = fc.tuple(malformed(frame()), times).map(([bytes, timeNs]) => ({ bytes, timeNs }));
/** Rows of the source's tables before the batch's. Not 0: other tests have that. */
const rowsBefore = fc.integer({ min: 1, max: 3 });

describe('reports', () => {
  test('of any kind come back as they were, in any hour, without the broken ones', async () => {
    await fc.assert(
      fc.asyncProperty(frames, fc.array(broken, { maxLength: 10 }), rowsBefore, async (good, bad, first) => {
        const mixed = [...good];
        for (const [k, each] of bad.entries()) {
          mixed.splice((k * 7) % (mixed.length + 1), 0, { ...each, options: {} });
        }
        const source = batchOf(mixed, first);
        // The model takes times from the batch, as the sink does: here they are compared with those of the frames.
        for (let row = 0; row < source.reports; row++) {
          expect(source.timeNs(row)).toBe(mixed[source.frame[row]!]!.timeNs);
        }
        const directory = await folder();
        const sink = await open({ directory, instance: INSTANCE });
        expect(sink.write(source)).toBeUndefined();
        await sink.close();
        const model = modelOf(source, INSTANCE);
        expect(sink.totals().reports).toEqual({
          offered: model.reports.length,
          delivered: model.reports.length,
          pending: 0,
          dropped: { overflow: 0, closed: 0 },
        });
        const order = `ORDER BY split_part(id, '-', 2)::BIGINT`;
        expect(await rows(directory, `FROM reports ${order}`)).toEqual(model.reports);
        expect(await rows(directory, `FROM hops ${order}, hop`)).toEqual(model.hops);
      }),
      { seed: SEED, numRuns: Number(process.env.INT_RUNS ?? (process.env.INT_LONG === '1' ? 12 : 6)) },
    );
  });

  test('of several files and slabs add up, and the view paths counts them', async () => {
    const directory = await folder();
    const sink = await open({ directory, instance: INSTANCE, rotate: { rows: 2048 } });
    const load = new Load(300);
    const paths = new Map<string, number>();
    let hops = 0;
    let latency = 0;
    for (let k = 0; k < 8; k++) {
      const source = load.next();
      await sink.write(source);
      const model = modelOf(source, INSTANCE);
      hops += model.hops.length;
      for (const { hopLatency } of model.hops) latency += Number(hopLatency ?? 0);
      for (const { source: from, destination, protocol, sourcePort, destinationPort, path } of model.reports) {
        const key = JSON.stringify([
          from,
          destination,
          protocol,
          sourcePort,
          destinationPort,
          JSON.parse(String(path)),
        ]);
        paths.set(key, (paths.get(key) ?? 0) + 1);
      }
    }
    await sink.flush();
    expect(sink.figures().files).toBeGreaterThan(2);
    expect(sink.figures().rows).toBe(hops);
    expect(await number(directory, 'SELECT count(*) FROM hops')).toBe(hops);
    expect(await number(directory, 'SELECT count(DISTINCT id) FROM reports')).toBe(8 * 300);
    expect(await number(directory, 'SELECT sum(hopLatency) FROM hops')).toBe(latency);
    const found = await rows(directory, 'FROM paths');
    const counts = found.map(({ source, destination, protocol, sourcePort, destinationPort, path, reports }) => [
      JSON.stringify([source, destination, protocol, sourcePort, destinationPort, path]),
      Number(reports),
    ]);
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(paths));
  });

  test('later than a column of times can hold are filed at its end', async () => {
    const directory = await folder();
    const sink = await open({ directory });
    const source = batchOf([{ bytes: sampleFrame(), timeNs: 2n ** 64n - 1n }]);
    sink.write(source);
    await sink.close();
    expect(await rows(directory, 'SELECT time FROM reports')).toEqual([{ time: '2262-04-11 23:47:12.559808511' }]);
  });
});

/** A frame that decodes without options. */
function sampleFrame(): Uint8Array {
  const generated = fc.sample(frame({ options: {} }), { seed: SEED, numRuns: 50 });
  const plain = generated.find(({ bytes }) => batchOf([{ bytes, timeNs: 0n }]).code[0] === 0);
  return plain!.bytes;
}
