import { DartStage } from '@int/collector';
import { DartStore, flowKey, pathOfValue } from '@int/dart';
import { expect, test } from 'vitest';
import { type ReportRow, reportBatch } from './flows/report-rows.js';

const flowOf = (id: number): Parameters<typeof flowKey>[0] => ({
  source: `10.0.0.${id}`,
  destination: `10.1.0.${id}`,
  protocol: id % 2 === 0 ? 6 : 17,
  sourcePort: id,
  destinationPort: 80,
});

const REPORTS: readonly ReportRow[] = Array.from({ length: 90 }, (_, id) => ({
  flow: id % 10 === 9 ? null : id,
  isOk: id % 10 !== 8,
  timeNs: 0n,
  hops: Array.from({ length: id % 10 === 7 ? 7 : 3 }, (__, hop) => ({
    nodeId: 100 + hop + id,
    latency: id * 10 + hop,
  })),
}));

test('a DartStage writes the path of every flow, and accounts for every report', () => {
  const store = new DartStore({ slots: 1 << 16 });
  // Fewer rows at once than reports in a batch.
  const stage = new DartStage({ store, valueBytes: 20, capacity: 7 });
  for (let from = 0; from < REPORTS.length; from += 40) {
    stage.process(reportBatch(REPORTS.slice(from, from + 40)));
  }
  REPORTS.forEach(({ flow, isOk, hops }, id) => {
    const { status, value } = store.query(flowKey(flowOf(id)));
    expect(status).toBe(flow !== null && isOk === true ? 'value' : 'absent');
    if (value !== null) expect(pathOfValue(value)).toEqual(hops.slice(0, 5).map(({ nodeId }) => nodeId));
  });
  expect(stage.totals()).toEqual({ written: 72, notOk: 9, noFlow: 9, noNode: 0, cut: 9, namelessHops: 0 });
  expect(store.keyWrites).toBe(72);
});

test('a DartStage writes the metrics of every hop under flow and switch', () => {
  const store = new DartStore({ slots: 1 << 16, valueBytes: 4 });
  const stage = new DartStage({ store, valueBytes: 4, values: ['hopLatency'], capacity: 256 });
  stage.process(reportBatch(REPORTS));
  const { value } = store.query(flowKey(flowOf(42), 144));
  expect(value).toEqual(Uint8Array.of(0, 0, 422 >> 8, 422 & 0xff));
  expect(stage.totals().written).toBe(store.keyWrites);
});
