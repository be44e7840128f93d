import { BatchDecoder, type DecodeOptions, encodeReport, TelemetryBatch } from '@int/codec';
import { TrafficGenerator } from '@int/traffic';
import { describe, expect, test } from 'vitest';
import { DialectHint } from '../../src/output/dialect-hint.js';

/** A batch of reports of the generator, as the collector has it. */
function batchOf(count: number, options: DecodeOptions, intPort = 5000): TelemetryBatch {
  const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', seed: 3 });
  const payloads = [...generator.take(count)].map(({ records }) =>
    encodeReport({ ...records[0]!.report!, records }, { intPorts: [intPort] }),
  );
  const bytes = Buffer.concat(payloads);
  const lengths = Uint32Array.from(payloads, ({ length }) => length);
  let at = 0;
  const offsets = lengths.map((length) => {
    at += length;
    return at - length;
  });
  const batch = new TelemetryBatch({ frames: count });
  new BatchDecoder({ ...options, linkType: 'report' }).decode(batch, { bytes, offsets, lengths });
  return batch;
}

describe('DialectHint', () => {
  test('waits for more frames, then tries at growing intervals, and says it once', () => {
    const hint = new DialectHint({});
    hint.offer(new Uint8Array(60), 'ethernet');
    expect([hint.look(1000), hint.look(5999), hint.look(6001)]).toEqual([null, null, null]);
    const batch = batchOf(40, {}, 6000);
    hint.process(batch);
    // The trial at 6001 has found nothing; the next one is 5 seconds later.
    expect([hint.look(7000), hint.look(11_000)]).toEqual([null, null]);
    expect(hint.look(11_002)).toBe('40 reports look like --int-port 6000');
    hint.process(batch);
    expect([hint.look(100_000), hint.conclude()]).toEqual([null, null]);
  });

  test('keeps nothing of batches in which all is well', () => {
    const hint = new DialectHint({});
    hint.process(batchOf(40, {}));
    hint.process(new TelemetryBatch({ frames: 4 }));
    expect([hint.look(0), hint.look(1e6), hint.conclude()]).toEqual([null, null, null]);
  });

  test('compares with the settings in force', () => {
    const decode = { intPorts: [6000] };
    const right = new DialectHint(decode);
    right.process(batchOf(40, decode, 6000));
    expect(right.conclude()).toBeNull();
    const wrong = new DialectHint(decode);
    wrong.process(batchOf(40, decode, 5000));
    expect(wrong.conclude()).toBe('40 reports look like --int-port 5000');
  });
});
