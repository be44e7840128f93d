import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BatchDecoder, encodeFrame, type Hop, TelemetryBatch, type TelemetryRecord, telemetry } from '@int/codec';
import { afterAll, describe, expect, it } from 'vitest';
import { requires } from '../../../../.ci/test/requires.js';
import { messagesHere, messagesInC, mixedReports } from '../../../src/afxdp/agreement.js';
import { KEY_BYTES, MessageBuilder } from '../../../src/afxdp/message.js';
import { COMMON, LATENCY, shapeOf, templateOf } from '../../../src/afxdp/template.js';

const NATIVE = fileURLToPath(new URL('../../../native/', import.meta.url));
const DESTINATION = { mac: '02:00:00:00:02:02', address: '10.9.0.2', sender: '10.9.0.1' };
/** Bytes in front of a report in its frame. */
const REPORT = 42;

let folder = '';
function messageDump(): string {
  requires(process.env.CC ?? 'cc', 'npm run setup:system');
  requires('make', 'npm run setup:system');
  if (folder === '') folder = mkdtempSync(join(tmpdir(), 'int-message-'));
  execFileSync('make', ['-s', '-C', NATIVE, `BUILD=${folder}`, `${folder}/message_dump`], { timeout: 300_000 });
  return `${folder}/message_dump`;
}
afterAll(() => {
  if (folder !== '') rmSync(folder, { recursive: true, force: true });
});

function record(hops: Hop[], metadata: Hop): TelemetryRecord {
  return telemetry({
    flow: { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 4000, destinationPort: 80 },
    hops,
    report: { hwId: 3, sequence: 0x2a_bcde, nodeId: 99, metadata },
  });
}

/** The reports of frames, as the twin reads them from its file. */
function reportsOf(frames: readonly Uint8Array[]): ReturnType<typeof mixedReports> {
  const parts = frames.map((frame) => frame.subarray(REPORT));
  const offsets = Uint32Array.from(parts, (_, k) => parts.slice(0, k).reduce((sum, part) => sum + part.length, 0));
  const bytes = Buffer.concat(parts);
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return { shapes: [], count: parts.length, bytes: padded, offsets, lengths: Uint32Array.from(parts, (p) => p.length) };
}

function messageOf(frame: Uint8Array): Uint8Array {
  const batch = new TelemetryBatch({ frames: 1 });
  const decoder = new BatchDecoder({ linkType: 'ethernet', reportPorts: [32_766], intPorts: [5000], intDscp: null });
  decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) });
  const builder = new MessageBuilder(batch);
  return builder.bytes.slice(0, builder.build(0));
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the message of a report', () => {
  it('has the flow as its key and hops in path order with the items that were asked for', () => {
    const hops = [
      { nodeId: 1, hopLatency: 0x1234 },
      { nodeId: 2, hopLatency: null },
    ];
    const message = messageOf(encodeFrame(record(hops, {})));
    expect(hex(message.subarray(0, KEY_BYTES))).toBe('0a000101' + '0a000202' + '11' + '0fa0' + '0050');
    expect(hex(message.subarray(KEY_BYTES))).toBe(
      ['01', '02', 'a000', '00000063', '002abcde', '00000001', '00001234', '00000002', 'ffffffff'].join(''),
    );
  });

  it('has a row of the reporting node where the report carries its own values', () => {
    const message = messageOf(encodeFrame(record([{ nodeId: 1 }], { queueId: 5, queueOccupancy: 6 })));
    expect(hex(message.subarray(KEY_BYTES))).toBe(
      [
        '01',
        '02',
        '9000',
        '00000063',
        '002abcde',
        '00000001',
        'ffffffff',
        'ffffffff',
        '00000063',
        '00000005',
        '00000006',
      ].join(''),
    );
  });

  it('has two words for a timestamp', () => {
    const message = messageOf(encodeFrame(record([{ ingressTimestamp: 0x1_0000_0002n }], {})));
    expect(hex(message.subarray(KEY_BYTES + 12))).toBe('00000001' + '00000002');
  });

  it('is the same in C, for random reports of all shapes', () => {
    const program = messageDump();
    const reports = mixedReports();
    const here = messagesHere(reports);
    expect(here.length).toBeGreaterThan(reports.count * (KEY_BYTES + 12));
    expect(Buffer.compare(here, messagesInC(program, reports, folder))).toBe(0);
  });

  it('is the same in C, for reports with values of their own and for all frames of the monitor', () => {
    const program = messageDump();
    const own = [{}, { queueId: 5, queueOccupancy: 6 }, { hopLatency: 7, egressUtilization: 8 }].map((metadata) =>
      encodeFrame(record([{ nodeId: 1 }, { nodeId: 2 }], metadata)),
    );
    const shapes = [1, 2, 3, 4].flatMap((hops) => [1, 2, 3, 4, 5, 6, 7, 8].map((items) => shapeOf(hops, items)));
    const frames = [...own, ...shapes.map((shape) => templateOf(shape, DESTINATION).frame)];
    const reports = reportsOf(frames);
    expect(Buffer.compare(messagesHere(reports), messagesInC(program, reports, folder))).toBe(0);
  });
});

describe('the frame that is sent', () => {
  it('has switch ids, the first hop latency, sequence number and source port where the sender writes them', () => {
    const { frame, sequence, port, stack, hops, words, node, value } = templateOf(COMMON, DESTINATION);
    const view = new DataView(frame.buffer, frame.byteOffset);
    view.setUint32(sequence, 0x2000_0000 | 77);
    view.setUint16(port, 1234);
    // The last block on the stack is the first hop's.
    const first = stack + 4 * words * (hops - 1);
    view.setUint32(first + 4 * node, 500);
    view.setUint32(first + 4 * value, LATENCY.high);
    const batch = new TelemetryBatch({ frames: 1 });
    const decoder = new BatchDecoder({ linkType: 'ethernet', reportPorts: [32_766], intPorts: [5000], intDscp: null });
    decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) });
    expect([batch.reports, batch.hops, batch.code[0]]).toEqual([1, 5, 0]);
    expect([batch.sequence[0], batch.ports[0]! >>> 16]).toEqual([77, 1234]);
    expect([batch.hop.nodeId[0], batch.hop.nodeId[1], batch.hop.hopLatency[0]]).toEqual([500, 2, LATENCY.high]);
  });
});
