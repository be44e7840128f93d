import { StreamError } from '../errors.js';
import type {
  NetworkPartial,
  PartialLink,
  PartialQueue,
  PartialRefusals,
  PartialReporter,
  PartialSwitch,
  SliceContents,
} from '../model/partial.js';
import { BUCKETS } from '../slice/buckets.js';
import { RECENT_FLOWS } from '../slice/recent-flows.js';
import { ByteReader } from './reader.js';
import { ByteWriter } from './writer.js';

/*
 * Layout, version 2. A number has seven bits a byte, the lowest first. The top bit of a byte says that more bytes
 * follow. A word is four bytes, big-endian. Times are the signed difference from the start of the slice, in
 * microseconds, with 0, -1, 1, -2, ... written as 0, 1, 2, 3, ...
 *
 *   2 | side | number | closed | flags (1 whole, 2 ended) | broken: count of slices, then the first unless 0 | a slice, which is
 *
 *   sliceUs | slice
 *   count, then per switch   word nodeId | reports | time | count | sum | min | max | buckets: count, then (bucket, count)
 *   count, then per link     word from | word to | packets | time | flows: count, then (word hash, time)
 *   count, then per queue    word nodeId | word queueId | count | sum | min | max | congested
 *   count, then per reporter word nodeId | hwId | bits | blocks: count, then (distance from the block before, word)
 *   refused switches | links | queues | sequences | late
 *
 * Entries ascend, so equal partials give equal bytes.
 */
const VERSION = 2;
const FLAGS = { WHOLE: 1, ENDED: 2 } as const;
const WORD = 0xffffffff;

/** Encodes a partial: a few bytes for each switch, link, queue and block of sequence numbers. */
export function encodePartial(partial: NetworkPartial): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(VERSION);
  writer.number(partial.side);
  writer.number(partial.number);
  writer.number(partial.closed);
  writer.byte((partial.whole ? FLAGS.WHOLE : 0) | (partial.ended ? FLAGS.ENDED : 0));
  const [from, to] = partial.broken ?? [0, 0];
  writer.number(to - from);
  if (to > from) writer.number(from);
  writeSlice(writer, partial, partial.sliceUs);
  return writer.take();
}

/** Encodes the contents of a slice, without the side. */
export function encodeSlice(contents: SliceContents, sliceUs: number): Uint8Array {
  const writer = new ByteWriter();
  writeSlice(writer, contents, sliceUs);
  return writer.take();
}

function writeSlice(writer: ByteWriter, contents: SliceContents, sliceUs: number): void {
  const { slice, switches, links, queues, reporters, refused } = contents;
  const start = slice * sliceUs;
  writer.number(sliceUs);
  writer.number(slice);
  writer.number(switches.length);
  for (const one of switches) writeSwitch(writer, one, start);
  writer.number(links.length);
  for (const one of links) writeLink(writer, one, start);
  writer.number(queues.length);
  for (const one of queues) {
    writer.word(one.nodeId);
    writer.word(one.queueId);
    writer.number(one.count);
    writer.number(one.sum);
    writer.number(one.min);
    writer.number(one.max);
    writer.number(one.congested);
  }
  writer.number(reporters.length);
  for (const one of reporters) writeReporter(writer, one);
  writer.number(refused.switches);
  writer.number(refused.links);
  writer.number(refused.queues);
  writer.number(refused.sequences);
  writer.number(refused.late);
}

function writeSwitch(writer: ByteWriter, one: PartialSwitch, start: number): void {
  writer.word(one.nodeId);
  writer.number(one.reports);
  writer.signed(one.lastSeenUs - start);
  writer.number(one.count);
  writer.number(one.sum);
  writer.number(one.min);
  writer.number(one.max);
  writer.number(one.buckets.length / 2);
  for (const number of one.buckets) writer.number(number);
}

function writeLink(writer: ByteWriter, { from, to, packets, lastSeenUs, flows }: PartialLink, start: number): void {
  writer.word(from);
  writer.word(to);
  writer.number(packets);
  writer.signed(lastSeenUs - start);
  writer.number(flows.length / 2);
  for (let at = 0; at < flows.length; at += 2) {
    writer.word(flows[at]!);
    writer.signed(flows[at + 1]! - start);
  }
}

function writeReporter(writer: ByteWriter, { nodeId, hwId, bits, blocks }: PartialReporter): void {
  writer.word(nodeId);
  writer.number(hwId);
  writer.number(bits);
  writer.number(blocks.length / 2);
  let previous = 0;
  for (let at = 0; at < blocks.length; at += 2) {
    writer.number(blocks[at]! - previous);
    writer.word(blocks[at + 1]!);
    previous = blocks[at]!;
  }
}

/**
 * Decodes a partial.
 * @throws StreamError for invalid bytes: `ERR_STREAM_VERSION`, `ERR_STREAM_TRUNCATED` or `ERR_STREAM_MALFORMED`
 */
export function decodePartial(bytes: Uint8Array): NetworkPartial {
  const reader = new ByteReader(bytes);
  const version = reader.byte();
  if (version !== VERSION) throw new StreamError('ERR_STREAM_VERSION', 0, `layout ${version}, not ${VERSION}`);
  const side = reader.between(0, WORD, 'side');
  const number = reader.number();
  const closed = reader.number();
  const flags = reader.between(0, FLAGS.WHOLE | FLAGS.ENDED, 'flags');
  const [whole, ended] = [(flags & FLAGS.WHOLE) !== 0, (flags & FLAGS.ENDED) !== 0];
  const broken = readBroken(reader);
  const { contents, sliceUs } = readSlice(reader);
  reader.end();
  return { side, number, sliceUs, closed, whole, ended, broken, ...contents };
}

function readBroken(reader: ByteReader): NetworkPartial['broken'] {
  const slices = reader.number();
  if (slices === 0) return null;
  const from = reader.between(0, Number.MAX_SAFE_INTEGER - slices, 'slice');
  return [from, from + slices];
}

/**
 * Decodes a result of {@link encodeSlice}.
 * @throws StreamError `ERR_STREAM_TRUNCATED` or `ERR_STREAM_MALFORMED`
 */
export function decodeSlice(bytes: Uint8Array): { readonly contents: SliceContents; readonly sliceUs: number } {
  const reader = new ByteReader(bytes);
  const read = readSlice(reader);
  reader.end();
  return read;
}

function readSlice(reader: ByteReader): { readonly contents: SliceContents; readonly sliceUs: number } {
  const sliceUs = reader.between(1, WORD, 'sliceUs');
  const slice = reader.between(0, Math.floor(Number.MAX_SAFE_INTEGER / sliceUs), 'slice');
  const start = slice * sliceUs;
  const contents: SliceContents = {
    slice,
    switches: list(reader, 11, () => readSwitch(reader, start), ascendingSwitches),
    links: list(reader, 11, () => readLink(reader, start), ascendingLinks),
    queues: list(reader, 13, () => readQueue(reader), ascendingQueues),
    reporters: list(reader, 7, () => readReporter(reader), ascendingReporters),
    refused: readRefusals(reader),
  };
  return { contents, sliceUs };
}

function list<T>(reader: ByteReader, least: number, read: () => T, order: (a: T, b: T) => number): T[] {
  const count = reader.count(least);
  const entries: T[] = [];
  for (let index = 0; index < count; index++) {
    const entry = read();
    if (index > 0 && order(entries[index - 1]!, entry) >= 0) reader.fail('entries that do not ascend');
    entries.push(entry);
  }
  return entries;
}

const ascendingSwitches = (a: PartialSwitch, b: PartialSwitch): number => a.nodeId - b.nodeId;
const ascendingLinks = (a: PartialLink, b: PartialLink): number => a.from - b.from || a.to - b.to;
const ascendingQueues = (a: PartialQueue, b: PartialQueue): number => a.nodeId - b.nodeId || a.queueId - b.queueId;
/** The order of a bank: by node, then 32-bit numbers before 22-bit ones, then by hardware id. */
const ascendingReporters = (a: PartialReporter, b: PartialReporter): number =>
  a.nodeId - b.nodeId || b.bits - a.bits || a.hwId - b.hwId;

function time(reader: ByteReader, start: number): number {
  const timeUs = start + reader.signed();
  if (timeUs < 0 || timeUs > Number.MAX_SAFE_INTEGER) reader.fail(`a time of ${timeUs} us`);
  return timeUs;
}

function readSwitch(reader: ByteReader, start: number): PartialSwitch {
  const one = {
    nodeId: reader.word(),
    reports: reader.number(),
    lastSeenUs: time(reader, start),
    count: reader.number(),
    sum: reader.number(),
    min: reader.between(0, WORD, 'min'),
    max: reader.between(0, WORD, 'max'),
  };
  const length = reader.count(2);
  const buckets: number[] = [];
  let previous = -1;
  for (let index = 0; index < length; index++) {
    const bucket = reader.between(previous + 1, BUCKETS - 1, 'bucket');
    buckets.push(bucket, reader.between(1, WORD, 'count of a bucket'));
    previous = bucket;
  }
  return { ...one, buckets };
}

function readLink(reader: ByteReader, start: number): PartialLink {
  const one = { from: reader.word(), to: reader.word(), packets: reader.number(), lastSeenUs: time(reader, start) };
  const length = reader.between(0, RECENT_FLOWS, 'flows');
  const flows: number[] = [];
  for (let index = 0; index < length; index++) flows.push(reader.word(), time(reader, start));
  return { ...one, flows };
}

function readQueue(reader: ByteReader): PartialQueue {
  return {
    nodeId: reader.word(),
    queueId: reader.word(),
    count: reader.number(),
    sum: reader.number(),
    min: reader.between(0, WORD, 'min'),
    max: reader.between(0, WORD, 'max'),
    congested: reader.number(),
  };
}

function readReporter(reader: ByteReader): PartialReporter {
  const nodeId = reader.word();
  const hwId = reader.between(0, 0xff, 'hwId');
  const bits = reader.number();
  if (bits !== 22 && bits !== 32) reader.fail(`sequence numbers of ${bits} bits`);
  const last = 2 ** (bits - 5) - 1;
  const length = reader.count(5);
  const blocks: number[] = [];
  let block = 0;
  for (let index = 0; index < length; index++) {
    block += reader.between(index === 0 ? 0 : 1, last - block, 'distance of a block');
    blocks.push(block, reader.word());
  }
  return { nodeId, hwId, bits, blocks };
}

function readRefusals(reader: ByteReader): PartialRefusals {
  return {
    switches: reader.number(),
    links: reader.number(),
    queues: reader.number(),
    sequences: reader.number(),
    late: reader.number(),
  };
}
