import type { TelemetryBatch } from '../../src/batch.js';
import type { AcceleratorReport2 } from '../../src/fast/accelerator.js';
import { marksOf, type ReportMarks } from '../../src/fast/marks.js';
import type { FastReport2 } from '../../src/fast/report2.js';
import { HOP_COLUMNS } from '../../src/fields.js';
import type { DecodeOptions } from '../../src/options.js';
import { LAYOUT, OP, planFor } from '../../src/plan.js';
import { settingsOf } from '../../src/scan/settings.js';

/** What the fast path must make of a frame: written once more, slowly, from the wire format. */
export interface OracleReport {
  readonly words: Readonly<Record<string, number>>;
  readonly hops: readonly (readonly number[])[];
}

const ALL = 0xffffffff;
const TUNNELS = [6081, 4790, 4789, 54321];
const PROBES = [5017, 5018];

/** What marks reports and INT by these options. */
export function marks(options: DecodeOptions): ReportMarks {
  return marksOf(settingsOf(options))!;
}

/** Decodes one frame, or returns undefined if the fast path must refuse it. */
function oracle(frame: Uint8Array, options: DecodeOptions): OracleReport | undefined {
  const u8 = (at: number): number => frame[at] ?? Number.NaN;
  const u16 = (at: number): number => u8(at) * 256 + u8(at + 1);
  const u32 = (at: number): number => u16(at) * 65536 + u16(at + 2);
  let p = 0;
  let e = frame.length;
  const marksByDscp = (tos: number): boolean => {
    const dscp = options.intDscp;
    return dscp != null && ((tos >> 2) & dscp.mask) === (dscp.value & dscp.mask);
  };
  let isStrict = false;
  if (options.linkType === 'ethernet') {
    const port = u16(36);
    if (!options.reportPorts?.includes(port)) {
      if (options.reportPorts !== undefined || options.intPorts!.includes(port) || marksByDscp(u8(15)))
        return undefined;
      if (TUNNELS.includes(port)) return undefined;
      isStrict = true;
    }
    if (PROBES.includes(port)) return undefined;
    const ok =
      e >= 42 &&
      u16(12) === 0x0800 &&
      u8(14) === 0x45 &&
      u8(23) === 17 &&
      u16(20) % 0x4000 === 0 &&
      u16(38) + 20 === u16(16) &&
      u16(16) + 14 <= e;
    if (!ok) return undefined;
    p = 42;
    e = 14 + u16(16);
  }
  if (e - p < 20 || u8(p) >> 4 !== 2) return undefined;
  const inType = u8(p + 8) & 15;
  const own = u8(p + 10);
  const reportBits = u16(p + 12);
  if (u8(p + 8) >> 4 !== 1 || (inType !== 3 && inType !== 4) || !(u8(p + 11) & 0x20)) return undefined;
  if (u8(p + 9) === 255 || 12 + 4 * u8(p + 9) !== e - p || u16(p + 16) !== 0) return undefined;
  if (reportBits & 0x8001) return undefined;
  const ownPlan = planFor(LAYOUT.REPORT20, reportBits);
  if (ownPlan.words !== own) return undefined;
  let ip = p + 20 + 4 * own;
  const ethernet = inType === 3 ? ip : ALL;
  if (inType === 3) {
    if (ip + 14 > e || u16(ip + 12) !== 0x0800) return undefined;
    ip += 14;
  }
  if (isStrict && u8(p + 11) % 16 !== 0) return undefined;
  if (ip + 44 > e || u8(ip) !== 0x45 || u16(ip + 6) & 0x3fff) return undefined;
  let protocol = u8(ip + 9);
  if (protocol !== 6 && protocol !== 17) return undefined;
  const isTcp = protocol === 6;
  const tcpWords = u8(ip + 32) >> 4;
  if (isTcp && tcpWords < 5) return undefined;
  const shim = ip + 20 + (isTcp ? 4 * tcpWords : 8);
  if (shim + 16 > e) return undefined;
  let encapsulation = isTcp ? 2 : 1;
  const npt = (u8(shim) >> 2) & 3;
  const port = u16(ip + 22);
  if (u8(shim) >> 4 !== 1 || (!isTcp && [...TUNNELS, ...PROBES].includes(port))) return undefined;
  const length = u8(shim + 1);
  let ports = u16(ip + 20) * 65536 + port;
  if (!isTcp && options.intPorts!.includes(port)) {
    if (npt !== 1 && npt !== 2) return undefined;
    if (npt === 1) {
      ports = u16(ip + 20) * 65536 + u16(shim + 2);
    } else {
      const behind = shim + 4 + 4 * length;
      protocol = u8(shim + 3);
      if ((protocol !== 6 && protocol !== 17) || behind + 4 > e || behind + 4 > ip + u16(ip + 2)) return undefined;
      ports = u32(behind);
      encapsulation = 3;
    }
  } else if (!marksByDscp(u8(ip + 1)) || npt !== 0) {
    return undefined;
  }
  const end = shim + 4 + 4 * length;
  if (length < 3 || end > e || end > ip + u16(ip + 2)) return undefined;
  const head = u32(shim + 4);
  const bitmap = u16(shim + 8);
  const plan = planFor(LAYOUT.V2, bitmap);
  const hopMl = u8(shim + 6) & 31;
  if (u8(shim + 4) >> 4 !== 2 || u16(shim + 12) !== 0 || hopMl === 0 || hopMl !== plan.words) return undefined;
  if ((length - 3) % hopMl !== 0) return undefined;
  const count = (length - 3) / hopMl;
  const hops: number[][] = [];
  for (let k = count - 1; k >= 0; k--) {
    const row = HOP_COLUMNS.map(() => ALL);
    plan.columns.forEach((column, word) => {
      setWord(row, plan.ops[word]!, column, u32(shim + 16 + 4 * (k * hopMl + word)));
    });
    hops.push(row);
  }
  if (own > 0) {
    const row = HOP_COLUMNS.map(() => ALL);
    row[0] = u32(p + 4);
    ownPlan.columns.forEach((column, word) => {
      setWord(row, ownPlan.ops[word]!, column, u32(p + 20 + 4 * word));
    });
    hops.push(row);
  }
  const bit = (value: number, from: number, to: number): number => ((value >>> from) & 1) * 2 ** to;
  const r = u8(p + 11);
  const flags =
    (3 + (1 << 6) + (3 << 9) + (encapsulation << 12) + (1 << 18)) |
    (bit(r, 4, 2) + bit(r, 5, 3) + bit(r, 6, 4) + bit(r, 7, 5)) |
    (bit(head, 27, 17) + bit(head, 26, 16) + bit(head, 25, 15)) |
    (own > 0 ? 1 << 20 : 0) |
    (((u32(p) >>> 22) & 63) * 2 ** 24);
  return {
    words: {
      flags: flags >>> 0,
      nodeId: u32(p + 4),
      sequence: u32(p) % 2 ** 22,
      instructions: bitmap * 65536 + reportBits,
      ports,
      source0: u32(ip + 12),
      destination0: u32(ip + 16),
      drop: ALL,
      ethernet,
      code: 0,
      hopCount: hops.length,
      protocol,
    },
    hops,
  };
}

/** Two fields of one word are missing only together. */
function setWord(row: number[], op: number, column: number, word: number): void {
  if (op !== OP.SPLIT || word === ALL) {
    row[column] = word;
    return;
  }
  const lower = HOP_COLUMNS[column] === 'l1EgressInterface' ? 16 : 24;
  row[column - 1] = Math.floor(word / 2 ** lower);
  row[column] = word % 2 ** lower;
}

/** Decodes all frames, stepping over those refused, as the general path would; returns the refused. */
export function decodeAll(
  decoder: FastReport2 | AcceleratorReport2,
  batch: TelemetryBatch,
  input: { readonly bytes: Uint8Array; readonly offsets: Uint32Array; readonly lengths: Uint32Array },
  count = input.offsets.length,
): number[] {
  const refused: number[] = [];
  let index = 0;
  while (index < count) {
    index = decoder.run(batch, input.bytes, input.offsets, input.lengths, index, count);
    if (index < count) refused.push(index++);
  }
  return refused;
}

const REPORT_COLUMNS = [
  'frame',
  'flags',
  'nodeId',
  'sequence',
  'instructions',
  'hopStart',
  'ports',
  'source0',
  'destination0',
  'drop',
  'ethernet',
  'code',
  'hopCount',
  'protocol',
] as const;

/** All defined cells of a batch. */
export function contents(batch: TelemetryBatch): Record<string, number[]> {
  const result: Record<string, number[]> = {
    state: [...batch.state],
    frameCode: [...batch.frameCode.subarray(0, batch.frames)],
  };
  for (const name of REPORT_COLUMNS) result[name] = [...batch[name].subarray(0, batch.reports)];
  for (const name of HOP_COLUMNS) result[`hop.${name}`] = [...batch.hop[name].subarray(0, batch.hops)];
  return result;
}

/** Hop columns that were never written but hold something: must be none. */
export function spoiledColumns(batch: TelemetryBatch): string[] {
  return HOP_COLUMNS.filter(
    (name, column) => !(batch.state[3]! & (1 << column)) && batch.hop[name].some((value) => value !== ALL),
  );
}

/**
 * What a fresh batch must hold after the frames, and which of them are refused.
 * @param offsets where each frame lies in the input
 */
export function expected(
  frames: readonly Uint8Array[],
  options: DecodeOptions,
  capacity: { readonly frames: number; readonly reports: number; readonly hops: number },
  offsets: Uint32Array,
): { columns: Record<string, number[]>; refused: number[] } {
  const columns: Record<string, number[]> = { frameCode: [] };
  for (const name of REPORT_COLUMNS) columns[name] = [];
  for (const name of HOP_COLUMNS) columns[`hop.${name}`] = [];
  const refused: number[] = [];
  let rows = 0;
  frames.forEach((frame, index) => {
    const report = oracle(frame, options);
    const row = columns.frame!.length;
    if (
      report === undefined ||
      row === capacity.frames ||
      row === capacity.reports ||
      rows + report.hops.length > capacity.hops
    ) {
      refused.push(index);
      return;
    }
    columns.frameCode!.push(0);
    for (const name of REPORT_COLUMNS) {
      const value = name === 'frame' ? row : name === 'hopStart' ? rows : report.words[name]!;
      columns[name]!.push(name === 'ethernet' && value !== ALL ? offsets[index]! + value : value);
    }
    for (const hop of report.hops) {
      HOP_COLUMNS.forEach((name, column) => {
        columns[`hop.${name}`]!.push(hop[column]!);
      });
    }
    rows += report.hops.length;
  });
  return { columns, refused };
}
