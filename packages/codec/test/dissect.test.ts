/**
 * A tree of a frame covers each bit once, has the values that the bits have, and those that the object decoder has read.
 */
import { dressed, frame, plainPacket, reportPayload } from '@int/arbitraries';
import {
  type DecodeOptions,
  type DissectedField,
  dissect,
  FrameDecoder,
  type Hop,
  type TelemetryRecord,
} from '@int/codec';
import { LINK_TYPES, PROFILES } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { corpus, mutate, Random } from './fuzz-inputs.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
fc.configureGlobal({ seed: SEED });

/** Lengths to which a frame is cut: headers end in the first bytes, and a frame of 64 KiB at each of its lengths would take an hour. */
const EACH_LENGTH = 640;
const MORE_LENGTHS = 64;
/** Frames that are cut, also in the long form: some hundred trees of each. */
const MOST_CUT = 400;

type Fields = readonly DissectedField[];

const bitsOf = ({ offset, length, bits }: DissectedField): [from: number, to: number] =>
  bits === undefined
    ? [offset * 8, (offset + length) * 8]
    : [offset * 8 + bits.offset, offset * 8 + bits.offset + bits.length];

/** Leaves in wire order. Checks on the way that children cover their parent without gaps and overlap. */
function leavesOf(fields: Fields, from: number, to: number): DissectedField[] {
  const leaves: DissectedField[] = [];
  let at = from;
  for (const field of fields) {
    const [first, last] = bitsOf(field);
    if (first !== at) throw new Error(`${field.name} begins at bit ${first}, not ${at}`);
    if (last <= first) throw new Error(`${field.name} is empty`);
    if (field.children === undefined) leaves.push(field);
    else leaves.push(...leavesOf(field.children, first, last));
    at = last;
  }
  if (at !== to) throw new Error(`the fields end at bit ${at}, not ${to}`);
  return leaves;
}

function bitsAt(bytes: Uint8Array, from: number, to: number): bigint {
  let value = 0n;
  for (let bit = from; bit < to; bit++) value = value * 2n + BigInt((bytes[bit >>> 3]! >>> (7 - (bit & 7))) & 1);
  return value;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The value that the bits of a leaf have, read anew. */
function expectedValue(bytes: Uint8Array, leaf: DissectedField): DissectedField['value'] {
  const [from, to] = bitsOf(leaf);
  // Only of numbers: a payload as a number takes a time that grows with the square of its length.
  switch (typeof leaf.value) {
    case 'number':
      return Number(bitsAt(bytes, from, to));
    case 'bigint':
      return bitsAt(bytes, from, to);
    case 'boolean':
      return bitsAt(bytes, from, to) === 1n;
    default: {
      if (leaf.value === null) return leaf.value;
      // A tree shows 64 bytes of what is longer.
      const text = hexOf(bytes.subarray(leaf.offset, leaf.offset + Math.min(64, leaf.length)));
      if (leaf.value.startsWith('02:') || /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(leaf.value)) {
        return text.match(/../g)!.join(':');
      }
      if (leaf.length === 4 && leaf.value.includes('.')) {
        return [...bytes.subarray(leaf.offset, leaf.offset + 4)].join('.');
      }
      return leaf.value.includes(':') ? leaf.value : text;
    }
  }
}

/** Checks what holds for any bytes. @returns the leaves */
function checkTree(bytes: Uint8Array, options: DecodeOptions): { fields: Fields; leaves: DissectedField[] } {
  const { fields, problems } = dissect(bytes, options);
  const leaves = leavesOf(fields, 0, bytes.length * 8);
  for (const leaf of leaves) {
    const expected = expectedValue(bytes, leaf);
    if (leaf.value !== expected) throw new Error(`${leaf.name} at ${leaf.offset}: ${leaf.value}, not ${expected}`);
  }
  const records = new FrameDecoder(options).decode(bytes);
  expect(problems).toEqual(records.flatMap(({ error }) => (error === null ? [] : [error])));
  for (const record of records) checkRecord(bytes, fields, record, options);
  return { fields, leaves };
}

function find(fields: Fields, name: string): DissectedField[] {
  return fields.flatMap((field) => [
    ...(field.name === name ? [field] : []),
    ...(field.children === undefined ? [] : find(field.children, name)),
  ]);
}

const fieldIn = (parent: DissectedField, name: string): DissectedField['value'] | undefined =>
  parent.children?.find((child) => child.name === name)?.value;

const NOT_OF_A_HOP = ['reserved', 'bottomOfStack', 'padding', 'sourceMetadata', 'dropReason', 'dropQueueId'];

/** The hop that a group of fields shows. */
function hopOf(bytes: Uint8Array, group: DissectedField): Hop {
  const hop: Record<string, unknown> = {};
  const domain: number[] = [];
  for (const { name, value, offset, length } of group.children!) {
    if (name === 'domain') domain.push(...bytes.subarray(offset, offset + length));
    else if (!NOT_OF_A_HOP.includes(name)) hop[name] = value;
  }
  if (domain.length > 0) hop.domain = Uint8Array.from(domain);
  return hop as Hop;
}

/** Compares what the object decoder has made of a frame with the fields that the tree shows. */
function checkRecord(bytes: Uint8Array, all: Fields, record: TelemetryRecord, options: DecodeOptions): void {
  const individuals = find(all, 'individual');
  const own = individuals.find(({ value }) => value === record.index);
  const fields = individuals.length === 0 ? all : own === undefined ? [] : [own];
  checkHops(bytes, fields, record);
  checkReport(bytes, all, fields, record);
  checkInt(fields, record);
  // This dialect has INT at a fixed place, also where other headers are.
  if (options.profile !== 'int-afxdp-kafka') checkFlow(fields, record);
}

function checkHops(bytes: Uint8Array, fields: Fields, record: TelemetryRecord): void {
  const hops = find(fields, 'hop');
  expect(hops.length).toBe(record.hops.length);
  for (const group of hops) expect(hopOf(bytes, group)).toEqual(record.hops[group.value as number]);
}

function checkReport(bytes: Uint8Array, all: Fields, fields: Fields, record: TelemetryRecord): void {
  const { report } = record;
  if (report === null) return;
  const [group] = find(all, 'report');
  const header = report.version === '2.0' ? fields[0] : group;
  expect(fieldIn(group!, 'hwId')).toBe(report.hwId);
  expect(fieldIn(group!, 'sequence')).toBe(report.sequence);
  expect(fieldIn(group!, report.version === '2.0' ? 'nodeId' : 'switchId') ?? null).toBe(report.nodeId);
  if (header === undefined || record.status !== 'ok') return;
  expect(fieldIn(header, 'dropped')).toBe(report.dropped);
  expect(fieldIn(header, 'queueCongested')).toBe(report.queueCongested);
  expect(fieldIn(header, 'trackedFlow')).toBe(report.trackedFlow);
  const [metadata] = find(fields, 'metadata');
  expect(metadata === undefined ? {} : hopOf(bytes, metadata)).toEqual(report.metadata);
  expect((metadata && fieldIn(metadata, 'dropReason')) ?? null).toBe(report.dropReason);
  expect((metadata && fieldIn(metadata, 'dropQueueId')) ?? null).toBe(report.dropQueueId);
  if (report.tlvs === undefined) return;
  const tlvs = find(fields, 'tlv');
  expect(tlvs.map((tlv) => [fieldIn(tlv, 'type'), fieldIn(tlv, 'template'), tlv.length])).toEqual(
    report.tlvs.map(({ type, template, data }) => [type, template, 4 + data.length]),
  );
}

function checkInt(fields: Fields, { int, status }: TelemetryRecord): void {
  if (int === null || int.mode === 'xd') return;
  if (int.mode === 'gpint') {
    const [probe] = find(fields, 'gpint');
    expect(fieldIn(probe!, 'requestId')).toBe(int.requestId);
    expect(find(fields, 'route').map((one) => fieldIn(one, 'nextPort'))).toEqual(int.route.map((one) => one.nextPort));
    expect(find(fields, 'switch').map((one) => fieldIn(one, 'switchId'))).toEqual(
      int.switches.map((one) => one.switchId),
    );
    expect(find(fields, 'measurement').map(({ value }) => value)).toEqual(int.measurements);
    return;
  }
  const [header] = find(fields, 'int');
  // A frame may end in front of a header whose values the decoder then gives as 0.
  if (status !== 'ok' && (header === undefined || find([header], 'undecoded').length > 0)) return;
  const bitmap = fieldIn(header!, 'instructionBitmap');
  if (bitmap === undefined) expect((fieldIn(header!, 'instructions') as number) << 8).toBe(int.instructionBitmap);
  else expect(bitmap).toBe(int.instructionBitmap);
  expect(fieldIn(header!, 'discard') ?? false).toBe(int.discard);
  expect(fieldIn(header!, 'hopExceeded') ?? false).toBe(int.hopExceeded);
  expect(fieldIn(header!, 'mtuExceeded') ?? false).toBe(int.mtuExceeded);
  expect(fieldIn(header!, 'domainId') ?? 0).toBe(int.domainId);
  expect(fieldIn(header!, 'domainFlags') ?? 0).toBe(int.domainFlags);
  if (status !== 'ok') return;
  const source = find(fields, 'sourceMetadata').reduce((sum, { length }) => sum + length, 0);
  expect(source).toBe(int.sourceMetadata?.length ?? 0);
}

const TRANSPORTS = ['udp', 'tcp', 'sctp', 'udp-lite'];

/** The flow is that of the innermost packet, with the ports that INT has put aside. */
function checkFlow(fields: Fields, { flow, status }: TelemetryRecord): void {
  if (flow === null || status !== 'ok') return;
  const addresses = [...find(fields, 'ipv4'), ...find(fields, 'ipv6')].map((ip) => [
    fieldIn(ip, 'source'),
    fieldIn(ip, 'destination'),
  ]);
  expect(addresses).toContainEqual([flow.source, flow.destination]);
  const transports = TRANSPORTS.flatMap((name) => find(fields, name));
  if (transports.length === 0) return;
  expect([0, ...transports.map((one) => fieldIn(one, 'sourcePort'))]).toContain(flow.sourcePort);
  const carriers = [...TRANSPORTS, 'shim', 'tail', 'int'].flatMap((name) => find(fields, name));
  if (flow.destinationPort === 0) return;
  expect(carriers.map((one) => fieldIn(one, 'destinationPort'))).toContain(flow.destinationPort);
}

const stepAt = (length: number, whole: number): number =>
  length < EACH_LENGTH ? 1 : Math.max(1, Math.floor((whole - EACH_LENGTH) / MORE_LENGTHS));

describe('the tree of a frame', () => {
  test('covers each bit once and agrees with the object decoder', () => {
    const all = fc.oneof(
      { arbitrary: dressed(frame()), weight: 8 },
      { arbitrary: reportPayload(), weight: 2 },
      { arbitrary: plainPacket(), weight: 1 },
    );
    fc.assert(
      fc.property(all, ({ bytes, options }) => {
        checkTree(bytes, options);
      }),
      { numRuns: runs(16_000) },
    );
  });

  test('leaves nothing undecoded in a sound frame', () => {
    fc.assert(
      fc.property(dressed(frame()), ({ bytes, options }) => {
        const { leaves } = checkTree(bytes, options);
        expect(leaves.filter(({ name }) => name === 'undecoded')).toEqual([]);
      }),
      { numRuns: runs(4_000) },
    );
  });

  test('of a frame that is cut shows what is there, for each length of its headers', () => {
    for (const { bytes, options } of corpus(SEED + 1, Math.min(MOST_CUT, runs(400)))) {
      for (let length = 0; length < bytes.length; length += stepAt(length, bytes.length)) {
        checkTree(bytes.slice(0, length), options);
      }
    }
  });

  test('never fails and covers each bit once, whatever the bytes are', () => {
    const frames = corpus(SEED, 200);
    const random = new Random(SEED);
    for (let run = runs(24_000); run > 0; run--) {
      const original = random.pick(frames);
      const options =
        random.nat(2) === 0
          ? original.options
          : { ...original.options, linkType: random.pick(LINK_TYPES), profile: random.pick(PROFILES) };
      const bytes = mutate(random, frames, original);
      try {
        checkTree(bytes, options);
      } catch (error) {
        throw new Error(`${JSON.stringify(options)} ${hexOf(bytes)}`, { cause: error });
      }
    }
  });
});
