import { readFileSync } from 'node:fs';
import { AcceleratorMemory } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../../.ci/test/length.js';
import { Detector } from '../../../src/engine/detector.js';
import { EventBatch } from '../../../src/engine/event-batch.js';
import { single } from '../../engine/reports.js';
import { fillBatch } from '../../reference/fill-batch.js';
import { SEED } from '../../seed.js';
import { ReportSource } from '../reference/reports.js';

const BUILD = '../../../assembly/build.mjs';

interface Build {
  compile(): Promise<Uint8Array>;
  render(binary: Uint8Array): string;
  committed(): { readonly isCurrent: boolean };
}

describe('the accelerator', () => {
  it('is built from the source beside it', async () => {
    const { committed } = (await import(BUILD)) as Build;
    expect(committed().isCurrent, 'run npm run build:accelerator -w @int/detect').toBe(true);
  });

  // Compiling takes seconds.
  it.runIf(LENGTH > 1)('is what its source compiles to', async () => {
    const { compile, render } = (await import(BUILD)) as Build;
    const source = readFileSync(new URL('../../../src/engine/accelerator/detect.wasm.ts', import.meta.url), 'utf8');
    expect(source === render(await compile()), 'run npm run build:accelerator -w @int/detect').toBe(true);
  });

  it.runIf(acceleratorAvailable())('reads hop rows wherever they lie', () => {
    const memory = new AcceleratorMemory(64 << 20);
    const batch = memory.batch({ frames: 64, hops: 1000 });
    const events = new EventBatch(2048, memory.arena);
    const reports = new ReportSource(SEED, { hops: 3 }).take(64);
    for (const scope of ['hop', 'endToEnd'] as const) {
      const config = { kind: 'threshold', metric: 'hopLatency', threshold: 30, scope } as const;
      // In order, then with the reports' rows in reverse, as no decoder leaves them.
      const found = [false, true].map((isReversed) => {
        fillBatch(batch, reports);
        const rows = Array.from({ length: 64 }, (_, row) => (isReversed ? 63 - row : row));
        const starts = rows.map((row) => batch.hopStart[row]!);
        const counts = rows.map((row) => batch.hopCount[row]!);
        rows.forEach((_, row) => {
          batch.hopStart[row] = starts[row]!;
          batch.hopCount[row] = counts[row]!;
        });
        events.clear();
        Detector.of(config, { memory }).detect(batch, events);
        return Array.from({ length: events.count }, (_, k) => {
          const report = isReversed ? 63 - events.report[k]! : events.report[k]!;
          return `${report} ${events.value[k]}`;
        }).sort();
      });
      expect(found[0]!.length).toBeGreaterThan(20);
      expect(found[1]).toEqual(found[0]);
    }
  });

  it.runIf(acceleratorAvailable())('leaves batches and events outside its memory to TypeScript, in one state', () => {
    const memory = new AcceleratorMemory(64 << 20);
    const rules = single({ kind: 'movingAverage', metric: 'hopLatency', threshold: 3, weight: 4 });
    const mixed = new Detector(rules, { memory });
    const plain = new Detector(rules);
    const inside = memory.batch({ frames: 100, hops: 2000 });
    const events = [new EventBatch(4096, memory.arena), new EventBatch(4096)];
    const source = new ReportSource(SEED);
    for (let turn = 0; turn < 40; turn++) {
      const reports = source.take(100);
      fillBatch(inside, reports);
      const [there, here] = events as [EventBatch, EventBatch];
      const where = turn % 2 === 0 ? there : here;
      where.clear();
      mixed.detect(inside, where);
      const found = Array.from(where.value.subarray(0, where.count));
      here.clear();
      plain.detect(inside, here);
      expect(found).toEqual(Array.from(here.value.subarray(0, here.count)));
    }
    expect(mixed.totals()).toEqual(plain.totals());
  });
});
