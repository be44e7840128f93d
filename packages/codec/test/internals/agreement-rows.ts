/** What the columns of a batch must hold for a record of the object API: written from the columns' documentation. */
import { expect } from 'vitest';
import { formatMac, parseAddress } from '../../src/address.js';
import type { TelemetryBatch } from '../../src/batch.js';
import { CODE_NAMES, CODES, type CodeName } from '../../src/codes.js';
import { ENCAPSULATIONS, FLAG, INT_VERSIONS, MODES, NOT_AVAILABLE, REPORT_VERSIONS } from '../../src/columns.js';
import { HOP_COLUMNS, type HopColumn } from '../../src/fields.js';
import type { Hop, TelemetryRecord } from '../../src/model.js';
import { type HopView, RecordView } from '../../src/view.js';

const NONE = NOT_AVAILABLE;

/** Whether a record has a row: a report, INT, or a probe that does not close. */
export function isRow({ report, int, error }: TelemetryRecord): boolean {
  return report !== null || int !== null || error?.layer === 'gpint';
}

/** The code that a frame gets: that of its first individual report that is not sound. */
export function frameCode(records: readonly TelemetryRecord[]): number {
  for (const { status, error } of records) {
    if (error !== null) return CODES[error.code as CodeName];
    if (status === 'not-int') return CODES.NOT_INT;
  }
  return CODES.OK;
}

type Cells = Partial<Record<HopColumn, number>>;

function word(value: number | null | undefined): number {
  return value ?? NONE;
}

function time(cells: Cells, name: 'ingress' | 'egress', value: bigint | null | undefined): void {
  cells[`${name}TimestampHigh`] = value === null || value === undefined ? NONE : Number(value >> 32n);
  cells[`${name}TimestampLow`] = value === null || value === undefined ? NONE : Number(value & 0xffffffffn);
}

function cellsOf(hop: Hop): Cells {
  const cells: Cells = {
    nodeId: word(hop.nodeId),
    l1IngressInterface: word(hop.l1IngressInterface),
    l1EgressInterface: word(hop.l1EgressInterface),
    hopLatency: word(hop.hopLatency),
    queueId: word(hop.queueId),
    queueOccupancy: word(hop.queueOccupancy),
    l2IngressInterface: word(hop.l2IngressInterface),
    l2EgressInterface: word(hop.l2EgressInterface),
    egressUtilization: word(hop.egressUtilization),
    bufferId: word(hop.bufferId),
    bufferOccupancy: word(hop.bufferOccupancy),
    checksumComplement: word(hop.checksumComplement),
    congestionQueueId: word(hop.congestionQueueId),
    queueCongestion: word(hop.queueCongestion),
  };
  time(cells, 'ingress', hop.ingressTimestamp);
  time(cells, 'egress', hop.egressTimestamp);
  for (const bit of [8, 9, 10, 11, 12, 13, 14, 15] as const) cells[`reserved${bit}`] = word(hop[`reserved${bit}`]);
  return cells;
}

/** Thrown with what is wrong and where; cheaper than an `expect` for each of millions of cells. */
export function check(what: string, row: number, actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) expect(`${what}[${row}] = ${actual}`).toBe(`${what}[${row}] = ${expected}`);
}

function checkHop(batch: TelemetryBatch, row: number, cells: Cells, domain: Uint8Array[], bytes: Uint8Array): void {
  for (const name of HOP_COLUMNS) {
    if (name !== 'domainOffset') check(`hop.${name}`, row, batch.hop[name][row], cells[name] ?? NONE);
  }
  const offset = batch.hop.domainOffset[row]!;
  if (domain.length === 0) {
    check('hop.domainOffset', row, offset, NONE);
    return;
  }
  for (const piece of domain) {
    const found = bytes.subarray(offset, offset + piece.length);
    if (Buffer.compare(found, piece) !== 0)
      expect(Buffer.from(found).toString('hex')).toBe(Buffer.from(piece).toString('hex'));
    break;
  }
}

const shown = (value: number | null | undefined): number | null =>
  value === undefined || value === NONE ? null : value;

/** A view has no absent fields, and no way to tell a 32-bit value of ones from none. */
function checkHopView(view: HopView, hop: Hop, row: number): void {
  const { l1IngressInterface: ingress = null, l1EgressInterface: egress = null } = hop;
  check('view.nodeId', row, view.nodeId, shown(hop.nodeId));
  check('view.l1IngressInterface', row, view.l1IngressInterface, ingress);
  check('view.l1EgressInterface', row, view.l1EgressInterface, egress);
  check('view.hopLatency', row, view.hopLatency, shown(hop.hopLatency));
  check('view.queueId', row, view.queueId, hop.queueId ?? null);
  check('view.queueOccupancy', row, view.queueOccupancy, hop.queueOccupancy ?? null);
  check('view.ingressTimestamp', row, view.ingressTimestamp, hop.ingressTimestamp ?? null);
  check('view.egressTimestamp', row, view.egressTimestamp, hop.egressTimestamp ?? null);
  check('view.l2IngressInterface', row, view.l2IngressInterface, hop.l2IngressInterface ?? null);
  check('view.l2EgressInterface', row, view.l2EgressInterface, hop.l2EgressInterface ?? null);
  check('view.egressUtilization', row, view.egressUtilization, shown(hop.egressUtilization));
  check('view.bufferId', row, view.bufferId, hop.bufferId ?? null);
  check('view.bufferOccupancy', row, view.bufferOccupancy, hop.bufferOccupancy ?? null);
  check('view.checksumComplement', row, view.checksumComplement, shown(hop.checksumComplement));
  check('view.congestionQueueId', row, view.congestionQueueId, hop.congestionQueueId ?? null);
  check('view.queueCongestion', row, view.queueCongestion, hop.queueCongestion ?? null);
}

const OWN_BITS: readonly (readonly [bit: number, name: keyof Hop])[] = [
  [1, 'l1IngressInterface'],
  [2, 'hopLatency'],
  [3, 'queueOccupancy'],
  [4, 'ingressTimestamp'],
  [5, 'egressTimestamp'],
  [6, 'l2IngressInterface'],
  [7, 'egressUtilization'],
  [8, 'bufferOccupancy'],
  [9, 'reserved9'],
  [10, 'reserved10'],
  [11, 'reserved11'],
  [12, 'reserved12'],
  [13, 'reserved13'],
  [14, 'reserved14'],
];

function flagsOf({ report, int, flow, error }: TelemetryRecord, own: boolean): number {
  // Of a probe that does not close no object is made, but its row says what it is.
  const mode = int?.mode ?? (error?.layer === 'gpint' ? 'gpint' : null);
  const header = int === null || int.mode === 'gpint' || int.mode === 'xd' ? null : int;
  return (
    (REPORT_VERSIONS.indexOf(report?.version ?? null) << FLAG.REPORT_SHIFT) |
    (report?.intermediate ? FLAG.INTERMEDIATE : 0) |
    (report?.trackedFlow ? FLAG.TRACKED_FLOW : 0) |
    (report?.queueCongested ? FLAG.QUEUE_CONGESTED : 0) |
    (report?.dropped ? FLAG.DROPPED : 0) |
    (MODES.indexOf(mode) << FLAG.MODE_SHIFT) |
    (INT_VERSIONS.indexOf(header?.version ?? null) << FLAG.INT_VERSION_SHIFT) |
    (ENCAPSULATIONS.indexOf(header?.encapsulation ?? 'none') << FLAG.ENCAPSULATION_SHIFT) |
    (header?.mtuExceeded ? FLAG.MTU_EXCEEDED : 0) |
    (header?.hopExceeded ? FLAG.HOP_EXCEEDED : 0) |
    (header?.discard ? FLAG.DISCARD : 0) |
    (flow === null ? 0 : FLAG.FLOW) |
    (flow?.source.includes(':') ? FLAG.IPV6 : 0) |
    (own ? FLAG.OWN : 0) |
    ((report?.hwId ?? 0) << FLAG.HW_ID_SHIFT)
  );
}

const SOURCE = ['source0', 'source1', 'source2', 'source3'] as const;
const DESTINATION = ['destination0', 'destination1', 'destination2', 'destination3'] as const;

function checkAddress(
  batch: TelemetryBatch,
  row: number,
  columns: typeof SOURCE | typeof DESTINATION,
  address: string | undefined,
): void {
  const words: ArrayLike<number> = address === undefined ? [0] : parseAddress(address).words;
  for (let k = 0; k < words.length; k++) check(columns[k]!, row, batch[columns[k]!][row], words[k]);
}

/**
 * Compares a report row and its hop rows, and the views of both, with a record.
 * @param mixed domains are known: exported and source-only words may be mixed
 * @returns the number of hop rows
 */
export function checkRow(
  batch: TelemetryBatch,
  row: number,
  frame: number,
  hopStart: number,
  record: TelemetryRecord,
  bytes: Uint8Array,
  mixed: boolean,
): number {
  const { report, int, flow, hops, error, status } = record;
  const sound = status === 'ok';
  check('code', row, CODE_NAMES[batch.code[row]!], error?.code ?? 'OK');
  check('frame', row, batch.frame[row], frame);
  const gpint = int?.mode === 'gpint' ? int : null;
  const own = report !== null && Object.keys(report.metadata).length > 0;
  const embedded = gpint === null ? hops.length : gpint.switches.length;
  check('hopStart', row, batch.hopStart[row], hopStart);
  check('hopCount', row, batch.hopCount[row], embedded + (own ? 1 : 0));
  // Where a header is wrong the row keeps what was read of it, the object leaves it out.
  const mask = sound
    ? 0xffffffff
    : ~((FLAG.INT_VERSION_MASK << FLAG.INT_VERSION_SHIFT) | (FLAG.ENCAPSULATION_MASK << FLAG.ENCAPSULATION_SHIFT));
  check('flags', row, (batch.flags[row]! & mask) >>> 0, (flagsOf(record, own) & mask) >>> 0);
  check('nodeId', row, batch.nodeId[row], report?.nodeId ?? NONE);
  check('sequence', row, batch.sequence[row], report?.sequence ?? 0);
  // A report around a packet whose INT header is wrong shows as INT-XD; the row keeps the bitmap that was read.
  if (int !== null && int.mode !== 'gpint' && (sound || int.mode !== 'xd')) {
    const upper = int.mode === 'xd' ? 0 : int.instructionBitmap;
    check('instructions >>> 16', row, batch.instructions[row]! >>> 16, upper);
  }
  let bits = 0;
  if (report !== null)
    for (const [bit, name] of OWN_BITS) if (report.metadata[name] !== undefined) bits |= 0x8000 >>> bit;
  check('instructions & 0x7ffe', row, batch.instructions[row]! & 0x7ffe, bits);
  if (int?.mode === 'xd' && int.version === '2') {
    check('instructions & 0xffff', row, batch.instructions[row]! & 0xffff, int.instructionBitmap);
  }

  check('protocol', row, batch.protocol[row], flow?.protocol ?? 0);
  check('ports', row, batch.ports[row], flow === null ? 0 : flow.sourcePort * 65_536 + flow.destinationPort);
  checkAddress(batch, row, SOURCE, flow?.source);
  checkAddress(batch, row, DESTINATION, flow?.destination);
  if (report !== null && report.version !== '2.0') {
    check('reportTimestamp', row, batch.reportTimestamp[row], Number(report.ingressTimestamp));
  }
  const drop = batch.drop[row]!;
  check('drop', row, drop === NONE, (report?.dropReason ?? null) === null);
  if (report !== null && report.dropReason !== null) {
    check('drop reason', row, (drop >>> 16) & 255, report.dropReason);
    check('drop queue', row, drop >>> 24, report.dropQueueId);
  }

  const at = batch.ethernet[row]!;
  check('ethernet', row, at === NONE, record.ethernet === undefined);
  if (record.ethernet !== undefined) {
    check('ethernet: destination', row, formatMac(bytes, at), record.ethernet.destination);
    check('ethernet: source', row, formatMac(bytes, at + 6), record.ethernet.source);
  }

  const view = new RecordView(batch, row);
  check('view.ethernetOffset', row, view.ethernetOffset, at === NONE ? null : at);
  check('view.frame', row, view.frame, frame);
  check('view.status', row, view.status, status);
  check('view.code', row, view.code, error?.code ?? 'OK');
  check('view.reportVersion', row, view.reportVersion, report?.version ?? null);
  check('view.dropped', row, view.dropped, report?.dropped ?? false);
  check('view.queueCongested', row, view.queueCongested, report?.queueCongested ?? false);
  check('view.trackedFlow', row, view.trackedFlow, report?.trackedFlow ?? false);
  check('view.intermediate', row, view.intermediate, report?.intermediate ?? false);
  check('view.hwId', row, view.hwId, report?.hwId ?? 0);
  check('view.nodeId', row, view.nodeId, shown(report?.nodeId));
  check('view.sequence', row, view.sequence, report?.sequence ?? 0);
  check('view.dropReason', row, view.dropReason, report?.dropReason ?? null);
  check('view.dropQueueId', row, view.dropQueueId, report?.dropQueueId ?? null);
  check('view.hopCount', row, view.hopCount, embedded);
  check('view.hopStart', row, view.hopStart, hopStart);
  const seen = view.flow;
  check('view.flow', row, seen === null, flow === null);
  if (flow !== null) for (const name of FLOW_NAMES) check(`view.flow.${name}`, row, seen?.[name], flow[name]);
  if (int !== null) {
    check('view.mode', row, view.mode, int.mode);
    if (int.mode !== 'gpint' && int.mode !== 'xd') {
      check('view.intVersion', row, view.intVersion, int.version);
      check('view.encapsulation', row, view.encapsulation, int.encapsulation);
      check('view.instructionBitmap', row, view.instructionBitmap, int.instructionBitmap);
      check('view.discard', row, view.discard, int.discard);
      check('view.hopExceeded', row, view.hopExceeded, int.hopExceeded);
      check('view.mtuExceeded', row, view.mtuExceeded, int.mtuExceeded);
    }
  }

  if (gpint !== null) {
    gpint.switches.forEach(({ switchId, queueDepth }, k) => {
      checkHop(batch, hopStart + k, { nodeId: switchId, queueId: 0, queueOccupancy: queueDepth }, [], bytes);
      check('view.hop.nodeId', row, view.hop(k).nodeId, switchId);
    });
    return embedded;
  }
  const header = int === null ? null : (int as Exclude<typeof int, { mode: 'gpint' }>);
  hops.forEach((hop, k) => {
    const pieces = [hop.domain, k === 0 ? header?.sourceMetadata : undefined].filter((piece) => piece !== undefined);
    // Known domains order their items by bit: where the words start is all that can be said.
    const domain =
      pieces.length === 0
        ? pieces
        : pieces.length > 1 && mixed
          ? [new Uint8Array(0)]
          : mixed
            ? pieces.slice(0, 1)
            : [join(pieces)].filter(({ length }) => length > 0);
    checkHop(batch, hopStart + k, cellsOf(hop), domain, bytes);
    checkHopView(view.hop(k), hop, hopStart + k);
  });
  if (own) {
    const at = hopStart + embedded;
    const { metadata } = report;
    const cells = { ...cellsOf(metadata), nodeId: report.nodeId ?? NONE };
    checkHop(batch, at, cells, metadata.domain === undefined ? [] : [metadata.domain], bytes);
    const { own: ownView } = view;
    if (ownView === null) throw new Error(`view.own[${row}] is missing`);
    checkHopView(ownView, { ...metadata, nodeId: report.nodeId }, at);
  } else {
    check('view.own', row, view.own, null);
  }
  return embedded + (own ? 1 : 0);
}

const FLOW_NAMES = ['source', 'destination', 'protocol', 'sourcePort', 'destinationPort'] as const;

function join(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}
