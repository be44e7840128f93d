/**
 * The data plane as the README beside the P4 programs describes it, as far as the export does not name it itself: its
 * sizes, all of its registers, and where it finds the metrics.
 */
import { FIELDS, type Field as MetadataField, type MetricName } from '@int/codec';
import { MAX_CLAUSES, MAX_CONDITIONS } from '../../../src/expression/model.js';
import { EXPRESSIONS } from '../../../src/tables/names.js';

/** Flow cells: index = CRC-32 of the flow modulo this. A power of two. */
export const FLOW_CELLS = 65536;
/** Switch cells: index = switch id modulo this. A power of two. */
export const SWITCH_CELLS = 4096;
/** Metric numbers that the state registers have room for: 0 to 11. */
export const METRIC_CELLS = 12;
/** Hops that the sink's unrolled loops look at. */
export const MAX_HOPS = 8;

/** A register array. */
interface Register {
  readonly name: string;
  /** Bits of a cell. */
  readonly width: number;
  readonly size: number;
}

/** Register arrays of the sink. All are zero at first. */
export const REGISTERS = {
  /** Cell 0: the bank in use, 0 or 1. */
  bank: { name: 'IntSink.bank', width: 8, size: 1 },
  /** By flow: reports since the last one looked at, that one included. */
  sampleCount: { name: 'IntSink.sample_count', width: 32, size: FLOW_CELLS },
  /** By flow: when the last report was looked at, in microseconds. */
  sampleTime: { name: 'IntSink.sample_time', width: 48, size: FLOW_CELLS },
  /** By metric and switch: the value last reported. */
  perHopPrevious: { name: 'IntSink.per_hop_previous', width: 32, size: METRIC_CELLS * SWITCH_CELLS },
  /** By metric and flow: the sum last reported. */
  perFlowPrevious: { name: 'IntSink.per_flow_previous', width: 32, size: METRIC_CELLS * FLOW_CELLS },
  /** By metric and flow: the scaled average. */
  averageAccumulator: { name: 'IntSink.average_accumulator', width: 48, size: METRIC_CELLS * FLOW_CELLS },
  /** By metric and flow: the average last reported. */
  averageReported: { name: 'IntSink.average_reported', width: 32, size: METRIC_CELLS * FLOW_CELLS },
  /** By flow: reports that expressions with history have looked at. */
  complexCount: { name: 'IntSink.complex_count', width: 32, size: FLOW_CELLS },
  /** By flow: bit m set if `complex_previous` holds a sum of metric m. */
  complexSeen: { name: 'IntSink.complex_seen', width: 32, size: FLOW_CELLS },
  /** By metric and flow: the previous sum. */
  complexPrevious: { name: 'IntSink.complex_previous', width: 32, size: METRIC_CELLS * FLOW_CELLS },
  /** By expression: conditions of clause c in bits 4c + 3 to 4c; 0: no such clause. */
  logicClauses: { name: 'IntSink.logic_clauses', width: 32, size: 2 * EXPRESSIONS },
  /** By expression: bit m set if it names metric m. */
  logicMetrics: { name: 'IntSink.logic_metrics', width: 32, size: 2 * EXPRESSIONS },
  /** By expression: bit m set if a delta names metric m; bit 31 if there is a count or a delta. */
  logicHistory: { name: 'IntSink.logic_history', width: 32, size: 2 * EXPRESSIONS },
  /** By expression, clause and condition: see CONDITION_WORD. */
  logicConditions: {
    name: 'IntSink.logic_conditions',
    width: 48,
    size: 2 * EXPRESSIONS * MAX_CLAUSES * MAX_CONDITIONS,
  },
} as const satisfies Record<string, Register>;

/** Where the data plane finds a metric in a hop's INT v2.1 metadata. */
interface MetricItem {
  readonly metric: MetricName;
  /** Metric number. */
  readonly number: number;
  /** Bit of the instruction bitmap, 0 = most significant. */
  readonly instruction: number;
  /** 32-bit word of the item. */
  readonly word: number;
  /** Bits to the right of the metric in that word. */
  readonly shift: number;
  readonly width: number;
}

/** Where a field of INT v2.1 lies: the fields of an instruction stand one behind the other. */
function itemOf(field: MetadataField): MetricItem {
  const instruction = field.at['2']!;
  const fields = FIELDS.filter(({ at, isReserved }) => at['2'] === instruction && isReserved !== true);
  const front = fields.slice(0, fields.indexOf(field)).reduce((sum, { bits }) => sum + bits, 0);
  const word = front >>> 5;
  const { metric, bits } = field;
  return {
    metric: field.name as MetricName,
    number: metric!,
    instruction,
    word,
    shift: 32 * (word + 1) - front - bits,
    width: bits,
  };
}

/** Metrics that the data plane takes: the items of INT v2.1 that have a name and are numbers of at most 32 bits. */
export const METRIC_ITEMS: readonly MetricItem[] = /* @__PURE__ */ FIELDS.filter(
  ({ at, metric, isReserved }) => at['2'] !== undefined && metric !== undefined && isReserved !== true,
)
  .map(itemOf)
  .sort((a, b) => a.number - b.number);
