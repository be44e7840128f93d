import { readFileSync } from 'node:fs';
import {
  BatchDecoder,
  type DecodeOptions,
  type Domains,
  FrameDecoder,
  type Hop,
  TelemetryBatch,
  type TelemetryRecord,
} from '@int/codec';
import { describe, expect, it } from 'vitest';

interface Vector {
  name: string;
  spec: string;
  start: 'ethernet' | 'udp-payload' | 'shim';
  hex: string;
  expected: Record<string, unknown>;
  config?: { intUdpPort?: number; intDscp?: number; greProtocol?: number; dsDomains?: Record<string, Domains[number]> };
}
type Fields = Record<string, unknown>;

const vectors: Vector[] = JSON.parse(readFileSync(new URL('./vectors/spec-vectors.json', import.meta.url), 'utf8'));

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

/** The vectors' field names and ours. */
const HOP_NAMES: Record<string, keyof Hop> = {
  nodeId: 'nodeId',
  switchId: 'nodeId',
  l1Ingress: 'l1IngressInterface',
  ingressPortId: 'l1IngressInterface',
  ingressPort: 'l1IngressInterface',
  l1Egress: 'l1EgressInterface',
  egressPortId: 'l1EgressInterface',
  egressPort: 'l1EgressInterface',
  hopLatency: 'hopLatency',
  queueId: 'queueId',
  queueOccupancy: 'queueOccupancy',
  qOccupancy: 'queueOccupancy',
  ingressTs: 'ingressTimestamp',
  egressTs: 'egressTimestamp',
  l2Ingress: 'l2IngressInterface',
  l2Egress: 'l2EgressInterface',
  txUtilization: 'egressUtilization',
  bufferId: 'bufferId',
  bufferOccupancy: 'bufferOccupancy',
  checksumComplement: 'checksumComplement',
  congQueueId: 'congestionQueueId',
  queueCongestion: 'queueCongestion',
  qCongestion: 'queueCongestion',
};

/** Compares every field a vector gives for a hop; numbers, 0x strings and null alike. */
function expectHop(actual: Hop | undefined, expected: Fields, where: string): void {
  for (const [key, value] of Object.entries(expected)) {
    const name = HOP_NAMES[key];
    expect(name, `${where}: no field for ${key}`).toBeDefined();
    const field = actual?.[name!];
    expect(field, `${where} ${key}`).not.toBeUndefined();
    expect(field === null ? null : BigInt(field as number | bigint), `${where} ${key}`).toEqual(
      value === null ? null : BigInt(value as number | string),
    );
  }
}

/** Hops in the vectors are in wire order: the last hop first. */
function expectHops(record: TelemetryRecord, expected: Fields[], where: string): void {
  expect(record.hops.length, `${where} hops`).toBe(expected.length);
  expected.forEach((hop, k) => {
    expectHop(record.hops[expected.length - 1 - k], hop, `${where} hop ${k}`);
  });
}

function expectInt(record: TelemetryRecord, expected: Fields, where: string): void {
  const int = record.int;
  if (int === null || int.mode === 'gpint') throw new Error(`${where}: no INT`);
  const actual: Fields = {
    kind: int.mode === 'mx' ? 'MX' : int.version === '2' ? 'MD' : 'HBH',
    version: { '0.5': 0, '1.0': 1, '2': 2, '2016': 0, intmon: 0 }[int.version],
    ver: 0,
    d: Number(int.discard),
    e: Number(int.hopExceeded),
    m: Number(int.mtuExceeded),
    hopML: int.hopMl,
    insCnt: int.hopMl,
    remainingHopCount: int.remainingHopCount,
    totalHopCount: record.hops.length,
    maxHopCount: record.hops.length + (int.remainingHopCount ?? 0),
    instructions: `0x${int.instructionBitmap.toString(16).padStart(4, '0')}`,
    dsId: int.domainId,
    dsInstructions: int.domainInstructions,
    dsFlags: int.domainFlags,
    origDstPort: record.flow?.destinationPort,
  };
  // Fields of the header that the model leaves out on purpose: replication bits, ONOS's O bit, a length in bytes.
  const omitted = ['rep', 'c', 'o', 'intLen'];
  for (const [key, value] of Object.entries(expected)) {
    if (!omitted.includes(key)) expect(actual[key], `${where} int.${key}`).toEqual(value);
  }
}

const KINDS: Record<string, unknown> = { MD: 'md', MX: 'mx', HBH: 'md' };

function expectReport(record: TelemetryRecord, expected: Fields, group: Fields, where: string): void {
  const report = record.report!;
  expect(report.hwId, `${where} hwId`).toBe(group.hwId);
  expect(report.sequence, `${where} seq`).toBe(group.seq);
  if (group.nodeId !== undefined) expect(report.nodeId).toBe(group.nodeId);
  if (group.switchId !== undefined) expect(report.nodeId).toBe(group.switchId);
  const flags = { d: report.dropped, q: report.queueCongested, f: report.trackedFlow, i: report.intermediate };
  for (const [key, value] of Object.entries(flags)) {
    if (expected[key] !== undefined) expect(Number(value), `${where} ${key}`).toBe(expected[key]);
  }
  if (expected.ingressTs !== undefined) expect(report.ingressTimestamp).toBe(BigInt(expected.ingressTs as number));
  const own = (expected.md ?? expected.drop ?? expected.local) as Fields | undefined;
  if (own !== undefined) {
    const { switchId, dropReason, dropQueueId, ...rest } = own;
    if (switchId !== undefined) expect(report.nodeId).toBe(switchId);
    if (dropReason !== undefined) expect(report.dropReason).toBe(dropReason);
    if (dropQueueId !== undefined) expect(report.dropQueueId).toBe(dropQueueId);
    if (expected.drop !== undefined) {
      // The drop header's queue belongs to the drop.
      expect(report.dropQueueId).toBe(rest.queueId);
      delete rest.queueId;
    }
    expectHop(report.metadata, rest, `${where} metadata`);
  }
  if (expected.dsMdHex) expect(Buffer.from(report.metadata.domain ?? []).toString('hex')).toBe(expected.dsMdHex);
  if (expected.tlvs !== undefined) {
    expect(
      report.tlvs?.map(({ type, template, data }) => ({
        type,
        length: data.length / 4,
        template,
        dataHex: Buffer.from(data).toString('hex'),
      })),
    ).toEqual(expected.tlvs);
  }
  const inner = (expected.inner ?? expected.innerInt) as Fields | undefined;
  if (inner?.int !== undefined) expectInt(record, inner.int as Fields, where);
  if (inner?.hops !== undefined) expectHops(record, inner.hops as Fields[], where);
}

function optionsOf(vector: Vector): DecodeOptions {
  const { intUdpPort, intDscp, greProtocol, dsDomains } = vector.config ?? {};
  return {
    linkType: vector.start === 'udp-payload' ? 'report' : 'ethernet',
    ...(intUdpPort === undefined ? {} : { intPorts: [intUdpPort] }),
    ...(intDscp === undefined ? {} : { intDscp: { value: intDscp, mask: 0x3f } }),
    ...(greProtocol === undefined ? {} : { greProtocol }),
    ...(dsDomains === undefined
      ? {}
      : { domains: Object.fromEntries(Object.entries(dsDomains).map(([id, items]) => [Number(id), items])) }),
    ...(vector.name === 'legacy2016-intmon-udp' ? { profile: 'intmon' as const } : {}),
  };
}

/** A vector that starts at the shim is put behind Ethernet, IPv4 and a UDP header to the INT port. */
function frameOf(vector: Vector): Uint8Array {
  const bytes = bytesOf(vector.hex);
  if (vector.start !== 'shim') return bytes;
  const head = bytesOf('020000000002020000000001080045000000000040003d1100000a0001010a0002029c40138800000000');
  const frame = new Uint8Array(head.length + bytes.length);
  frame.set(head);
  frame.set(bytes, head.length);
  const view = new DataView(frame.buffer);
  view.setUint16(16, frame.length - 14);
  view.setUint16(38, frame.length - 34);
  return frame;
}

describe('worked examples of the specifications', () => {
  it('are all there', () => {
    expect(vectors.length).toBe(26);
  });

  for (const vector of vectors) {
    it(`${vector.name} (${vector.spec})`, () => {
      const options = optionsOf(vector);
      const frame = frameOf(vector);
      const records = new FrameDecoder(options).decode(frame);
      const { expected } = vector;
      if (vector.name.startsWith('rocev2')) {
        // A plain RDMA packet: neither report nor INT. Its own headers are tested with the RoCEv2 codecs.
        expect(records.map((record) => record.status)).toEqual(['not-int']);
        return;
      }
      for (const record of records) expect(record).toMatchObject({ status: 'ok', error: null });
      if (Array.isArray(expected.reports)) {
        expect(records.length).toBe(expected.reports.length);
        records.forEach((record, k) => {
          expectReport(record, (expected.reports as Fields[])[k]!, expected, `report ${k}`);
        });
      } else if (vector.start === 'udp-payload') {
        expectReport(records[0]!, expected, expected, 'report');
      } else if (expected.report !== undefined) {
        expectReport(
          records[0]!,
          { ...(expected.report as Fields), inner: expected.inner },
          expected.report as Fields,
          '',
        );
      } else {
        const record = records[0]!;
        expectInt(record, expected.int as Fields, vector.name);
        if (expected.hops !== undefined) expectHops(record, expected.hops as Fields[], vector.name);
        const int = record.int;
        if (int === null || int.mode === 'gpint') throw new Error('no INT');
        if ((expected.int as Fields).kind !== undefined)
          expect(int.mode).toBe(KINDS[(expected.int as Fields).kind as string]);
        const source = expected.sourceOnlyHex ?? expected.sourceInsertedHex;
        if (source !== undefined) expect(Buffer.from(int.sourceMetadata ?? []).toString('hex')).toBe(source);
        const shim = expected.shim as Fields | undefined;
        if (shim?.origDstPort !== undefined) expect(record.flow?.destinationPort).toBe(shim.origDstPort);
        if (shim?.origIpProto !== undefined) expect(record.flow?.protocol).toBe(shim.origIpProto);
        const tcp = (expected.inner as Fields | undefined)?.tcp as Fields | undefined;
        if (tcp !== undefined) {
          expect(record.flow).toMatchObject({ sourcePort: tcp.srcPort, destinationPort: tcp.dstPort });
        }
      }
    });

    it(`${vector.name}: checksums are found right where the vector says so`, () => {
      const [record] = new FrameDecoder({ ...optionsOf(vector), verifyChecksums: true }).decode(frameOf(vector));
      const text = JSON.stringify(vector.expected);
      if (vector.start === 'ethernet' && text.includes('"checksumOk":true')) {
        expect(record!.error).toBeNull();
      } else {
        expect(text).not.toContain('"checksumOk":false');
      }
    });

    it(`${vector.name}: columns say the same as objects`, () => {
      const options = optionsOf(vector);
      const frame = frameOf(vector);
      const records = new FrameDecoder(options).decode(frame).filter((record) => record.report ?? record.int);
      const batch = new TelemetryBatch({ frames: 4 });
      expect(
        new BatchDecoder(options).decode(batch, {
          bytes: frame,
          offsets: Uint32Array.of(0),
          lengths: Uint32Array.of(frame.length),
        }),
      ).toBe(1);
      expect(batch.reports).toBe(records.length);
      records.forEach((record, row) => {
        const view = batch.record(row);
        expect(view.flow).toEqual(record.flow);
        expect(view.hopCount).toBe(record.hops.length);
        record.hops.forEach((hop, k) => {
          const cells = view.hop(k);
          expect(cells.nodeId).toBe(hop.nodeId ?? null);
          expect(cells.hopLatency).toBe(hop.hopLatency ?? null);
          expect(cells.queueOccupancy).toBe(hop.queueOccupancy ?? null);
          expect(cells.egressTimestamp).toBe(hop.egressTimestamp ?? null);
        });
      });
    });
  }
});
