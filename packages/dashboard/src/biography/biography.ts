import { setImmediate as breathe } from 'node:timers/promises';
import { type DecodeOptions, type DissectedField, dissect } from '@int/codec';
import { reportRecord } from '@int/collector';
import { linkTypeOf } from '@int/collector/internals';
import type { DeviceProfile, Topology } from '@int/network';
import type { Biography, EventRow, FieldNode } from '../protocol/http.js';
import { causeOf } from './cause.js';
import { HopSurroundings } from './hops.js';
import { linksOf } from './links.js';
import { isSameFlow, pathLatencyNsOf, type ReportAt, timeMsOf, timeNsOf } from './report-at.js';

/** Reports of the same flow that are listed on each side. */
const MOST_BESIDE = 50;
/** Capture link type of the payload of a report that has no link layer: LINKTYPE_USER0. */
const NO_LINK_TYPE = 147;

/** What a biography is written from. */
export interface BiographySource {
  readonly report: ReportAt;
  /** The event that leads to the report; `null`: it is looked at for itself. */
  readonly event: EventRow | null;
  /** All retained reports, newer ones before older ones. */
  readonly retained: Iterable<ReportAt>;
  /** Whether a retained report has events. */
  readonly hasEvents: (report: ReportAt) => boolean;
  /** Id of a report's flow in the table of flows. */
  readonly flowIdOf: (report: ReportAt) => string;
  readonly device: DeviceProfile;
  readonly topology: Topology;
  /** How frames are decoded; the link type is that of the batch. */
  readonly decode: DecodeOptions;
  /** The rules in force; empty if they are not known. */
  readonly rules: string;
  /** It was read from the history: which part of the reports around it. `null`: it is retained. */
  readonly past: { readonly share: number } | null;
}

/** Other work gets its turn after so long. */
const TURN_MS = 8;
/** Reports between two looks at the clock. */
const PORTION = 1024;

/**
 * How a packet got where an event found it: hop by hop, with what was usual, and with whom it shared its queues.
 * @throws the signal's reason (rejects) when it is aborted
 */
export async function biographyOf(source: BiographySource, signal: AbortSignal): Promise<Biography> {
  const { report, event, device, topology } = source;
  const surroundings = new HopSurroundings(report, device, source.flowIdOf);
  const flow: ReportAt[] = [];
  let turn = performance.now();
  let count = 0;
  for (const other of source.retained) {
    surroundings.add(other);
    const isItself = other.batch === report.batch && other.row === report.row;
    if (!isItself && isSameFlow(report, other)) flow.push(other);
    if (++count % PORTION !== 0 || performance.now() - turn < TURN_MS) continue;
    await breathe();
    signal.throwIfAborted();
    turn = performance.now();
  }
  const nameOf = (id: number): string => topology.switchName(id) ?? `switch ${id}`;
  return {
    event,
    rule: event === null ? null : causeOf(event.record, source.rules, device),
    report: reportRecord(report.batch, report.row, report.id),
    hops: surroundings.hops(causesOf(event)),
    links: linksOf(report, device, nameOf),
    ...besides(source, flow),
    ...frameOf(report, source.decode),
    ...(source.past !== null && { source: 'history', share: source.past.share }),
  };
}

/** Positions of the hops that an event is about. */
function causesOf(event: EventRow | null): Set<number> {
  const causes = new Set<number>();
  if (event === null) return causes;
  const { hop, evidence } = event.record;
  if (hop !== null) causes.add(hop);
  for (const each of evidence ?? []) if (each.hop !== null) causes.add(each.hop);
  return causes;
}

function besides(
  { report, device, hasEvents }: BiographySource,
  flow: readonly ReportAt[],
): Pick<Biography, 'before' | 'after'> {
  const times = new Map(flow.map((each) => [each, timeNsOf(each)]));
  const now = timeNsOf(report);
  const sorted = flow.toSorted((a, b) => {
    const apart = times.get(a)! - times.get(b)!;
    return apart === 0n ? 0 : apart < 0n ? -1 : 1;
  });
  const rows = (reports: readonly ReportAt[]): Biography['before'] =>
    reports.map((each) => ({
      reportId: each.id,
      timeMs: timeMsOf(each),
      pathLatencyNs: pathLatencyNsOf(each, device),
      isEvent: hasEvents(each),
    }));
  const first = sorted.findIndex((each) => times.get(each)! > now);
  const middle = first < 0 ? sorted.length : first;
  return {
    before: rows(sorted.slice(Math.max(0, middle - MOST_BESIDE), middle)),
    after: rows(sorted.slice(middle, middle + MOST_BESIDE)),
  };
}

function frameOf({ batch, row }: ReportAt, decode: DecodeOptions): Pick<Biography, 'bytes' | 'fields' | 'problems'> {
  const frame = batch.frame[row]!;
  const offset = batch.frameOffset[frame]!;
  const bytes = batch.bytes.subarray(offset, offset + batch.frameLength[frame]!);
  const linkType = batch.linkType ?? 'ethernet';
  if (bytes.length === 0) return { bytes: { hex: '', linkType: linkTypeOf(linkType) ?? NO_LINK_TYPE }, fields: [] };
  const { fields, problems } = dissect(bytes, { ...decode, linkType });
  return {
    bytes: { hex: Buffer.from(bytes).toString('hex'), linkType: linkTypeOf(linkType) ?? NO_LINK_TYPE },
    fields: fields.map(nodeOf),
    ...(problems.length > 0 && { problems }),
  };
}

function nodeOf({ name, text, offset, length, bits, children }: DissectedField): FieldNode {
  return {
    name,
    value: text,
    offset,
    length,
    ...(bits !== undefined && { bits }),
    ...(children !== undefined && { children: children.map(nodeOf) }),
  };
}
