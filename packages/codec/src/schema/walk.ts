/** The walk's own state: which bytes, which options, what was found so far. */
import type { CodeName } from '../codes.js';
import { CodecError } from '../errors.js';
import type { GreFields } from './packet.js';
import type { HeaderSchema } from './schema.js';
import type {
  Ethernet,
  Geneve,
  GpintMeta,
  GpintProbe,
  GreShim,
  Hop,
  IntMd,
  IntMon,
  IntMx,
  IntTail,
  IntV05,
  IntV10,
  Ipv4,
  Ipv6,
  Layer,
  MplsLabel,
  ProbeMarker,
  ReportMetadata,
  ReportTlv,
  ReportV05,
  ReportV05Drop,
  ReportV05Local,
  ReportV10,
  ReportV20Group,
  ReportV20Individual,
  ReportV20Main,
  ShimV2,
  ShimV05,
  ShimV10,
  Tcp,
  Udp,
  VlanTag,
  VxlanGpe,
  VxlanGpeShimV1,
  VxlanGpeShimV2,
} from './types.js';

/** What each kind of layer holds. */
export interface SchemaValues {
  ethernet: Ethernet;
  vlanTag: VlanTag;
  mplsLabel: MplsLabel;
  ipv4: Ipv4;
  ipv6: Ipv6;
  /** An IPv6 extension header, as its next header and its bytes. */
  ipv6Extension: { type: number; nextHeader: number };
  udp: Udp;
  tcp: Tcp;
  vxlanGpe: VxlanGpe;
  geneve: Omit<Geneve, 'options'> & { optionLength: number };
  gre: GreFields;
  probeMarker: ProbeMarker;
  shimV05: ShimV05;
  shimV10: ShimV10;
  shimV2: ShimV2;
  vxlanGpeShimV1: VxlanGpeShimV1;
  vxlanGpeShimV2: VxlanGpeShimV2;
  greShim: GreShim;
  intV05: IntV05;
  intV10: IntV10;
  intMd: IntMd;
  intMx: IntMx;
  intMon: IntMon;
  /** One hop's block; the first one is the last hop. */
  hop: Hop;
  /** Source-only bytes behind the last block, or source-inserted bytes of INT-MX. */
  sourceMetadata: Uint8Array;
  intTail: IntTail;
  reportV20Group: ReportV20Group;
  reportV20Individual: ReportV20Individual;
  reportV20Main: ReportV20Main;
  reportV10: ReportV10;
  reportV05: ReportV05;
  reportV05Drop: ReportV05Drop;
  reportV05Local: ReportV05Local;
  reportMetadata: ReportMetadata;
  reportTlv: ReportTlv;
  gpintMeta: GpintMeta;
  gpintProbe: GpintProbe;
  /** Bytes behind the last header that was read. */
  payload: Uint8Array;
}

/** One header, or one block, in the order of the bytes. */
export type SchemaLayer = {
  [K in keyof SchemaValues]: {
    readonly layer: K;
    /** First byte, from the start of what was handed in. */
    readonly offset: number;
    readonly value: SchemaValues[K];
  };
}[keyof SchemaValues];

/** Bytes with an end, and the list of layers found. */
export class Walk {
  readonly bytes: Uint8Array;
  readonly layers: SchemaLayer[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Notes a layer. */
  add<K extends keyof SchemaValues>(layer: K, offset: number, value: SchemaValues[K]): void {
    this.layers.push({ layer, offset, value } as SchemaLayer);
  }

  /**
   * Reads a header that must end at or before `end`, and notes it.
   *
   * @returns its values and the offset behind it
   */
  take<K extends keyof SchemaValues, T extends SchemaValues[K]>(
    layer: K,
    description: HeaderSchema<T>,
    offset: number,
    end: number,
  ): { value: T; next: number } {
    const { value, byteLength } = description.parse(this.bytes.subarray(0, Math.min(end, this.bytes.length)), offset);
    this.add(layer, offset, value);
    return { value, next: offset + byteLength };
  }

  fail(code: CodeName, layer: Layer, offset: number, message: string): never {
    throw new CodecError(code, layer, offset, message);
  }
}
