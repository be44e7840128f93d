import { decodeFrame, decodeReport, encodeFrame, encodeReport, type Hop, type IntVersion, telemetry } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const FLOW = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 40000, destinationPort: 9000 };
/** Items that one instruction asks for, together. */
const ITEMS = {
  nodeId: fc.record({ nodeId: fc.nat(0xfffffffe) }),
  interfaces: fc.record({ l1IngressInterface: fc.nat(0xfffe), l1EgressInterface: fc.nat(0xfffe) }),
  hopLatency: fc.record({ hopLatency: fc.option(fc.nat(0xfffffffe)) }),
  queue: fc.record({ queueId: fc.nat(254), queueOccupancy: fc.nat(0xfffffe) }),
  egressTimestamp: fc.record({ egressTimestamp: fc.bigInt(0n, 0xfffffffen) }),
  egressUtilization: fc.record({ egressUtilization: fc.nat(0xfffffffe) }),
};

/** Hops that all have the same items. */
const hops: fc.Arbitrary<Hop[]> = fc
  .subarray(Object.values(ITEMS) as fc.Arbitrary<Hop>[], { minLength: 1 })
  .chain((items) =>
    fc.array(
      fc.tuple(...items).map((parts) => Object.assign({}, ...parts) as Hop),
      { minLength: 1, maxLength: 6 },
    ),
  );

describe('a record of a few words', () => {
  it('is what its bytes decode to, as a report and as a packet', () => {
    const versions = fc.constantFrom<IntVersion>('0.5', '1.0', '2');
    fc.assert(
      fc.property(hops, versions, fc.boolean(), (list, version, isReport) => {
        const record = telemetry({ flow: FLOW, hops: list, int: { version }, ...(isReport ? {} : { report: null }) });
        const [decoded, ...others] = decodeFrame(encodeFrame(record));
        expect(others).toEqual([]);
        const { ethernet: _, ...rest } = decoded!;
        expect(rest).toEqual(record);
      }),
    );
  });

  it('needs no more than a flow and hops', () => {
    const { source, destination } = FLOW;
    const record = telemetry({ flow: { source, destination }, hops: [{ nodeId: 1 }, { nodeId: 2, hopLatency: 900 }] });
    expect(record.flow).toEqual({ source, destination, protocol: 17, sourcePort: 0, destinationPort: 0 });
    expect(record.path).toEqual([1, 2]);
    expect(record.int).toMatchObject({ mode: 'md', version: '2', hopMl: 2, instructionBitmap: 0xa000 });
    expect(record.report).toMatchObject({ version: '2.0', nodeId: 2, sequence: 0, type: 'int-md' });
    const { records } = decodeReport(encodeReport(record));
    // What a hop does not say is not available.
    expect(records[0]!.hops).toEqual([
      { nodeId: 1, hopLatency: null },
      { nodeId: 2, hopLatency: 900 },
    ]);
  });

  it('is a postcard where only the reporting node says something', () => {
    for (const version of ['1.0', '2.0'] as const) {
      const record = telemetry({ flow: FLOW, report: { version, nodeId: 7, metadata: { hopLatency: 12 } } });
      expect(record.int?.mode).toBe('xd');
      const [decoded] = decodeReport(encodeReport(record)).records;
      const { ethernet: _, ...rest } = decoded!;
      expect(rest).toEqual(record);
    }
  });

  it('keeps a value of the node whose partner in the item is missing', () => {
    const alone: readonly Hop[] = [{ l1EgressInterface: 7 }, { queueId: 3 }, { l2EgressInterface: 9 }, { bufferId: 5 }];
    for (const version of ['0.5', '1.0', '2.0'] as const) {
      for (const metadata of version === '2.0' ? alone : alone.slice(0, 2)) {
        const { records } = decodeReport(encodeReport(telemetry({ flow: FLOW, report: { version, metadata } })));
        expect(records[0]?.report?.metadata, version).toMatchObject(metadata);
      }
    }
  });

  it('tells of a drop, of a plain packet, and of nothing', () => {
    const drop = telemetry({ flow: FLOW, report: { nodeId: 7, dropped: true, dropReason: 3, dropQueueId: 1 } });
    expect(drop.report?.type).toBe('drop');
    const plain = telemetry({ flow: FLOW, report: { nodeId: 7 } });
    expect(plain.report?.type).toBe('ethernet');
    for (const record of [drop, plain, telemetry()]) {
      const [decoded] = decodeReport(encodeReport(record)).records;
      const { ethernet: _, ...rest } = decoded!;
      expect(rest).toEqual(record);
    }
    expect(telemetry({ report: null }).status).toBe('not-int');
  });

  it('carries several reports in one datagram', () => {
    const records = [1, 2].map((hopLatency) => telemetry({ flow: FLOW, hops: [{ nodeId: 3, hopLatency }] }));
    expect(decodeReport(encodeReport(records)).records.map(({ hops: [hop] }) => hop?.hopLatency)).toEqual([1, 2]);
  });

  it('refuses an item that the INT version has no instruction for', () => {
    expect(() => telemetry({ hops: [{ nodeId: 1, queueCongestion: 2 }] })).toThrow(
      'no instruction of this INT version asks for queueCongestion',
    );
    expect(telemetry({ hops: [{ queueCongestion: 2 }], int: { version: '0.5' } }).int).toMatchObject({
      instructionBitmap: 0x0200,
    });
  });
});
