import { type Flow, isMetricName, type MetricName } from '@int/codec';
import {
  type CacheGeometry,
  EntryReader,
  EVENT_WORDS,
  type FlowEntry,
  type FlowEvent,
  type FlowEventKind,
  geometryOf,
  REASONS,
  type Reason,
  readFlowEvent,
} from '@int/flowcache';
import { LAYOUTS } from '@int/flowcache/internals';
import { parseFlowText } from './keys.js';
import { WHOLE_PATH } from './record/event-text.js';

/** Fields of a hash or of a stream entry, in the form of a Redis client. */
export type StoredFields = Readonly<Record<string, string | undefined>>;

/** Statistics of a metric over all entries of a flow. */
export interface StoredStatistics {
  /** `null` if the last report lacked it. */
  readonly last: number | null;
  readonly mean: number;
  readonly count: bigint;
  /** Exact sum of any size; `null` if entries came from a compact cache. */
  readonly sum: bigint | null;
}

/** A position on the path of a {@link StoredFlow}. */
export interface StoredHop {
  readonly nodeId: number | null;
  readonly metrics: { readonly [K in MetricName]?: StoredStatistics };
}

/** The merged entries of a flow written so far. */
export interface StoredFlow {
  readonly flow: Flow;
  /** Reason of the last entry. */
  readonly reason: Reason;
  /** Number of merged entries. */
  readonly entries: bigint;
  readonly packets: bigint;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly pathChanges: bigint;
  /** Path length of the last entry, and the switches of its path. */
  readonly pathLength: number;
  readonly path: readonly (number | null)[];
  readonly hopsBeyond: bigint | null;
  readonly endToEnd: StoredStatistics | null;
  readonly hops: readonly StoredHop[];
}

const KINDS: readonly string[] = ['threshold', 'change', 'pathChange'] satisfies FlowEventKind[];

function text(fields: StoredFields, name: string): string {
  const value = fields[name];
  if (value === undefined) throw new SyntaxError(`there is no field '${name}'`);
  return value;
}

function bigint(fields: StoredFields, name: string): bigint {
  const value = text(fields, name);
  if (!/^\d+$/.test(value))
    throw new SyntaxError(`field '${name}' is no number: ${JSON.stringify(value.slice(0, 64))}`);
  return BigInt(value);
}

/** A number of 32 bits; empty is `null`. */
function number(fields: StoredFields, name: string): number | null {
  return text(fields, name) === '' ? null : Number(bigint(fields, name));
}

function needed(fields: StoredFields, name: string): number {
  return Number(bigint(fields, name));
}

/**
 * Reads an event from the fields of its stream entry, in the form `fields`.
 * @throws SyntaxError if these are not the fields of an event
 */
export function readStoredEvent(fields: StoredFields): FlowEvent {
  const kinds = text(fields, 'kinds').split(',');
  const metric = text(fields, 'metric');
  const isChange = metric === WHOLE_PATH.CHANGE;
  const isWhole = isChange || metric === WHOLE_PATH.LATENCY;
  if (!kinds.every((kind) => KINDS.includes(kind))) throw new SyntaxError(`unknown kinds '${kinds.join(',')}'`);
  if (!isWhole && !isMetricName(metric)) throw new SyntaxError(`unknown metric '${metric}'`);
  return {
    kinds: kinds as FlowEventKind[],
    scope: isWhole ? 'endToEnd' : 'hop',
    metric: isChange ? null : isWhole ? 'hopLatency' : (metric as MetricName),
    hop: number(fields, 'hop'),
    nodeId: number(fields, 'node'),
    value: needed(fields, 'value'),
    previous: number(fields, 'previous'),
    threshold: number(fields, 'threshold'),
    timeNs: bigint(fields, 'time'),
    flow: parseFlowText(text(fields, 'flow')),
  };
}

function statistics(fields: StoredFields, name: string): StoredStatistics | null {
  const value = fields[name];
  if (value === undefined) return null;
  const [, last, mean, count, sum] = /^(\d+|-) (\S+) (\d+) (\d+|-)$/.exec(value) ?? [];
  if (count === undefined || !Number.isFinite(Number(mean))) {
    throw new SyntaxError(`field '${name}' is no statistics: ${JSON.stringify(value.slice(0, 64))}`);
  }
  return {
    last: last === '-' ? null : Number(last),
    mean: Number(mean),
    count: BigInt(count),
    sum: sum === '-' || sum === undefined ? null : BigInt(sum),
  };
}

function hopOf(fields: StoredFields, hop: number): StoredHop {
  const start = `hop.${hop}.`;
  const names = Object.keys(fields)
    .filter((name) => name.startsWith(start))
    .map((name) => name.slice(start.length))
    .filter(isMetricName)
    .map((metric) => [metric, statistics(fields, start + metric)] as const);
  return { nodeId: number(fields, `${start}node`), metrics: Object.fromEntries(names) };
}

/**
 * Reads the hash of a flow, or of its live entry.
 * @param flow the hash's key, or its part that names the flow
 * @throws SyntaxError if these are not the fields of such a hash
 */
export function readStoredFlow(flow: string, fields: StoredFields): StoredFlow {
  const name = /(?:^|:(?:flow|live):)((?:\[[^\]]*\]|[\d.]+):\d+-.*)$/.exec(flow)?.[1] ?? flow;
  const pathLength = needed(fields, 'pathLength');
  const path = pathLength === 0 ? [] : text(fields, 'path').split(',');
  const hops: StoredHop[] = [];
  while (fields[`hop.${hops.length}.node`] !== undefined) hops.push(hopOf(fields, hops.length));
  const reason = REASONS.find((each) => each === fields.reason);
  if (reason === undefined) throw new SyntaxError(`unknown reason '${fields.reason}'`);
  return {
    flow: parseFlowText(name),
    reason,
    entries: bigint(fields, 'entries'),
    packets: bigint(fields, 'packets'),
    firstNs: bigint(fields, 'first'),
    lastNs: bigint(fields, 'last'),
    pathChanges: bigint(fields, 'pathChanges'),
    pathLength,
    path: path.map((node) => (node === '' ? null : Number(node))),
    hopsBeyond: fields.hopsBeyond === undefined ? null : bigint(fields, 'hopsBeyond'),
    endToEnd: statistics(fields, 'endToEnd'),
    hops,
  };
}

/** Fields of a stream entry in the form `packed`. `records` are bytes, which a client must not decode as text. */
export type PackedFields = Readonly<Record<string, string | Uint8Array | undefined>>;

interface Packed {
  readonly words: Int32Array;
  readonly geometry: CacheGeometry;
  readonly count: number;
}

function unpack(fields: PackedFields, wordsOf: (geometry: CacheGeometry) => number): Packed {
  const { records } = fields;
  if (!(records instanceof Uint8Array)) throw new SyntaxError("field 'records' must be bytes");
  const plain = (name: string): string => {
    const value = fields[name];
    if (value === undefined) throw new SyntaxError(`there is no field '${name}'`);
    return typeof value === 'string' ? value : new TextDecoder().decode(value);
  };
  const layout = LAYOUTS.find((each) => each === plain('layout'));
  const metrics = plain('metrics').split(',').filter(isMetricName);
  if (layout === undefined) throw new SyntaxError(`unknown layout '${plain('layout')}'`);
  const geometry = geometryOf({ rows: 1, buckets: 1, layout, hops: Number(plain('hops')), metrics });
  const count = Number(plain('count'));
  const recordWords = wordsOf(geometry);
  if (records.length !== count * recordWords * 4) {
    throw new SyntaxError(`${records.length} bytes are not ${count} records of ${recordWords} words`);
  }
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  return {
    words: Int32Array.from({ length: records.length / 4 }, (_, k) => view.getInt32(4 * k, true)),
    geometry,
    count,
  };
}

/** Reads the events of a stream entry in the form `packed`. @throws SyntaxError if the fields are not of this form */
export function readPackedEvents(fields: PackedFields): FlowEvent[] {
  const { count, geometry, words } = unpack(fields, () => EVENT_WORDS);
  return Array.from({ length: count }, (_, k) => readFlowEvent(words, k * EVENT_WORDS, geometry.metrics));
}

/**
 * Reads the flow entries of a stream entry in the form `packed`.
 * @throws SyntaxError if the fields are not of this form
 */
export function readPackedEntries(fields: PackedFields): FlowEntry[] {
  const { count, geometry, words } = unpack(fields, ({ bucketStride }) => bucketStride);
  const reader = new EntryReader(geometry);
  return Array.from({ length: count }, (_, k) => reader.read(words, k * geometry.bucketStride));
}
