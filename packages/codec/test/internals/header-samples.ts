/** Arbitrary values of every header, for the property tests of the header codecs and of the schema. */

import fc from 'fast-check';
import { formatIpv4, formatIpv6, formatMac } from '../../src/address.js';
import {
  bth,
  ethernet,
  type GeneveOption,
  type GpintProbe,
  gpintMeta,
  gpintProbe,
  gpintProbeExtended,
  type HeaderCodec,
  intMd,
  ipv4,
  ipv6,
  probeMarker,
  reportV20Group,
  reportV20Individual,
  reportV20Main,
  reth,
  type ShimV2,
  shimV2,
  udp,
} from '../../src/headers/index.js';
import { int2016, intMon, intMx, intV05, intV10 } from '../../src/headers/int.js';
import { ipv6Fragment, ipv6Options, ipv6Routing } from '../../src/headers/ip.js';
import { mplsLabel, vlanTag } from '../../src/headers/link.js';
import { reportTlv, reportV05, reportV05Drop, reportV05Local, reportV10 } from '../../src/headers/report.js';
import { aeth, atomicEth, immDt } from '../../src/headers/roce.js';
import { greShim, intTail, shimV05, shimV10, vxlanGpeShimV1, vxlanGpeShimV2 } from '../../src/headers/shim.js';
import { tcp } from '../../src/headers/transport.js';
import { geneve, geneveOption, gre, vxlanGpe } from '../../src/headers/tunnels.js';

/** Fixed, so that a run can be repeated; `INT_SEED` gives another. */
export const SEED = Number(process.env.INT_SEED ?? 20_210_311);
fc.configureGlobal({ seed: SEED });

/** An integer of `width` bits, small and large values more often than others. */
export const bits = (width: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 2 ** width - 1 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 2 ** width - 1) },
  );
const flag = fc.boolean();
const u8 = bits(8);
const u16 = bits(16);
const u24 = bits(24);
const u32 = bits(32);
const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });

/** Raw bytes: `rest` more than a multiple of `multiple`, at most `maximum`. */
const raw = (multiple: number, maximum: number, rest = 0): fc.Arbitrary<Uint8Array> =>
  fc
    .integer({ min: 0, max: (maximum - rest) / multiple })
    .chain((count) => fc.uint8Array({ minLength: count * multiple + rest, maxLength: count * multiple + rest }));

export const mac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => formatMac(bytes));
export const ipv4Text = u32.map(formatIpv4);
/** Groups are often zero, so that every form of `::` occurs. */
const group = fc.oneof(fc.constant(0), u16);
export const ipv6Words = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((g): [number, number, number, number] => [
    ((g[0]! << 16) | g[1]!) >>> 0,
    ((g[2]! << 16) | g[3]!) >>> 0,
    ((g[4]! << 16) | g[5]!) >>> 0,
    ((g[6]! << 16) | g[7]!) >>> 0,
  ]);
export const ipv6Text = ipv6Words.map((words) => formatIpv6(...words));

const type4 = bits(4);
const shimCommon = { type: type4, reserved: bits(2), length: u8 };
const arbitraryShimV2: fc.Arbitrary<ShimV2> = fc.oneof(
  fc.record({ ...shimCommon, npt: fc.constant(0 as const), reserved2: u8, dscp: bits(6), reserved3: bits(2) }),
  fc.record({ ...shimCommon, npt: fc.constant(1 as const), destinationPort: u16 }),
  fc.record({ ...shimCommon, npt: fc.constant(2 as const), reserved2: u8, protocol: u8 }),
  fc.record({ ...shimCommon, npt: fc.constant(3 as const), value: u16 }),
);

const arbitraryGeneveOption: fc.Arbitrary<GeneveOption> = fc.record({
  optionClass: u16,
  type: u8,
  reserved: bits(3),
  data: raw(4, 124),
});

const shared2016 = {
  version: bits(2),
  replication: bits(2),
  copy: flag,
  hopExceeded: flag,
  instructionCount: bits(5),
  maxHopCount: u8,
  totalHopCount: u8,
  instructionBitmap: u16,
  reserved2: u16,
};

const arbitraryProbe = (width: number): fc.Arbitrary<GpintProbe> =>
  fc
    .record({
      requestId: bits(15),
      type: fc.constantFrom('rule-hits' as const, 'port-packets' as const),
      route: fc.array(fc.record({ nextPort: bits(width), firstMeasurement: u8, measurementCount: u8 }), {
        maxLength: 8,
      }),
      switches: fc.array(
        fc.record({
          switchId: bits(width),
          queueDepth: bits(width),
          measurementCount: fc.integer({ min: 0, max: 6 }),
        }),
        { maxLength: 8 },
      ),
      seed: u32,
    })
    .map(({ seed, ...probe }) => {
      const count = probe.switches.reduce((sum, item) => sum + item.measurementCount, 0);
      return { ...probe, measurements: Array.from({ length: count }, (_, index) => (seed + index * 0x9e3779b9) >>> 0) };
    });

/** A codec with arbitrary values for it. */
export interface Sample<T> {
  readonly name: string;
  readonly codec: HeaderCodec<T>;
  readonly arbitrary: fc.Arbitrary<T>;
}

const sample = <T>(name: string, codec: HeaderCodec<T>, arbitrary: fc.Arbitrary<T>): Sample<T> => ({
  name,
  codec,
  arbitrary,
});

export const SAMPLES = {
  ethernet: sample('ethernet', ethernet, fc.record({ destination: mac, source: mac, etherType: u16 })),
  vlanTag: sample(
    'vlanTag',
    vlanTag,
    fc.record({ priority: bits(3), dropEligible: flag, vlanId: bits(12), etherType: u16 }),
  ),
  mplsLabel: sample(
    'mplsLabel',
    mplsLabel,
    fc.record({ label: bits(20), trafficClass: bits(3), bottomOfStack: flag, timeToLive: u8 }),
  ),
  ipv4: sample(
    'ipv4',
    ipv4,
    fc.record({
      dscp: bits(6),
      ecn: bits(2),
      totalLength: u16,
      identification: u16,
      reserved: flag,
      dontFragment: flag,
      moreFragments: flag,
      fragmentOffset: bits(13),
      timeToLive: u8,
      protocol: u8,
      headerChecksum: u16,
      source: ipv4Text,
      destination: ipv4Text,
      options: raw(4, 40),
    }),
  ),
  ipv6: sample(
    'ipv6',
    ipv6,
    fc.record({
      dscp: bits(6),
      ecn: bits(2),
      flowLabel: bits(20),
      payloadLength: u16,
      nextHeader: u8,
      hopLimit: u8,
      source: ipv6Text,
      destination: ipv6Text,
    }),
  ),
  ipv6Options: sample('ipv6Options', ipv6Options, fc.record({ nextHeader: u8, options: raw(8, 62, 6) })),
  ipv6Routing: sample(
    'ipv6Routing',
    ipv6Routing,
    fc.record({ nextHeader: u8, routingType: u8, segmentsLeft: u8, data: raw(8, 60, 4) }),
  ),
  ipv6Fragment: sample(
    'ipv6Fragment',
    ipv6Fragment,
    fc.record({
      nextHeader: u8,
      reserved: u8,
      fragmentOffset: bits(13),
      reserved2: bits(2),
      moreFragments: flag,
      identification: u32,
    }),
  ),
  udp: sample('udp', udp, fc.record({ sourcePort: u16, destinationPort: u16, length: u16, checksum: u16 })),
  tcp: sample(
    'tcp',
    tcp,
    fc.record({
      sourcePort: u16,
      destinationPort: u16,
      sequenceNumber: u32,
      acknowledgementNumber: u32,
      reserved: bits(4),
      flags: u8,
      window: u16,
      checksum: u16,
      urgentPointer: u16,
      options: raw(4, 40),
    }),
  ),
  vxlanGpe: sample(
    'vxlanGpe',
    vxlanGpe,
    fc.record({
      reserved: bits(2),
      version: bits(2),
      vniValid: flag,
      nextProtocolValid: flag,
      bumTraffic: flag,
      oam: flag,
      reserved2: u16,
      nextProtocol: u8,
      vni: u24,
      reserved3: u8,
    }),
  ),
  geneveOption: sample('geneveOption', geneveOption, arbitraryGeneveOption),
  geneve: sample(
    'geneve',
    geneve,
    fc.record({
      version: bits(2),
      control: flag,
      critical: flag,
      reserved: bits(6),
      protocolType: u16,
      vni: u24,
      reserved2: u8,
      options: fc.array(arbitraryGeneveOption, { maxLength: 4 }).map((options) => {
        let room = 252;
        return options.filter(({ data }) => {
          const fits = data.length + 4 <= room;
          if (fits) room -= data.length + 4;
          return fits;
        });
      }),
    }),
  ),
  gre: sample(
    'gre',
    gre,
    fc
      .record({
        reserved: bits(9),
        protocolType: u16,
        checksum: fc.option(u16),
        reserved2: u16,
        key: fc.option(u32),
        sequenceNumber: fc.option(u32),
      })
      .map((value) => (value.checksum === null ? { ...value, reserved2: 0 } : value)),
  ),
  shimV05: sample('shimV05', shimV05, fc.record({ type: u8, reserved: u8, length: u8, reserved2: u8 })),
  shimV10: sample(
    'shimV10',
    shimV10,
    fc.record({ type: u8, reserved: u8, length: u8, dscp: bits(6), reserved2: bits(2) }),
  ),
  shimV2: sample('shimV2', shimV2, arbitraryShimV2),
  vxlanGpeShimV1: sample(
    'vxlanGpeShimV1',
    vxlanGpeShimV1,
    fc.record({ type: u8, reserved: u8, length: u8, nextProtocol: u8 }),
  ),
  vxlanGpeShimV2: sample(
    'vxlanGpeShimV2',
    vxlanGpeShimV2,
    fc.record({
      type: type4,
      reserved: bits(4),
      length: u8,
      inserted: flag,
      reserved2: bits(7),
      nextProtocol: u8,
    }),
  ),
  greShim: sample(
    'greShim',
    greShim,
    fc.record({ type: type4, inserted: flag, reserved: bits(3), length: u8, nextProtocol: u16 }),
  ),
  intTail: sample('intTail', intTail, fc.record({ protocol: u8, destinationPort: u16, dscp: u8 })),
  probeMarker: sample('probeMarker', probeMarker, fc.record({ value: u64 })),
  intV05: sample(
    'intV05',
    intV05,
    fc.record({
      replication: bits(2),
      copy: flag,
      hopExceeded: flag,
      reserved: bits(3),
      instructionCount: bits(5),
      maxHopCount: u8,
      totalHopCount: u8,
      instructionBitmap: u16,
      reserved2: u16,
    }),
  ),
  intV10: sample(
    'intV10',
    intV10,
    fc.record({
      replication: bits(2),
      copy: flag,
      hopExceeded: flag,
      mtuExceeded: flag,
      reserved: bits(10),
      hopMl: bits(5),
      remainingHopCount: u8,
      instructionBitmap: u16,
      reserved2: u16,
    }),
  ),
  intMd: sample(
    'intMd',
    intMd,
    fc.record({
      discard: flag,
      hopExceeded: flag,
      mtuExceeded: flag,
      reserved: bits(12),
      hopMl: bits(5),
      remainingHopCount: u8,
      instructionBitmap: u16,
      domainId: u16,
      domainInstructions: u16,
      domainFlags: u16,
    }),
  ),
  intMx: sample(
    'intMx',
    intMx,
    fc.record({
      discard: flag,
      reserved: bits(27),
      instructionBitmap: u16,
      domainId: u16,
      domainInstructions: u16,
      domainFlags: u16,
    }),
  ),
  int2016: sample('int2016', int2016, fc.record({ ...shared2016, reserved: bits(5) })),
  intMon: sample(
    'intMon',
    intMon,
    fc.record({ ...shared2016, sentToController: flag, reserved: bits(4), intLength: u16, destinationPort: u16 }),
  ),
  reportV20Group: sample(
    'reportV20Group',
    reportV20Group,
    fc.record({ hwId: bits(6), sequence: bits(22), nodeId: u32 }),
  ),
  reportV20Individual: sample(
    'reportV20Individual',
    reportV20Individual,
    fc.record({
      reportType: type4,
      innerType: type4,
      reportLength: u8,
      metadataLength: u8,
      dropped: flag,
      queueCongested: flag,
      trackedFlow: flag,
      intermediate: flag,
      reserved: bits(4),
    }),
  ),
  reportV20Main: sample(
    'reportV20Main',
    reportV20Main,
    fc.record({ metadataBits: u16, domainId: u16, domainMetadataBits: u16, domainMetadataStatus: u16 }),
  ),
  reportTlv: sample(
    'reportTlv',
    reportTlv,
    fc.record({ type: type4, reserved: bits(4), template: u16, data: raw(4, 60) }),
  ),
  reportV10: sample(
    'reportV10',
    reportV10,
    fc.record({
      version: type4,
      length: type4,
      nextProtocol: bits(3),
      metadataBits: bits(6),
      reserved: bits(6),
      dropped: flag,
      queueCongested: flag,
      trackedFlow: flag,
      hwId: bits(6),
      switchId: u32,
      sequence: u32,
      ingressTimestamp: u32,
    }),
  ),
  reportV05: sample(
    'reportV05',
    reportV05,
    fc.record({
      version: type4,
      nextProtocol: type4,
      dropped: flag,
      queueCongested: flag,
      trackedFlow: flag,
      reserved: bits(15),
      hwId: bits(6),
      sequence: u32,
      ingressTimestamp: u32,
    }),
  ),
  reportV05Drop: sample(
    'reportV05Drop',
    reportV05Drop,
    fc.record({ switchId: u32, ingressPort: u16, egressPort: u16, queueId: u8, dropReason: u8, padding: u16 }),
  ),
  reportV05Local: sample(
    'reportV05Local',
    reportV05Local,
    fc.record({
      switchId: u32,
      ingressPort: u16,
      egressPort: u16,
      queueId: u8,
      queueOccupancy: u24,
      egressTimestamp: u32,
    }),
  ),
  bth: sample(
    'bth',
    bth,
    fc.record({
      opcode: u8,
      solicitedEvent: flag,
      migrated: flag,
      padCount: bits(2),
      transportVersion: type4,
      partitionKey: u16,
      fecn: flag,
      becn: flag,
      reserved: bits(6),
      destinationQp: u24,
      acknowledgeRequest: flag,
      reserved2: bits(7),
      psn: u24,
    }),
  ),
  reth: sample('reth', reth, fc.record({ virtualAddress: u64, remoteKey: u32, dmaLength: u32 })),
  atomicEth: sample(
    'atomicEth',
    atomicEth,
    fc.record({ virtualAddress: u64, remoteKey: u32, swapOrAdd: u64, compare: u64 }),
  ),
  aeth: sample('aeth', aeth, fc.record({ syndrome: u8, msn: u24 })),
  immDt: sample('immDt', immDt, fc.record({ value: u32 })),
  gpintMeta: sample(
    'gpintMeta',
    gpintMeta,
    fc.record({ requestId: fc.nat(0x7fff), type: fc.constantFrom('rule-hits', 'port-packets') }),
  ),
  gpintProbe: sample('gpintProbe', gpintProbe, arbitraryProbe(8)),
  gpintProbeExtended: sample('gpintProbeExtended', gpintProbeExtended, arbitraryProbe(16)),
} as const;
