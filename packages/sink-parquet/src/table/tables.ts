import { EVENTS_TABLE } from './events.js';
import { FLOWS_TABLE } from './flows.js';
import { HOPS_TABLE } from './hops.js';
import type { Table, TableName } from './table.js';

export const SCHEMA_TABLES: Readonly<Record<TableName, Table>> = /* @__PURE__ */ {
  hops: HOPS_TABLE,
  events: EVENTS_TABLE,
  flows: FLOWS_TABLE,
};
