/** Both implementations of the message must build the same bytes before anything is timed. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { writeFrames } from '../decode/native.js';
import { fillReports, INT_PORT, MIXED, type Reports, reportBytes, SHAPES } from '../decode/shapes.js';
import { MessageBuilder } from './message.js';

const REPORTS = 2000;
const HEAD_BYTES = 4;

/** Reports of all shapes with random values. */
export function mixedReports(): Reports {
  const shapes = [...SHAPES, ...MIXED];
  const most = Math.max(...shapes.map(reportBytes));
  const bytes = new Uint8Array(Math.ceil((REPORTS * most) / 4) * 4);
  return fillReports(shapes, bytes, new Uint32Array(REPORTS), new Uint32Array(REPORTS));
}

/** The messages of all reports, each behind its length as four bytes. */
export function messagesHere({ bytes, offsets, lengths, count }: Reports): Uint8Array {
  const batch = new TelemetryBatch({ frames: count, hops: count * 8 });
  const decoder = new BatchDecoder({ linkType: 'report', intPorts: [INT_PORT], intDscp: null });
  if (decoder.decode(batch, { bytes, offsets, lengths }) !== count || batch.reports !== count) {
    throw new Error('a report was not decoded');
  }
  const builder = new MessageBuilder(batch);
  const parts: Uint8Array[] = [];
  for (let row = 0; row < count; row++) {
    const length = builder.build(row);
    const head = new Uint8Array(HEAD_BYTES);
    new DataView(head.buffer).setUint32(0, length);
    parts.push(head, builder.bytes.slice(0, length));
  }
  return Buffer.concat(parts);
}

/** The same, as C builds them. */
export function messagesInC(program: string, reports: Reports, folder: string): Uint8Array {
  const path = `${folder}/reports`;
  writeFrames(path, reports, { frames: reports.count, hops: reports.count * 8 });
  return execFileSync(program, [path], { maxBuffer: 1 << 26 });
}

/** @throws Error if they differ */
export function checkMessages(folder: string): void {
  const program = fileURLToPath(new URL('../native/build/message_dump', import.meta.url));
  const reports = mixedReports();
  if (Buffer.compare(messagesHere(reports), messagesInC(program, reports, folder)) !== 0) {
    throw new Error('the messages of C and of TypeScript differ');
  }
}
