import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Flow, Hop, TelemetryRecord } from '@int/codec';
import { describe, expect, it } from 'vitest';
import { Detector } from '../../../src/engine/detector.js';
import { AGGREGATES, OPERATORS } from '../../../src/expression/model.js';
import { REGISTERS } from '../tables/data-plane.js';
import { vectorCases } from './vector-cases.js';
import { type Vector, vectorFiles } from './vectors.js';

const FOLDER = fileURLToPath(new URL('../../../../../p4/vectors/', import.meta.url));
const MAX_BYTES = 60_000;

/** The detectors' vectors; a folder beside them has those of another package. */
function filesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.json'));
}

/** A report of a file as a decoded record. */
function recordOf(vector: Vector, index: number): { record: TelemetryRecord; timeNs: bigint } {
  const report = vector.reports[index] as {
    timeUs: number;
    flow: number;
    hops: Hop[];
    ethernet?: { source: string; destination: string };
  };
  const record: TelemetryRecord = {
    index: 0,
    status: 'ok',
    error: null,
    report: null,
    int: null,
    flow: vector.flows[report.flow] as unknown as Flow,
    path: [],
    hops: report.hops,
    ...(report.ethernet === undefined ? {} : { ethernet: report.ethernet }),
  };
  return { record, timeNs: BigInt(report.timeUs) * 1000n };
}

describe('golden vectors', () => {
  const files = vectorFiles();
  const cases = vectorCases();
  const all = files.flatMap(({ vectors }) => vectors);
  if (process.env.INT_WRITE_VECTORS === '1') {
    for (const { file, text } of files) writeFileSync(join(FOLDER, file), text);
  }

  it('are what the plain implementation gives; INT_WRITE_VECTORS=1 writes them', () => {
    const committed = new Map(filesIn(FOLDER).map((file) => [file, readFileSync(join(FOLDER, file), 'utf8')]));
    expect([...committed.keys()].sort()).toEqual(files.map(({ file }) => file).sort());
    for (const { file, text } of files) expect(committed.get(file), file).toBe(text);
  });

  it('are small, and every case has a name of its own', () => {
    for (const { file, vectors, text } of files) {
      expect(text.length, file).toBeLessThan(MAX_BYTES);
      expect(new Set(vectors.map(({ name }) => name)).size, file).toBe(vectors.length);
      expect(JSON.parse(text), file).toEqual({ detector: file.replace('.json', ''), cases: vectors });
    }
  });

  it('are what the detectors of the package give', () => {
    for (const { file, vectors } of files) {
      vectors.forEach((vector, at) => {
        // State cannot be put into a detector.
        if (vector.before !== undefined) return;
        const detector = new Detector(cases.get(file.replace('.json', ''))![at]!.rules);
        const events = vector.reports.flatMap((_, index) => {
          const { record, timeNs } = recordOf(vector, index);
          return detector
            .observe(record, timeNs)
            .map(({ flow, state, firstSight, ...event }) => ({ report: index, ...event }));
        });
        const found = events.map((event) =>
          Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null)),
        );
        expect(found, `${file}: ${vector.name}`).toEqual(vector.events);
      });
    }
  });

  it('bring the average of a steady metric to within 1 of it, for every weight', () => {
    const steady = files.find(({ file }) => file === 'movingAverage-steady.json')!.vectors;
    expect(steady).toHaveLength(32);
    steady.forEach(({ after }, at) => {
      const [accumulator] = Object.values(after[REGISTERS.averageAccumulator.name]!);
      const average = Math.floor(accumulator! / 2 ** Math.floor(at / 2));
      expect(Math.abs(average - 1000)).toBeLessThanOrEqual(1);
    });
  });

  it('hold every detector of the switch, every aggregate with every operator, and cells of every register', () => {
    const detectors = new Set(all.flatMap(({ events }) => events.map(({ detector }) => detector)));
    expect([...detectors].sort()).toEqual(['complex', 'movingAverage', 'noop', 'perFlow', 'perHop', 'threshold']);
    for (const aggregate of AGGREGATES) {
      const { vectors } = files.find(({ file }) => file === `complex-${aggregate}.json`)!;
      expect(vectors.map(({ name }) => name.split(' ')[1])).toEqual(OPERATORS);
      // Both outcomes of every operator.
      for (const { name, events, reports } of vectors) {
        expect(events.length, name).toBeGreaterThan(0);
        expect(events.length, name).toBeLessThan(reports.length);
      }
    }
    const kept = new Set(all.flatMap(({ after }) => Object.keys(after)));
    const state = Object.values(REGISTERS).map(({ name }) => name);
    expect([...kept].sort()).toEqual(state.filter((name) => !/\.(bank|logic_.*)$/.test(name)).sort());
  });
});
