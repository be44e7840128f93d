/** flowcache.p4 as a switch, its registers as words of @int/flowcache, and what it sends as records of it. */
import { type CacheGeometry, EVENT_WORDS, EXACT, geometryOf } from '@int/flowcache';
import { hopWords } from '@int/flowcache/internals';
import { programPath } from '@int/p4';
import { createSwitch, type V1Switch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { IN, OUT, run, SetClock } from './int-switch.js';
import { undefinedOptions } from './undefined/options.js';

export const METRICS = ['hopLatency', 'queueOccupancy', 'egressUtilization'] as const;
const REGISTERS = ['hop_latency', 'queue_occupancy', 'egress_utilization'] as const;

/** Ports of what takes reports, entries and events. */
export const REPORTS = 7;
export const ENTRIES = 8;
export const EVENTS = 9;
export const SINK_ID = 5;

/** Bytes in front of the export header. */
const IP_UDP = 14 + 20 + 8;
const EXPORT = 12;
const LAST_TOTAL = 16;

export interface Dimensions {
  readonly rows: number;
  readonly buckets: number;
  readonly hops: number;
}

const dimensions = ({ rows, buckets, hops }: Dimensions): Record<string, string> => ({
  FLOWCACHE_ROWS: String(rows),
  FLOWCACHE_BUCKETS: String(buckets),
  FLOWCACHE_HOPS: String(hops),
});

/** What a sink that keeps a flow cache is told. */
function sinkCommands(reports = true): string[] {
  return [
    `table_set_default IntEgress.node IntEgress.set_node ${SINK_ID}`,
    `table_set_default IntIngress.forward_ipv4 IntIngress.forward ${OUT}`,
    `table_set_default IntIngress.forward_ipv6 IntIngress.forward ${OUT}`,
    `table_add IntEgress.port IntEgress.set_port ${OUT} => 1 0 0xffffff 0 0xffffffff`,
    ...(reports
      ? [
          `mirroring_add 97 ${REPORTS}`,
          'table_set_default IntEgress.reports IntEgress.set_session 97',
          `table_add IntReport.collector IntReport.send ${REPORTS} => 0 02:00:00:00:00:05 02:00:00:00:00:97 10.0.9.5 10.0.9.7 50000 32766 3 900`,
        ]
      : []),
    `mirroring_add 98 ${ENTRIES}`,
    `mirroring_add 99 ${EVENTS}`,
    'table_set_default FlowCache.exports FlowCache.set_sessions 98 99',
    `table_add FlowCacheExport.collector FlowCacheExport.send ${ENTRIES} => 1 02:00:00:00:00:05 02:00:00:00:00:98 10.0.9.5 10.0.9.8 50001 32800`,
    `table_add FlowCacheExport.collector FlowCacheExport.send ${EVENTS} => 2 02:00:00:00:00:05 02:00:00:00:00:99 10.0.9.5 10.0.9.9 50002 32801`,
  ];
}

export class FlowCacheSwitch {
  readonly machine: V1Switch;
  readonly clock = new SetClock();
  readonly geometry: CacheGeometry;

  constructor(size: Dimensions, reports = true) {
    const program = loadProgram(programPath('flowcache'), { defines: dimensions(size) });
    this.machine = createSwitch(program, { clock: this.clock, ...undefinedOptions() });
    this.geometry = geometryOf({ ...size, metrics: METRICS });
    run(this.machine, sinkCommands(reports));
  }

  process(frame: Uint8Array): { port: number; frame: Uint8Array }[] {
    return this.machine.process(IN, frame).map(({ port, frame: bytes }) => ({ port, frame: bytes.slice() }));
  }

  register(name: string): ArrayLike<number | bigint> {
    return this.machine.register(`FlowCache.${name}`).cells;
  }

  /** All registers to 0. */
  clear(): void {
    const names = ['tag', 'rank', 'source', 'destination', 'ports', 'meta', 'packets', 'path_changes', 'first', 'last'];
    names.push('path_tail', 'hops_beyond', 'end_to_end_last', 'end_to_end_count', 'end_to_end_sum', 'node_id', 'total');
    for (const name of names) this.machine.register(`FlowCache.${name}`).reset();
    for (const metric of REGISTERS) {
      for (const of of ['last', 'count', 'sum']) this.machine.register(`FlowCache.${metric}_${of}`).reset();
    }
  }

  totals(): number[] {
    return Array.from({ length: LAST_TOTAL }, (_, index) => Number(this.register('total')[index]));
  }

  tag(cell: number): number {
    return Number(this.register('tag')[cell]);
  }

  rank(cell: number): number {
    return Number(this.register('rank')[cell]);
  }

  /** The entry of a cell, as the words of a bucket. */
  entry(cell: number): number[] {
    const { bucketStride, hops } = this.geometry;
    const words = new Int32Array(bucketStride);
    const low = (name: string, at: number): number => Number(BigInt(this.register(name)[at] ?? 0) & 0xffffffffn);
    const high = (name: string, at: number): number => Number(BigInt(this.register(name)[at] ?? 0) >> 32n);
    const pair = (at: number, name: string, from: number): void => {
      words[at] = low(name, from);
      words[at + 1] = high(name, from);
    };
    for (let word = 0; word < 4; word++) {
      words[EXACT.SOURCE + word] = low('source', 4 * cell + word);
      words[EXACT.DESTINATION + word] = low('destination', 4 * cell + word);
    }
    words[EXACT.PORTS] = low('ports', cell);
    words[EXACT.META] = low('meta', cell);
    words[EXACT.PACKETS] = low('packets', cell);
    words[EXACT.PATH_CHANGES] = low('path_changes', cell);
    pair(EXACT.FIRST, 'first', cell);
    pair(EXACT.LAST, 'last', cell);
    words[EXACT.PATH_TAIL] = low('path_tail', cell);
    words[EXACT.BEYOND] = low('hops_beyond', cell);
    words[EXACT.END_TO_END] = low('end_to_end_last', cell);
    words[EXACT.END_TO_END_COUNT] = low('end_to_end_count', cell);
    pair(EXACT.END_TO_END_SUM, 'end_to_end_sum', cell);
    const size = hopWords('exact', METRICS.length);
    for (let hop = 0; hop < hops; hop++) {
      const at = EXACT.HOPS + hop * size;
      const from = cell * hops + hop;
      words[at] = low('node_id', from);
      for (const [metric, name] of REGISTERS.entries()) {
        words[at + 1 + metric] = low(`${name}_last`, from);
        words[at + 1 + METRICS.length + metric] = low(`${name}_count`, from);
        pair(at + 1 + 2 * METRICS.length + 2 * metric, `${name}_sum`, from);
      }
    }
    return [...words];
  }
}

/** What a packet to a host carries. */
export interface Export {
  readonly kind: number;
  readonly nodeId: number;
  readonly sequence: number;
  /** The words of each record, filled up with zeros to `size`. */
  readonly records: readonly (readonly number[])[];
}

const ENTRY_RECORDS = 1;

/** Reads the words of a packet of entries or of events. */
export function readExport(frame: Uint8Array, geometry: CacheGeometry): Export {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const kind = view.getUint8(IP_UDP + 1);
  const count = view.getUint8(IP_UDP + 3);
  const isEntry = kind === ENTRY_RECORDS;
  const words = isEntry ? EXACT.HOPS + geometry.hops * hopWords('exact', METRICS.length) : EVENT_WORDS;
  if (frame.length !== IP_UDP + EXPORT + 4 * words * count)
    throw new Error(`${frame.length} bytes for ${count} records`);
  const records = Array.from({ length: count }, (_, record) => {
    const into = new Int32Array(isEntry ? geometry.bucketStride : EVENT_WORDS);
    for (let word = 0; word < words; word++) into[word] = view.getInt32(IP_UDP + EXPORT + 4 * (record * words + word));
    return [...into];
  });
  return { kind, nodeId: view.getUint32(IP_UDP + 4), sequence: view.getUint32(IP_UDP + 8), records };
}
