import { BatchDecoder, encodeReport, type ReportVersion, TelemetryBatch, telemetry } from '@int/codec';
import { ReportLossStage } from '@int/collector';
import { describe, expect, it } from 'vitest';
import { setTimes } from '../fill-batch.js';
import { reporterRows } from '../row-objects.js';

/** A packet of reports: payload of a datagram. */
function packet(version: ReportVersion, nodeId: number, hwId: number, sequence: number, reports = 1): Uint8Array {
  const record = telemetry({
    flow: { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 4000, destinationPort: 80 },
    report:
      version === '2.0'
        ? { version, hwId, sequence, nodeId, metadata: { hopLatency: 5 } }
        : { version, hwId, sequence, nodeId, type: 'ipv4' },
  });
  return encodeReport(Array.from({ length: reports }, (_, index) => ({ ...record, index })));
}

/** Runs packets that arrive at the given time through the stage. */
function run(stage: ReportLossStage, packets: readonly Uint8Array[], timeMs = 0): TelemetryBatch {
  const bytes = new Uint8Array(packets.reduce((sum, each) => sum + each.length, 0));
  const offsets = new Uint32Array(packets.length);
  const lengths = Uint32Array.from(packets, ({ length }) => length);
  let at = 0;
  packets.forEach((each, index) => {
    offsets[index] = at;
    bytes.set(each, at);
    at += each.length;
  });
  const batch = new TelemetryBatch({ frames: Math.max(64, packets.length) });
  new BatchDecoder({ linkType: 'report' }).decode(batch, { bytes, offsets, lengths });
  setTimes(
    batch,
    packets.map(() => timeMs),
  );
  stage.process(batch);
  expect(batch.frames).toBe(packets.length);
  return batch;
}

describe('ReportLossStage', () => {
  it('follows each node and hardware id by itself', () => {
    const stage = new ReportLossStage();
    const numbers = [1, 2, 4];
    const packets = numbers.flatMap((n) => [
      packet('2.0', 5, 0, n),
      packet('2.0', 5, 1, n + 90),
      packet('2.0', 6, 0, 2 * n),
    ]);
    run(stage, packets);
    expect(reporterRows(stage).map(({ nodeId, hwId, inOrder, missing }) => [nodeId, hwId, inOrder, missing])).toEqual([
      [5, 0, 3, 1],
      [5, 1, 3, 1],
      [6, 0, 3, 4],
    ]);
    expect(stage.totals()).toMatchObject({ reporters: 3, untracked: 0, inOrder: 9, missing: 6, lost: 0 });
  });

  it('takes the number of a packet once, however many reports are in it', () => {
    const stage = new ReportLossStage();
    const batch = run(stage, [packet('2.0', 5, 0, 1, 3), packet('2.0', 5, 0, 2, 2)]);
    expect(batch.reports).toBe(5);
    expect(stage.totals()).toMatchObject({ inOrder: 2, duplicates: 0 });
  });

  it('wraps around at 2^22 in reports v2.0 and at 2^32 before', () => {
    const stage = new ReportLossStage();
    run(stage, [packet('2.0', 5, 0, 2 ** 22 - 1), packet('2.0', 5, 0, 0)]);
    run(stage, [packet('1.0', 5, 0, 2 ** 32 - 1), packet('1.0', 5, 0, 0), packet('1.0', 5, 0, 2)]);
    expect(stage.totals()).toMatchObject({ reporters: 2, inOrder: 5, missing: 1, restarts: 0, late: 0 });
  });

  it('takes a damaged packet for a gap', () => {
    const stage = new ReportLossStage();
    const damaged = packet('2.0', 5, 0, 2).subarray(0, 15);
    run(stage, [packet('2.0', 5, 0, 1), damaged, packet('2.0', 5, 0, 3)]);
    expect(stage.totals()).toMatchObject({ inOrder: 2, missing: 1 });
  });

  it('counts the packets of reporters that it has no room for', () => {
    const stage = new ReportLossStage({ reporters: 1 });
    run(stage, [packet('2.0', 5, 0, 1), packet('2.0', 6, 0, 1), packet('2.0', 6, 0, 5)]);
    expect(stage.totals()).toMatchObject({ reporters: 1, untracked: 2, inOrder: 1 });
  });

  it('follows the honest reporters again after 5,000 forged ids took all rows, and its sums do not go back', () => {
    const stage = new ReportLossStage({ reporters: 16 });
    run(
      stage,
      Array.from({ length: 5000 }, (_, index) => packet('2.0', 1_000_000 + index, 0, index)),
    );
    // A forged one has a gap, which is nobody's when its row is given away.
    const [taken] = reporterRows(stage);
    run(stage, [packet('2.0', taken!.nodeId, 0, taken!.nodeId - 1_000_000 + 4)]);
    expect(stage.totals()).toMatchObject({ reporters: 16, untracked: 4984, missing: 3, lost: 0 });
    expect(stage.degraded()).toMatchObject([{ name: 'untracked' }]);
    let number = 0;
    let before = stage.totals();
    for (let second = 0; second <= 60; second++) {
      for (let times = 0; times < 10; times++) {
        number += 2;
        run(
          stage,
          Array.from({ length: 16 }, (_, index) => packet('2.0', index + 1, 0, number)),
          second * 1000,
        );
      }
      const now = stage.totals();
      for (const name of ['inOrder', 'reordered', 'duplicates', 'late', 'restarts', 'lost', 'untracked'] as const) {
        expect(now[name], name).toBeGreaterThanOrEqual(before[name]);
      }
      before = now;
    }
    expect(
      reporterRows(stage)
        .map(({ nodeId }) => nodeId)
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
    const { counts, nodeId } = stage.columns();
    const lost = reporterRows(stage).reduce((sum, each) => sum + each.lost, 0);
    expect([nodeId.length, counts.lost.length]).toEqual([16, 17]);
    expect(stage.totals().lost).toBe(lost + counts.lost[16]!);
    expect(counts.lost[16]).toBe(3);
    expect(stage.totals()).toMatchObject({ replaced: 16 });
  });
});
