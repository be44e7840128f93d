import type { RecordKind } from '@int/collector';
import type { SlabShape } from '../memory/slab.js';
import type { Column } from './column.js';

export const TABLE_NAMES = ['hops', 'events', 'flows'] as const;
export type TableName = (typeof TABLE_NAMES)[number];

/** A table of the store: what its rows are kept as, and what columns its files have. */
export interface Table {
  readonly name: TableName;
  /** What one record is. */
  readonly kind: RecordKind;
  readonly shape: SlabShape;
  readonly columns: readonly Column[];
  /** Types in the files of the columns whose texts are JSON. */
  readonly ofJson: Readonly<Record<string, string>>;
}

export const HOPS_TYPE =
  'STRUCT("nodeId" UINTEGER, metrics MAP(VARCHAR, STRUCT("last" UINTEGER, mean DOUBLE, count UINTEGER)))[]';

export const EVIDENCE_TYPE =
  'STRUCT(aggregate VARCHAR, metric VARCHAR, "value" UINTEGER, "nodeId" UINTEGER, hop UINTEGER)[]';
