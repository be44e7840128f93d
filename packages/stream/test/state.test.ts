import { FlowSide, type FlowSideOptions, NetworkSide, type StateChange, StreamError } from '@int/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { batchOf, pathReport, START_US, type TestReport } from './reports.js';
import { Findings, SMALL } from './run.js';
import { SEED } from './seed.js';
import { unorderedTraffic } from './traffic.js';

const RUNS = { seed: SEED, numRuns: runs(40) };

/** What a compacted log keeps: the latest value of each key. */
class Log {
  readonly latest = new Map<string, StateChange>();

  append(changes: readonly StateChange[]): void {
    for (const change of changes) {
      if (change.value === null) this.latest.delete(change.key.join());
      else this.latest.set(change.key.join(), change);
    }
  }

  /** In an order of its own. */
  restore(side: { restore(key: Uint8Array, value: Uint8Array): void }): void {
    const pieces = [...this.latest.values()].sort((a, b) => (a.key.join() < b.key.join() ? 1 : -1));
    for (const { key, value } of pieces) side.restore(key, value!);
  }

  /** All of it, to be compared. */
  get contents(): [string, string][] {
    return [...this.latest].map(([key, { value }]): [string, string] => [key, value!.join()]).sort();
  }
}

interface Pair {
  readonly flow: FlowSide;
  readonly network: NetworkSide;
}

function pairOf(findings: Findings, options: FlowSideOptions): Pair {
  const network = new NetworkSide({}, findings);
  const flow = new FlowSide(options, {
    event: findings.event,
    flowWindow: findings.flowWindow,
    partial: (partial) => network.merge(partial),
  });
  return { flow, network };
}

/** What it finds in reports that come in pieces; before some, it is thrown away and made anew from what it had logged. */
function inPieces(
  pieces: readonly (readonly TestReport[])[],
  isRestarted: (piece: number) => boolean,
): [Findings, Log, Log] {
  const findings = new Findings();
  // A short memory, so that flows are forgotten.
  const options: FlowSideOptions = { ...SMALL, idleMs: 2500 };
  const logs = [new Log(), new Log()] as const;
  let pair = pairOf(findings, options);
  pieces.forEach((piece, index) => {
    if (isRestarted(index)) {
      pair = pairOf(findings, options);
      logs[0].restore(pair.flow);
      logs[1].restore(pair.network);
    }
    const batch = batchOf(piece);
    pair.flow.observe(batch);
    logs[0].append(pair.flow.changes());
    logs[1].append(pair.network.changes());
  });
  pair.flow.flush();
  pair.network.flush();
  logs[0].append(pair.flow.changes());
  logs[1].append(pair.network.changes());
  return [findings, ...logs];
}

const byId = <T extends { readonly id: string }>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (a.id < b.id ? -1 : 1));

describe('state', () => {
  it('put back at any point, in any order, changes nothing of what is found, nor of the state itself', () => {
    fc.assert(
      fc.property(
        unorderedTraffic,
        fc.array(fc.boolean(), { minLength: 1 }),
        fc.integer({ min: 20, max: 120 }),
        (reports, restarts, size) => {
          const pieces: TestReport[][] = [];
          for (let at = 0; at < reports.length; at += size) pieces.push(reports.slice(at, at + size));
          const [whole, ...wholeLogs] = inPieces(pieces, () => false);
          const [parts, ...partLogs] = inPieces(pieces, (piece) => restarts[piece % restarts.length]!);
          expect(parts.events).toEqual(whole.events);
          expect(byId(parts.flowWindows)).toEqual(byId(whole.flowWindows));
          expect(parts.networkWindows).toEqual(whole.networkWindows);
          expect(partLogs.map(({ contents }) => contents)).toEqual(wholeLogs.map(({ contents }) => contents));
        },
      ),
      RUNS,
    );
  });

  it('names only what has changed, and what is gone', () => {
    const side = new FlowSide({ ...SMALL, idleMs: 2500 });
    const observe = (...reports: TestReport[]): void => {
      const batch = batchOf(reports);
      side.observe(batch);
    };
    const flowKeys = (): [number | undefined, boolean][] =>
      side
        .changes()
        .filter(({ key }) => key[0] === 0x66)
        .map(({ key, value }) => [key[11], value === null]);
    observe(pathReport(START_US, 1, [1, 2]), pathReport(START_US, 2, [1, 2]));
    expect(flowKeys()).toHaveLength(2);
    expect(side.changes()).toEqual([]);
    observe(pathReport(START_US + 10, 2, [1, 2]));
    expect(flowKeys()).toEqual([[5002 & 0xff, false]]);
    side.advance(START_US / 1000 + 10_000);
    expect(flowKeys().map(([, isGone]) => isGone)).toEqual([true, true]);
    expect(side.totals().flows).toBe(0);
  });

  it('is refused by a side with other options, that is too small, or that has seen something', () => {
    const log = new Log();
    const side = new FlowSide(SMALL);
    const batch = batchOf([pathReport(START_US, 1, [1, 2]), pathReport(START_US, 2, [1, 2])]);
    side.observe(batch);
    log.append(side.changes());
    const code = (work: () => void): string => {
      try {
        work();
      } catch (error) {
        if (StreamError.is(error)) return error.code;
        throw error;
      }
      return 'none';
    };
    expect(code(() => log.restore(new FlowSide({ ...SMALL, windowMs: 500 })))).toBe('ERR_STREAM_MISMATCH');
    expect(code(() => log.restore(new FlowSide({ ...SMALL, flows: 1 })))).toBe('ERR_STREAM_CAPACITY');
    expect(code(() => new FlowSide().restore(Uint8Array.of(1, 2), Uint8Array.of(1)))).toBe('ERR_STREAM_MALFORMED');
    expect(code(() => new NetworkSide().restore(Uint8Array.of(0x66), Uint8Array.of(1)))).toBe('ERR_STREAM_MALFORMED');
    expect(() => log.restore(side)).toThrow(TypeError);
  });

  it('that is damaged gives a typed error, or another state, and nothing else', () => {
    const [, flows, network] = inPieces(
      [[pathReport(START_US, 1, [1, 2, 1]), pathReport(START_US + 300_000, 1, [1, 2, 3], { sequence: 9 })]],
      () => false,
    );
    const pieces = [flows, network].flatMap((log, side) =>
      [...log.latest.values()].map(({ key, value }) => ({ side, key, value: value! })),
    );
    fc.assert(
      fc.property(
        fc.nat(pieces.length - 1),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
        fc.option(fc.nat()),
        (which, edits, cut) => {
          const { side, key, value } = pieces[which]!;
          // At an offset inside a larger buffer.
          const bytes = new Uint8Array(value.length + 7).subarray(5, 5 + value.length);
          bytes.set(value);
          for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
          const input = cut === null ? bytes : bytes.subarray(0, cut % (bytes.length + 1));
          const target = side === 0 ? new FlowSide(SMALL) : new NetworkSide({});
          try {
            target.restore(key, input);
          } catch (error) {
            if (!StreamError.is(error)) throw error;
          }
        },
      ),
      { seed: SEED, numRuns: runs(1200) },
    );
  });
});
