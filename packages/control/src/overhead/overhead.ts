import { type TelemetryBytes, type TelemetryHeader, telemetryBytes } from './telemetry-bytes.js';

/** Packets that carry telemetry, and where. */
export interface WatchedFlow {
  /** The flow's name. */
  readonly name: string;
  /** Packets a second, watched or not. */
  readonly packetsPerSecond: number;
  /** 1 packet of so many is watched. */
  readonly oneIn: number;
  readonly header: TelemetryHeader;
  /** Links in the order in which packets take them, from that behind the first switch to that before the last. */
  readonly links: readonly string[];
}

/** What watching costs, in bits a second. */
export interface Overhead {
  /** By link. */
  readonly links: ReadonlyMap<string, number>;
  /** By the flow's name: on all its links together. */
  readonly flows: ReadonlyMap<string, number>;
}

/**
 * Bits a second that watching adds to a link: `B = P * (H + N * M) * 8`. The paper has a header of H = 12 bytes and M = 4 bytes for
 * each field.
 *
 * @param packetsPerSecond watched packets on the link
 * @param switches those that the packets have passed
 */
export function overheadBps(
  packetsPerSecond: number,
  switches: number,
  { headerBytes, hopBytes }: TelemetryBytes,
): number {
  return packetsPerSecond * (headerBytes + switches * hopBytes) * 8;
}

/**
 * What watching flows costs on each link, and for each flow. A packet carries what the switches before the link have pushed; the
 * last switch takes all of it away.
 *
 * @throws RangeError for a sampling below 1, or a rate that is negative or no number
 */
export function overheadOf(flows: readonly WatchedFlow[]): Overhead {
  const links = new Map<string, number>();
  const costs = new Map<string, number>();
  for (const { name, packetsPerSecond, oneIn, header, links: way } of flows) {
    if (!(oneIn >= 1)) throw new RangeError(`${name}: 1 packet of ${oneIn}`);
    if (!(packetsPerSecond >= 0 && Number.isFinite(packetsPerSecond))) {
      throw new RangeError(`${name}: ${packetsPerSecond} packets a second`);
    }
    const bytes = telemetryBytes(header);
    let sum = 0;
    for (const [at, link] of way.entries()) {
      const bps = overheadBps(packetsPerSecond / oneIn, at + 1, bytes);
      links.set(link, (links.get(link) ?? 0) + bps);
      sum += bps;
    }
    costs.set(name, (costs.get(name) ?? 0) + sum);
  }
  return { links, flows: costs };
}

/** Share of their throughput that applications lose on a full link. @param packetBytes of a packet without telemetry @param oneIn 1 packet of so many is watched @param addedBytes to a watched packet */
export function throughputLoss(packetBytes: number, oneIn: number, addedBytes: number): number {
  return 1 - (oneIn * packetBytes) / (oneIn * packetBytes + addedBytes);
}
