/**
 * The metadata items of a hop: one table of their names, places and forms. Columns, plans, metrics, views, JSON,
 * Protobuf, Parquet and the names in rules follow from it. So an item of a future version is one more line here.
 */

/** Versions whose instruction bits a field may have. Reports of v2.0 number their metadata as INT v2.x does. */
export type FieldVersion = '0.5' | '1.0' | '2' | '2016' | 'report-1.0';

interface Definition {
  /** Name in objects, JSON, rules and Parquet, and of the column, if it has one. */
  readonly name: string;
  /** Bits as carried: 8, 16 or 24 in a word with the next field, 32, or 64. The 2016 layout has 31 of each. */
  readonly bits: 8 | 16 | 24 | 32 | 64;
  /** Instruction bit by version, 0 the first. */
  readonly at: Readonly<Partial<Record<FieldVersion, number>>>;
  /** Number in the message `Hop` of Protobuf. */
  readonly protobuf: number;
  /** Number of the metric, if the field is one. Tables of the data plane contain it: append, never reorder. */
  readonly metric?: number;
  /** Unit of the value, if the specification names one. */
  readonly unit?: string;
  /** The other field of an item of two words: both are missing, or neither. */
  readonly missingWith?: string;
  /** Whether the instruction has no name yet. */
  readonly isReserved?: true;
  /** What it is, for people. */
  readonly text: string;
}

/**
 * In the order of the columns and of JSON. The order is part of the memory layout that WebAssembly accelerators, C
 * twins and other threads read: append, never reorder. Sources: INT v0.5 section 5.3.4, v1.0 section 4.7, v2.1 section
 * 5.8, reports v1.0 section 3.2, IntMon's switch (2016).
 */
// biome-ignore format: one field a line
const DEFINITIONS = [
  { name: 'nodeId', bits: 32, at: { '0.5': 0, '1.0': 0, '2': 0, '2016': 0 }, protobuf: 1, metric: 5, text: 'node that the hop is of' },
  { name: 'l1IngressInterface', bits: 16, at: { '0.5': 1, '1.0': 1, '2': 1, '2016': 1, 'report-1.0': 0 }, protobuf: 2, metric: 6, text: 'level-1 interface on which the packet came' },
  { name: 'l1EgressInterface', bits: 16, at: { '0.5': 1, '1.0': 1, '2': 1, '2016': 5, 'report-1.0': 0 }, protobuf: 3, metric: 7, text: 'level-1 interface on which the packet left' },
  { name: 'hopLatency', bits: 32, at: { '0.5': 2, '1.0': 2, '2': 2, '2016': 2, 'report-1.0': 1 }, protobuf: 4, metric: 0, unit: 'the device\'s', text: 'time that the packet spent in the node' },
  { name: 'queueId', bits: 8, at: { '0.5': 3, '1.0': 3, '2': 3, 'report-1.0': 2 }, protobuf: 5, metric: 10, text: 'queue that the packet went through' },
  { name: 'queueOccupancy', bits: 24, at: { '0.5': 3, '1.0': 3, '2': 3, '2016': 3, 'report-1.0': 2 }, protobuf: 6, metric: 1, unit: 'the device\'s', text: 'fill of that queue' },
  { name: 'ingressTimestamp', bits: 64, at: { '0.5': 4, '1.0': 4, '2': 4, '2016': 4 }, protobuf: 7, unit: 'the device\'s', text: 'when the packet came' },
  { name: 'egressTimestamp', bits: 64, at: { '0.5': 5, '1.0': 5, '2': 5, 'report-1.0': 3 }, protobuf: 8, unit: 'the device\'s', text: 'when the packet left' },
  { name: 'l2IngressInterface', bits: 32, at: { '1.0': 6, '2': 6 }, protobuf: 9, metric: 8, missingWith: 'l2EgressInterface', text: 'level-2 interface on which the packet came' },
  { name: 'l2EgressInterface', bits: 32, at: { '1.0': 6, '2': 6 }, protobuf: 10, metric: 9, missingWith: 'l2IngressInterface', text: 'level-2 interface on which the packet left' },
  { name: 'egressUtilization', bits: 32, at: { '0.5': 7, '1.0': 7, '2': 7, '2016': 7, 'report-1.0': 5 }, protobuf: 11, metric: 2, unit: 'the device\'s', text: 'load of the interface on which the packet left' },
  { name: 'bufferId', bits: 8, at: { '2': 8 }, protobuf: 12, metric: 11, text: 'buffer that the packet was in' },
  { name: 'bufferOccupancy', bits: 24, at: { '2': 8 }, protobuf: 13, metric: 3, unit: 'the device\'s', text: 'fill of that buffer' },
  { name: 'checksumComplement', bits: 32, at: { '1.0': 15, '2': 15 }, protobuf: 16, text: 'balances the checksum of the packet\'s transport header' },
  { name: 'congestionQueueId', bits: 8, at: { '0.5': 6 }, protobuf: 14, metric: 12, text: 'queue that the congestion status is of' },
  { name: 'queueCongestion', bits: 24, at: { '0.5': 6, '2016': 6 }, protobuf: 15, metric: 4, unit: 'the device\'s', text: 'congestion status of that queue' },
  { name: 'reserved8', bits: 32, at: { '0.5': 8, '1.0': 8 }, protobuf: 17, metric: 13, isReserved: true, text: 'reserved instruction bit 8, as carried' },
  { name: 'reserved9', bits: 32, at: { '0.5': 9, '1.0': 9, '2': 9 }, protobuf: 18, metric: 14, isReserved: true, text: 'reserved instruction bit 9, as carried' },
  { name: 'reserved10', bits: 32, at: { '0.5': 10, '1.0': 10, '2': 10 }, protobuf: 19, metric: 15, isReserved: true, text: 'reserved instruction bit 10, as carried' },
  { name: 'reserved11', bits: 32, at: { '0.5': 11, '1.0': 11, '2': 11 }, protobuf: 20, metric: 16, isReserved: true, text: 'reserved instruction bit 11, as carried' },
  { name: 'reserved12', bits: 32, at: { '0.5': 12, '1.0': 12, '2': 12 }, protobuf: 21, metric: 17, isReserved: true, text: 'reserved instruction bit 12, as carried' },
  { name: 'reserved13', bits: 32, at: { '0.5': 13, '1.0': 13, '2': 13 }, protobuf: 22, metric: 18, isReserved: true, text: 'reserved instruction bit 13, as carried' },
  { name: 'reserved14', bits: 32, at: { '0.5': 14, '1.0': 14, '2': 14 }, protobuf: 23, metric: 19, isReserved: true, text: 'reserved instruction bit 14, as carried' },
  { name: 'reserved15', bits: 32, at: { '0.5': 15 }, protobuf: 24, isReserved: true, text: 'reserved instruction bit 15, as carried' },
] as const satisfies readonly Definition[];

type Defined = (typeof DEFINITIONS)[number];

/** Name of a metadata item. */
export type FieldName = Defined['name'];
/** Name of a metric: that of the field. */
export type MetricName = Extract<Defined, { readonly metric: number }>['name'];
/** Name of a field of 64 bits. */
export type TimeName = Extract<Defined, { readonly bits: 64 }>['name'];
/** Name of a field of at most 32 bits. */
export type NumberName = Exclude<FieldName, TimeName>;
/** Name of a hop column: see {@link HOP_COLUMNS}. */
export type HopColumn = NumberName | `${TimeName}${'High' | 'Low'}` | 'domainOffset';

/** A metadata item of a hop. */
export interface Field extends Definition {
  readonly name: FieldName;
  readonly missingWith?: FieldName;
  /** Index of its column; for 64 bits that of the upper word, which the lower one follows. */
  readonly column: number;
  /** Index of the column of the field that is missing together with this one; its own column if there is none. */
  readonly partner: number;
  /** The largest value in any version: 31 bits where IntMon has them. */
  readonly most: number;
}

/**
 * Per-hop 32-bit columns, one for each field of at most 32 bits, two for one of 64.
 *
 * A cell is all ones (0xffffffff) if the hop does not carry the item, or says 'not available'. 64-bit items have two
 * columns; a 32-bit timestamp has 0 in the upper one. The last column, `domainOffset`, is the byte offset of the hop's
 * domain-specific words in the input; all ones if there are none.
 */
export const HOP_COLUMNS: readonly HopColumn[] = /* @__PURE__ */ [
  .../* @__PURE__ */ (DEFINITIONS as readonly Definition[]).flatMap(({ name, bits }) =>
    bits === 64 ? [`${name}High`, `${name}Low`] : [name],
  ),
  'domainOffset',
] as HopColumn[];

function columnOf(name: string): number {
  const index = (HOP_COLUMNS as readonly string[]).indexOf(name);
  return index < 0 ? (HOP_COLUMNS as readonly string[]).indexOf(`${name}High`) : index;
}

/** All metadata items, in the order of the columns and of JSON. */
export const FIELDS: readonly Field[] = /* @__PURE__ */ (DEFINITIONS as readonly Definition[]).map((definition) => {
  const { name, bits, at, missingWith } = definition;
  const is31 = at['2016'] !== undefined && bits < 31;
  return {
    ...definition,
    column: columnOf(name),
    partner: columnOf(missingWith ?? name),
    most: is31 ? 0x7fff_ffff : bits >= 32 ? 0xffff_ffff : 2 ** bits - 1,
  } as Field;
});

/** Words that two fields share. Such a word is all ones if both fields are missing. */
export const SPLITS: readonly {
  /** Index of the upper field's column; that of the lower field follows it. */
  readonly column: number;
  /** Bits of the lower field. */
  readonly bits: number;
}[] = /* @__PURE__ */ FIELDS.filter(({ bits }, k) => bits < 32 && (FIELDS[k + 1]?.bits ?? 0) + bits === 32).map(
  ({ column, bits }) => ({ column, bits: 32 - bits }),
);
