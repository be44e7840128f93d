import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { CodecError } from '../../src/errors.js';
import { decodeFrame, decodeReport } from '../../src/frame-decoder.js';
import { hopBlock } from '../../src/headers/hop.js';
import {
  ethernet,
  type ReportMetadata,
  reportMetadata,
  reportV20Group,
  reportV20Individual,
  reportV20Main,
} from '../../src/headers/index.js';
import { reportTlv, reportV05, reportV05Drop, reportV05Local, reportV10 } from '../../src/headers/report.js';
import { gre } from '../../src/headers/tunnels.js';
import type { Flow, Hop, TelemetryRecord } from '../../src/model.js';
import { LAYOUT } from '../../src/plan.js';
import { type SourceConfig, sink, source, transit } from '../../src/roles/index.js';
import { decodeWithSchema, type HeaderSchema, type SchemaLayer, schemas } from '../../src/schema/index.js';
import { bits, SAMPLES, type Sample, SEED } from './header-samples.js';
import { build, carrier, concat, tcpPacket, udpPacket } from './role-packets.js';

fc.configureGlobal({ seed: SEED });

/** Headers compared on random bytes, each. `INT_HEADERS` asks for more. */
const RANDOM_HEADERS = Number(process.env.INT_HEADERS ?? runs(4_000));

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

/** A small generator of bytes (xorshift32), as fast as the parsers it feeds. */
function randomBytes(seed: number): (bytes: Uint8Array) => void {
  let state = seed >>> 0 || 1;
  return (bytes) => {
    for (let i = 0; i < bytes.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      state >>>= 0;
      bytes[i] = state >>> 11;
    }
  };
}

type Loose = Readonly<Record<string, unknown>>;

/** Fields that a description has and a codec derives: versions, lengths and counts. */
const DERIVED: Readonly<Record<string, readonly string[]>> = {
  ipv4: ['version', 'headerLength'],
  ipv6: ['version'],
  ipv6Options: ['length'],
  ipv6Routing: ['length'],
  tcp: ['dataOffset'],
  geneve: ['optionLength'],
  gre: ['checksumPresent', 'routingPresent', 'keyPresent', 'sequencePresent', 'version'],
  intV05: ['version'],
  intV10: ['version'],
  intMd: ['version'],
  intMx: ['version'],
  reportV20Group: ['version'],
  reportTlv: ['length'],
  gpintProbe: ['routeCount', 'switchCount', 'measurementCount'],
  gpintProbeExtended: ['routeCount', 'switchCount', 'measurementCount'],
};

function comparable(name: string, value: Loose): Loose {
  const copy: Record<string, unknown> = { ...value };
  for (const field of DERIVED[name] ?? []) delete copy[field];
  if (name === 'geneve') {
    copy.options = (copy.options as readonly (Loose & { length: number })[]).map(({ length: _, ...option }) => option);
  }
  return copy;
}

/** A value, or the code of the error. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (CodecError.is(error)) return error.code;
    throw error;
  }
}

/** What makes a random header a sound one often enough. */
const FIRST_BYTE: Readonly<Record<string, (first: number) => number>> = {
  ipv4: (first) => 0x40 | (first & 15),
  ipv6: (first) => 0x60 | (first & 15),
  intV05: (first) => first & 15,
  intV10: (first) => 0x10 | (first & 15),
  intMd: (first) => 0x20 | (first & 15),
  intMx: (first) => 0x20 | (first & 15),
  reportV20Group: (first) => 0x20 | (first & 15),
  gre: (first) => first & 0xb0,
};

const NAMES = Object.keys(SAMPLES).filter((name) => name !== 'geneveOption') as (keyof typeof SAMPLES)[];
const schemaOf = (name: string): HeaderSchema<Loose> => {
  const found = (schemas as unknown as Readonly<Record<string, HeaderSchema<Loose>>>)[`${name}Schema`];
  if (found === undefined) throw new Error(`no schema of ${name}`);
  return found;
};

describe('every header has a schema', () => {
  test.each(NAMES)('%s: random bytes read the same both ways', (name) => {
    const { codec } = SAMPLES[name] as unknown as Sample<object>;
    const description = schemaOf(name);
    const fill = randomBytes(SEED + NAMES.indexOf(name));
    const shared = new Uint8Array(
      name.startsWith('gpint') ? 2600 : name.startsWith('ipv6') ? 2060 : name === 'reportTlv' ? 1040 : 400,
    );
    let sound = 0;
    for (let round = 0; round < RANDOM_HEADERS; round++) {
      const offset = round % 5;
      fill(shared);
      const fix = FIRST_BYTE[name];
      if (fix !== undefined && round % 8 !== 0) shared[offset] = fix(shared[offset]!);
      if (name === 'gre' && round % 8 !== 0) shared[offset + 1]! &= 0xf8;
      // Counts small enough for a probe to close now and then.
      if (name.startsWith('gpint')) shared.set([0, 0, 0, round % 2, 0, 0], offset + 2);
      const expected = outcome(() => codec.decode(shared, offset));
      const found = outcome(() => description.parse(shared, offset));
      const where = `${name}, seed ${SEED}, round ${round}: ${hex(shared.subarray(offset, offset + 64))}`;
      if (typeof expected === 'string') {
        // A probe whose counts disagree is a matter of several lists, which the schema does not compare.
        if (expected !== 'BAD_PROBE') expect(found, where).toBe(expected);
        continue;
      }
      sound++;
      if (typeof found === 'string') throw new Error(`${found}: ${where}`);
      const { value, byteLength } = found as { value: Loose; byteLength: number };
      if (byteLength !== codec.encodingLength(expected as object)) expect(byteLength, where).toBe(-1);
      if (!isDeepStrictEqual(comparable(name, value), expected)) {
        expect(comparable(name, value), where).toEqual(expected);
      }
    }
    expect(sound).toBeGreaterThan(name === 'geneve' || name.startsWith('gpint') ? 0 : RANDOM_HEADERS / 2);
  });

  test.each(NAMES)('%s: what the codec writes the schema reads, whole and cut', (name) => {
    const { codec, arbitrary } = SAMPLES[name] as unknown as Sample<object>;
    const description = schemaOf(name);
    fc.assert(
      fc.property(arbitrary, fc.nat(7), (value, offset) => {
        const encoded = codec.encode(value);
        const bytes = concat(new Uint8Array(offset), encoded);
        const { value: found, byteLength } = description.parse(bytes, offset);
        expect(byteLength).toBe(encoded.length);
        expect(comparable(name, found)).toEqual(value);
        for (let cut = 0; cut < encoded.length; cut += 1 + (encoded.length >>> 5)) {
          expect(outcome(() => description.parse(bytes.subarray(0, offset + cut), offset))).toBe('TRUNCATED');
        }
      }),
      { numRuns: runs(40) },
    );
  });
});

describe('metadata', () => {
  const LAYOUTS = [
    ['0.5', LAYOUT.V05],
    ['1.0', LAYOUT.V10],
    ['2', LAYOUT.V2],
    ['2016', LAYOUT.Y2016],
  ] as const;
  /** Bytes that are ones more often than by chance. */
  const fill = randomBytes(SEED ^ 0x5eed);
  function metadataBytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    fill(bytes);
    const choice = new Uint8Array(length / 4);
    fill(choice);
    choice.forEach((value, word) => {
      if (value < 80) bytes.fill(0xff, word * 4, word * 4 + 4);
    });
    return bytes;
  }
  /** All single bits and pairs, and random bitmaps. */
  const bitmaps = new Set<number>([0, 0xffff]);
  for (let i = 0; i < 16; i++) for (let j = i; j < 16; j++) bitmaps.add((0x8000 >>> i) | (0x8000 >>> j));
  const extra = new Uint8Array(240);
  fill(extra);
  for (let i = 0; i < 240; i += 2) bitmaps.add((extra[i]! << 8) | extra[i + 1]!);

  test.each(LAYOUTS)('of a hop reads the same both ways, version %s', (format, layout) => {
    for (const drawn of bitmaps) {
      const bitmap = format === '2016' ? drawn & 0xff00 : drawn;
      const domainBytes = format === '2' ? (drawn % 3) * 4 : 0;
      const codec = hopBlock(layout, bitmap, { domainBytes });
      const description = schemas.hopSchema(format, bitmap, domainBytes);
      for (let round = 0; round < 8; round++) {
        const bytes = metadataBytes(codec.byteLength);
        const { value, byteLength } = description.parse(bytes);
        expect(byteLength).toBe(codec.byteLength);
        const expected = codec.decode(bytes);
        if (!isDeepStrictEqual(value, expected))
          expect(value, `${bitmap.toString(16)} ${hex(bytes)}`).toEqual(expected);
      }
    }
  });

  test.each(['1.0', '2.0'] as const)('of a report reads the same both ways, version %s', (version) => {
    for (const drawn of bitmaps) {
      const selected = version === '1.0' ? drawn & 0x3f : drawn;
      const domainBytes = version === '2.0' ? (drawn % 3) * 4 : 0;
      const codec = reportMetadata(version, selected, domainBytes);
      const description = schemas.reportMetadataSchema(version, selected, domainBytes);
      for (let round = 0; round < 8; round++) {
        const bytes = metadataBytes(codec.byteLength);
        const { value, byteLength } = description.parse(bytes);
        expect(byteLength).toBe(codec.byteLength);
        const expected = codec.decode(bytes);
        if (!isDeepStrictEqual(value, expected)) expect(value, `${selected} ${hex(bytes)}`).toEqual(expected);
      }
    }
  });

  test('of the 2016 layout has no bits 8 to 15', () => {
    expect(() => schemas.hopSchema('2016', 0x0080)).toThrow(RangeError);
  });
});

type Values<K extends SchemaLayer['layer']> = Extract<SchemaLayer, { layer: K }>['value'];

function all<K extends SchemaLayer['layer']>(layers: readonly SchemaLayer[], kind: K): Values<K>[] {
  return layers.filter((entry) => entry.layer === kind).map((entry) => entry.value as Values<K>);
}

/** The flow that the layers tell of: the innermost packet's, with what INT has moved put back. */
function flowOf(layers: readonly SchemaLayer[]): Flow | null {
  let flow: Flow | null = null;
  let portMarked = false;
  for (const entry of layers) {
    const { layer, value } = entry;
    if (layer === 'ipv4' || layer === 'ipv6') {
      const protocol = layer === 'ipv4' ? value.protocol : value.nextHeader;
      flow = { source: value.source, destination: value.destination, protocol, sourcePort: 0, destinationPort: 0 };
    } else if (flow === null) continue;
    else if (layer === 'ipv6Extension') flow.protocol = value.nextHeader;
    else if (layer === 'udp' || layer === 'tcp') {
      flow.protocol = layer === 'udp' ? 17 : 6;
      flow.sourcePort = value.sourcePort;
      flow.destinationPort = value.destinationPort;
      portMarked = layer === 'udp' && value.destinationPort === 5000;
    } else if (layer === 'shimV2' && value.npt === 1) flow.destinationPort = value.destinationPort;
    else if (layer === 'shimV2' && value.npt === 2) {
      Object.assign(flow, { protocol: value.protocol, sourcePort: 0, destinationPort: 0 });
    } else if (layer === 'intMon') flow.destinationPort = value.destinationPort;
    else if (layer === 'intTail' && portMarked) flow.destinationPort = value.destinationPort;
  }
  return flow;
}

/** What a record says of INT, in the words of the schema's layers. */
function intOf(layers: readonly SchemaLayer[]): Loose | null {
  for (const { layer, value } of layers) {
    switch (layer) {
      case 'intMd':
        return {
          mode: 'md',
          version: '2',
          hopMl: value.hopMl,
          remainingHopCount: value.remainingHopCount,
          instructionBitmap: value.instructionBitmap,
          discard: value.discard,
          hopExceeded: value.hopExceeded,
          mtuExceeded: value.mtuExceeded,
          domainId: value.domainId,
          domainInstructions: value.domainInstructions,
          domainFlags: value.domainFlags,
        };
      case 'intMx':
        return { mode: 'mx', version: '2', discard: value.discard, instructionBitmap: value.instructionBitmap };
      case 'intV10':
        return {
          mode: 'md',
          version: '1.0',
          hopMl: value.hopMl,
          remainingHopCount: value.remainingHopCount,
          hopExceeded: value.hopExceeded,
          mtuExceeded: value.mtuExceeded,
        };
      case 'intV05':
      case 'intMon':
        return {
          mode: 'md',
          version: layer === 'intV05' ? '0.5' : 'intmon',
          hopMl: value.instructionCount,
          remainingHopCount: value.maxHopCount - value.totalHopCount,
          instructionBitmap: value.instructionBitmap,
          hopExceeded: value.hopExceeded,
        };
      default:
    }
  }
  return null;
}

/** Compares one record with its layers: hops, header, flow. */
function compare(record: TelemetryRecord, layers: readonly SchemaLayer[]): void {
  expect(record.status === 'ok' || record.status === 'not-int').toBe(true);
  expect(record.hops).toEqual(all(layers, 'hop').reverse());
  const int = intOf(layers);
  if (int === null) expect(record.int === null || record.int.mode === 'xd').toBe(true);
  else expect(record.int).toMatchObject(int);
  const [kept] = all(layers, 'sourceMetadata');
  const found = record.int !== null && record.int.mode !== 'gpint' ? record.int.sourceMetadata : undefined;
  expect(found && hex(found)).toBe(kept && hex(kept));
  expect(record.flow).toEqual(flowOf(layers));
}

const hopValues = fc.record({
  nodeId: bits(31),
  l1IngressInterface: bits(16),
  l1EgressInterface: bits(16),
  hopLatency: bits(31),
  queueId: fc.option(bits(8), { nil: null }),
  queueOccupancy: bits(24),
  ingressTimestamp: fc.option(bits(31).map(BigInt), { nil: null }),
  egressTimestamp: bits(31).map(BigInt),
});

interface VectorEntry {
  name: string;
  start: string;
  hex: string;
}
const vectors = JSON.parse(
  readFileSync(new URL('../vectors/spec-vectors.json', import.meta.url), 'utf8'),
) as readonly VectorEntry[];
const original = (name: string): Uint8Array =>
  sink(fromHex(vectors.find((entry) => entry.name === name)!.hex)).restored;

/** A packet, and the part of a source's configuration that fits it. */
type Started = readonly [built: Uint8Array, config: Omit<SourceConfig, 'instructions'>];
const ipInside = udpPacket().filter(({ bytes, ipOffset }) => ipOffset === 14 && bytes[14]! >>> 4 === 4);
const noDscp = { intDscp: null } as const;

const starts: fc.Arbitrary<Started> = fc.oneof(
  fc
    .tuple(udpPacket(), fc.constantFrom('0.5' as const, '2' as const))
    .map(([built, version]): Started => [built.bytes, { version, encapsulation: 'port', ...noDscp }]),
  fc
    .tuple(fc.oneof(udpPacket(), tcpPacket()), fc.constantFrom('0.5' as const, '1.0' as const, '2' as const))
    .map(([built, version]): Started => [built.bytes, { version, encapsulation: 'dscp' }]),
  fc
    .tuple(
      fc.oneof(udpPacket(), tcpPacket()),
      fc.constantFrom('1.0' as const, '2' as const),
      fc.constantFrom('probe-marker' as const, 'gre-new' as const, 'new-udp' as const),
    )
    .map(
      ([built, version, encapsulation]): Started => [
        built.bytes,
        encapsulation === 'probe-marker'
          ? { version, encapsulation, probeMarker: 0x8000_0000_1234_5678n, ...noDscp }
          : { encapsulation, ...noDscp },
      ],
    ),
  udpPacket().map((built): Started => [built.bytes, { encapsulation: 'intmon', profile: 'intmon', ...noDscp }]),
  fc.constant<Started>([original('md21-vxlan-gpe'), { encapsulation: 'vxlan-gpe' }]),
  fc
    .constantFrom('0.5' as const, '1.0' as const, '2' as const)
    .map((version): Started => [original('int10-vxlan-gpe'), { version, encapsulation: 'vxlan-gpe' }]),
  fc
    .constantFrom('0.5' as const, '1.0' as const, '2' as const)
    .map((version): Started => [original('md21-geneve'), { version, encapsulation: 'geneve' }]),
  fc.tuple(carrier, ipInside, fc.option(bits(32))).map(([from, inner, key]): Started => {
    const header = gre.encode({
      reserved: 0,
      protocolType: 0x0800,
      checksum: null,
      reserved2: 0,
      key,
      sequenceNumber: null,
    });
    const segment = concat(header, inner.bytes.subarray(inner.ipOffset, inner.ipEnd));
    return [build(from, 47, segment).bytes, { encapsulation: 'gre', ...noDscp }];
  }),
);

describe('whole packets', () => {
  test('of every encapsulation read the same as with the decoder', () => {
    fc.assert(
      fc.property(
        starts,
        bits(6),
        fc.array(hopValues, { minLength: 1, maxLength: 4 }),
        ([bytes, part], bitmap, hops) => {
          const config: SourceConfig = { ...part, instructions: bitmap << 10 };
          let { packet, started } = source(bytes, config, hops[0]!);
          expect(started).toBe(true);
          for (const hop of hops.slice(1)) packet = transit(packet, config, hop).packet;
          const options = { ...part, reportPorts: [] };
          const [record] = decodeFrame(packet, options);
          compare(record!, decodeWithSchema(packet, options));
          // And without INT.
          const [plain] = decodeFrame(bytes, options);
          if (part.encapsulation !== 'dscp') expect(plain!.status).toBe('not-int');
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  test('of the worked examples read the same as with the decoder', () => {
    let checked = 0;
    for (const { name, start, hex: text } of vectors) {
      if (start !== 'ethernet' || name.startsWith('rocev2') || name === 'legacy-xdp-kafka-8fields') continue;
      const options = {
        intDscp: name.includes('dscp') ? { value: 0x17, mask: 0x3f } : null,
        reportPorts: [],
        profile: name === 'legacy2016-intmon-udp' ? 'intmon' : 'spec',
        domains: {
          21587: { 0: { bytes: 8, mode: 'source-only' } },
          43981: { 0: { bytes: 4, mode: 'source-inserted' }, 1: { bytes: 4, mode: 'source-inserted' } },
        },
      } as const;
      const [record] = decodeFrame(fromHex(text), options);
      expect(record?.status, name).toBe('ok');
      compare(record!, decodeWithSchema(fromHex(text), options));
      checked++;
    }
    expect(checked).toBe(14);
  });

  test('that are cut anywhere are refused with a CodecError', () => {
    for (const { start, hex: text } of vectors) {
      if (start === 'shim' || text.length > 1000) continue;
      const bytes = fromHex(text);
      const from = start === 'ethernet' ? 'ethernet' : 'report';
      for (let cut = 0; cut < bytes.length; cut++) {
        try {
          decodeWithSchema(bytes.subarray(0, cut), {}, from);
        } catch (error) {
          if (!CodecError.is(error)) throw error;
        }
      }
    }
  });
});

/** Compares the header part of a report. */
function compareReport(record: TelemetryRecord, layers: readonly SchemaLayer[]): void {
  const { report } = record;
  if (report === null) throw new Error('no report');
  const [metadata] = all(layers, 'reportMetadata') as ReportMetadata[];
  const [individual] = all(layers, 'reportV20Individual');
  const [v10] = all(layers, 'reportV10');
  const [v05] = all(layers, 'reportV05');
  const flags = individual ?? v10 ?? v05!;
  expect(report).toMatchObject({
    dropped: flags.dropped,
    queueCongested: flags.queueCongested,
    trackedFlow: flags.trackedFlow,
    intermediate: individual?.intermediate ?? false,
  });
  if (metadata !== undefined) {
    expect(report.metadata).toEqual(metadata.metadata);
    expect([report.dropQueueId, report.dropReason]).toEqual([metadata.dropQueueId, metadata.dropReason]);
  }
  const older = v10 ?? v05;
  if (older !== undefined) {
    expect(report).toMatchObject({
      hwId: older.hwId,
      sequence: older.sequence,
      ingressTimestamp: BigInt(older.ingressTimestamp),
    });
  }
  const [drop] = all(layers, 'reportV05Drop');
  if (drop !== undefined) {
    expect(report).toMatchObject({
      nodeId: drop.switchId,
      dropReason: drop.dropReason,
      dropQueueId: drop.queueId,
      metadata: { l1IngressInterface: drop.ingressPort, l1EgressInterface: drop.egressPort },
    });
  }
  const [local] = all(layers, 'reportV05Local');
  if (local !== undefined) {
    expect(report).toMatchObject({
      nodeId: local.switchId,
      metadata: {
        l1IngressInterface: local.ingressPort,
        l1EgressInterface: local.egressPort,
        queueId: local.queueId,
        queueOccupancy: local.queueOccupancy,
        egressTimestamp: BigInt(local.egressTimestamp),
      },
    });
  }
  expect(report.tlvs).toEqual(
    individual?.innerType === 1
      ? all(layers, 'reportTlv').map(({ type, template, data }) => ({ type, template, data }))
      : undefined,
  );
}

/** The layers of each individual report. */
function split(layers: readonly SchemaLayer[]): SchemaLayer[][] {
  const parts: SchemaLayer[][] = [[]];
  for (const entry of layers) {
    if (entry.layer === 'reportV20Individual' && all(parts.at(-1)!, 'reportV20Individual').length > 0) parts.push([]);
    parts.at(-1)!.push(entry);
  }
  return parts;
}

function compareReports(payload: Uint8Array, options: Omit<SourceConfig, 'instructions'>): void {
  const { records, version, hwId, sequence, nodeId } = decodeReport(payload, options);
  const layers = decodeWithSchema(payload, options, 'report');
  const [group] = all(layers, 'reportV20Group');
  if (group !== undefined) {
    expect({ version, hwId, sequence, nodeId }).toEqual({
      version: '2.0',
      hwId: group.hwId,
      sequence: group.sequence,
      nodeId: group.nodeId,
    });
  }
  const parts = split(layers);
  expect(parts).toHaveLength(records.length);
  records.forEach((record, index) => {
    compareReport(record, parts[index]!);
    compare(record, parts[index]!);
  });
}

/** A packet with INT, its length a multiple of 4 as a report needs it. */
const inner: fc.Arbitrary<{ bytes: Uint8Array; config: Omit<SourceConfig, 'instructions'> }> = fc
  .tuple(fc.oneof(udpPacket(), tcpPacket()), bits(6), fc.array(hopValues, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([built, bitmap, hops, plain]) => {
    const config: SourceConfig = { encapsulation: 'dscp', instructions: bitmap << 10 };
    let packet = built.bytes;
    if (!plain) {
      packet = source(built.bytes, config, hops[0]!).packet;
      for (const hop of hops.slice(1)) packet = transit(packet, config, hop).packet;
    }
    return { bytes: concat(packet, new Uint8Array((4 - (packet.length % 4)) % 4)), config };
  })
  // A plain packet with the DSCP of INT is none.
  .filter(({ bytes, config }) => decodeFrame(bytes, { ...config, reportPorts: [] })[0]!.error === null);

const metadataValues: fc.Arbitrary<Hop> = hopValues.map(({ nodeId: _, ...rest }) => rest);

describe('telemetry reports', () => {
  const flagBits = fc.record({
    dropped: fc.boolean(),
    queueCongested: fc.boolean(),
    trackedFlow: fc.boolean(),
  });

  test('v2.0, one or several in a datagram, read the same as with the decoder', () => {
    const individual = fc
      .tuple(flagBits, inner, metadataValues, bits(15), bits(8), fc.constantFrom('ethernet', 'tlv', 'none'))
      .map(([flags, packet, metadata, selected, drop, kind]) => {
        // Bit 15 is drop information, and there only where something was dropped.
        const metadataBits = (selected & 0x7c00) | (flags.dropped ? 1 : 0);
        const values = reportMetadata('2.0', metadataBits).encode({ metadata, dropQueueId: 3, dropReason: drop });
        const body =
          kind === 'ethernet'
            ? packet.bytes
            : kind === 'tlv'
              ? concat(
                  reportTlv.encode({ type: 0, reserved: 0, template: drop, data: new Uint8Array(8).fill(drop) }),
                  reportTlv.encode({ type: 4, reserved: 0, template: 0, data: new Uint8Array(0) }),
                )
              : new Uint8Array(0);
        const main = reportV20Main.encode({
          metadataBits,
          domainId: 0,
          domainMetadataBits: 0,
          domainMetadataStatus: 0,
        });
        const header = reportV20Individual.encode({
          ...flags,
          reportType: 1,
          innerType: kind === 'ethernet' ? 3 : kind === 'tlv' ? 1 : 0,
          reportLength: (main.length + values.length + body.length) / 4,
          metadataLength: values.length / 4,
          intermediate: false,
          reserved: 0,
        });
        return { bytes: concat(header, main, values, body), config: packet.config };
      });
    fc.assert(
      fc.property(
        fc.record({ hwId: bits(6), sequence: bits(22), nodeId: bits(31) }),
        fc.array(individual, { minLength: 1, maxLength: 4 }),
        (group, list) => {
          compareReports(concat(reportV20Group.encode(group), ...list.map(({ bytes }) => bytes)), list[0]!.config);
        },
      ),
      { numRuns: runs(250) },
    );
  });

  test('v1.0 read the same as with the decoder', () => {
    fc.assert(
      fc.property(
        flagBits,
        inner,
        metadataValues,
        bits(6),
        bits(32),
        (flags, packet, metadata, metadataBits, drawn) => {
          const values = reportMetadata('1.0', metadataBits).encode({
            metadata,
            dropQueueId: 1,
            dropReason: drawn & 0xff,
          });
          const header = reportV10.encode({
            ...flags,
            version: 1,
            length: 4 + values.length / 4,
            nextProtocol: 0,
            metadataBits,
            reserved: 0,
            hwId: drawn & 0x3f,
            switchId: drawn,
            sequence: (drawn ^ 0x1234) >>> 0,
            ingressTimestamp: 77,
          });
          compareReports(concat(header, values, packet.bytes), packet.config);
        },
      ),
      { numRuns: runs(250) },
    );
  });

  test('v0.5 with each of its headers read the same as with the decoder', () => {
    fc.assert(
      fc.property(flagBits, inner, bits(31), fc.constantFrom(0, 1, 2), (flags, packet, drawn, nextProtocol) => {
        const header = reportV05.encode({
          ...flags,
          version: drawn & 1,
          nextProtocol,
          reserved: 0,
          hwId: drawn & 0x3f,
          sequence: drawn,
          ingressTimestamp: drawn,
        });
        const ports = { switchId: drawn, ingressPort: drawn & 0xfff, egressPort: 2, queueId: 3 };
        const local =
          nextProtocol === 1
            ? reportV05Drop.encode({ ...ports, dropReason: drawn & 0xff, padding: 0 })
            : nextProtocol === 2
              ? reportV05Local.encode({ ...ports, queueOccupancy: drawn & 0xffff, egressTimestamp: drawn })
              : new Uint8Array(0);
        compareReports(concat(header, local, packet.bytes), packet.config);
      }),
      { numRuns: runs(300) },
    );
  });

  test('of the worked examples read the same as with the decoder', () => {
    const reports = vectors.filter(({ start }) => start === 'udp-payload');
    for (const { hex: text } of reports.filter(({ name }) => !/length-ff|tlv|two-reports/.test(name))) {
      compareReports(fromHex(text), { encapsulation: 'dscp' });
    }
    expect(reports.length).toBeGreaterThanOrEqual(7);
  });

  test('with the length 0xff run to the end of the datagram', () => {
    const text = vectors.find(({ name }) => name === 'report20-length-ff')!.hex;
    const layers = decodeWithSchema(fromHex(text), {}, 'report');
    const individuals = all(layers, 'reportV20Individual');
    expect(individuals.map(({ reportLength }) => reportLength)).toEqual([10, 255]);
    const last = layers.at(-1)!;
    expect(last.layer).toBe('payload');
    expect(last.offset + (last.value as Uint8Array).length).toBe(text.length / 2);
  });
});

test('a link header without IP is followed no further', () => {
  const frame = concat(
    ethernet.encode({ destination: '02:00:00:00:00:02', source: '02:00:00:00:00:01', etherType: 0x0806 }),
    new Uint8Array(28),
  );
  expect(decodeWithSchema(frame).map(({ layer }) => layer)).toEqual(['ethernet', 'payload']);
});
