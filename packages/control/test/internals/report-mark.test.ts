import { BatchDecoder, TelemetryBatch } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { ReportMark } from '../../src/adaptation/report-mark.js';

const SEED = Number(process.env.INT_SEED ?? 1);
/** A report 2.0 as int.p4's INT sink sends it: group header, individual header, main contents, rule, a bare IPv4 packet. */
function reportOf({ rule = 7, status = 0, domain = 1, bits = 0x8000, items = 0, length = 0 }): Uint8Array {
  const bytes = new Uint8Array(24 + 4 * items + 4 + 28);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x2000_0000);
  view.setUint32(4, 5);
  bytes.set([0x14, length === 0 ? 2 + items + 1 + 7 : length, items + 1, 0x20], 8);
  view.setUint16(12, items === 1 ? 0x2000 : 0);
  view.setUint16(14, domain);
  view.setUint16(16, bits);
  view.setUint16(18, status);
  view.setUint32(20 + 4 * items, rule);
  bytes.set([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2], 24 + 4 * items);
  bytes.set([0, 1, 0, 2, 0, 8], 44 + 4 * items);
  return bytes.subarray(0, 24 + 4 * items + 28);
}

describe('the marks of reports', () => {
  const mark = new ReportMark();
  const batch = new TelemetryBatch({ frames: 1, reports: 8 });
  const decoder = new BatchDecoder({ linkType: 'report' });

  /** Of each report of a datagram: its rule, whether it is an event, and whether it is one of the sample. */
  function marksOf(payload: Uint8Array, before = 3): unknown[] {
    const bytes = new Uint8Array(before + payload.length + 5).fill(0xff);
    bytes.set(payload, before);
    batch.clear();
    decoder.decode(batch, { bytes, offsets: Uint32Array.of(before), lengths: Uint32Array.of(payload.length) });
    mark.begin();
    return Array.from({ length: batch.reports }, (_, row) =>
      mark.read(batch, row) ? [mark.rule, mark.isEvent, mark.isRegular] : null,
    );
  }

  it.each([
    ['an event', { status: 0 }, [7, true, false]],
    ['an event of the sample', { status: 0x8000 }, [7, true, true]],
    ['one of the sample', { status: 0xc000 }, [7, false, true]],
    ['a rule behind another item', { items: 1 }, [7, true, false]],
    ['no rule', { rule: 0xffff_ffff }, null],
    ['another domain', { domain: 2 }, null],
    ['other items of the domain', { bits: 0xc000 }, null],
  ])('%s', (_, given, expected) => {
    expect(marksOf(reportOf(given))).toEqual([expected]);
  });

  it('of a datagram with several reports', () => {
    const [one, two] = [reportOf({ rule: 1 }), reportOf({ rule: 2, items: 1, status: 0xc000 })];
    const both = new Uint8Array(one.length + two.length - 8);
    both.set(one);
    both.set(two.subarray(8), one.length);
    expect(marksOf(both)).toEqual([
      [1, true, false],
      [2, false, true],
    ]);
  });

  it('never read outside a frame, whatever its bytes are', () => {
    const damaged = fc
      .tuple(fc.integer({ min: 0, max: 60 }), fc.array(fc.tuple(fc.nat(63), fc.nat(255)), { maxLength: 4 }))
      .map(([cut, changes]) => {
        const bytes = reportOf({});
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        return bytes.subarray(0, Math.max(0, bytes.length - cut));
      });
    fc.assert(
      fc.property(damaged, (payload) => {
        // What lies around the frame must not matter.
        expect(marksOf(payload, 0)).toEqual(marksOf(payload, 17));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });
});
