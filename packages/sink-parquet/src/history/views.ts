import { join } from 'node:path';
import { identifier, list } from '../engine/sql.js';
import { type Partition, readPartitions } from '../store/layout.js';
import type { ColumnType } from '../table/column.js';
import { TABLE_NAMES, type TableName } from '../table/table.js';
import { SCHEMA_TABLES } from '../table/tables.js';

/** Names that queries use. */
export const VIEW_NAMES = ['hops', 'reports', 'flows', 'events', 'paths'] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

/** The files of each table. */
export type StoreFiles = Readonly<Record<TableName, readonly string[]>>;

/** What is in a store. */
export interface StoreListing {
  readonly files: StoreFiles;
  /** Files that were set aside because they were damaged. */
  readonly damaged: StoreFiles;
}

export async function readStoreFiles(directory: string): Promise<StoreListing> {
  const of = async (table: TableName): Promise<[files: string[], damaged: string[]]> => {
    const partitions = await readPartitions(directory, table);
    const paths = (names: (partition: Partition) => readonly string[]): string[] =>
      partitions.flatMap((partition) => names(partition).map((name) => join(partition.path, name)));
    return [paths(({ files }) => files), paths(({ damaged }) => damaged)];
  };
  const [hops, events, flows] = [await of('hops'), await of('events'), await of('flows')];
  return {
    files: { hops: hops[0], events: events[0], flows: flows[0] },
    damaged: { hops: hops[1], events: events[1], flows: flows[1] },
  };
}

/** The views that each table's files are seen through. */
const VIEWS_OF: Readonly<Record<TableName, RegExp>> = {
  hops: /hops|reports|paths/i,
  events: /events/i,
  flows: /flows/i,
};
/** Functions that make the name of a view of texts. */
const HIDDEN_NAME = /\bquery(_table)?\b/i;

/** Tables whose files a query may read: those whose views its text names. */
export function tablesIn(sql: string): TableName[] {
  return TABLE_NAMES.filter((table) => VIEWS_OF[table].test(sql) || HIDDEN_NAME.test(sql));
}

/** Types of a view's columns, by those of the files: numbers become signed, so that differences may be negative. */
const VIEW_TYPES: Readonly<Record<ColumnType, string>> = {
  BOOLEAN: 'BOOLEAN',
  UINTEGER: 'BIGINT',
  UBIGINT: 'UBIGINT',
  TIMESTAMP_NS: 'TIMESTAMP_NS',
  DOUBLE: 'DOUBLE',
  ENUM: 'VARCHAR',
  VARCHAR: 'VARCHAR',
};

/** Columns that are shown in another form than they are stored in. */
const HIDDEN = ['instance', 'number'];
const ID = `printf('%016x-%d', instance, number) AS id`;
const FLOW = 'source, destination, protocol, "sourcePort", "destinationPort"';

function typeOf(table: TableName, name: string, type: ColumnType): string {
  return SCHEMA_TABLES[table].ofJson[name] ?? VIEW_TYPES[type];
}

/**
 * Tables that have got columns since the first files were written: theirs are found by name, and are empty in older files. Others
 * are read without a look at every file before.
 */
const GROWN: readonly TableName[] = ['events'];

/** The rows of a table's files with their columns as stored; a table without files is empty. */
function filesView(table: TableName, files: readonly string[]): string {
  const view = `CREATE OR REPLACE VIEW ${identifier(`files of ${table}`)} AS`;
  const isGrown = GROWN.includes(table);
  const read = `FROM read_parquet(${list(files)}, hive_partitioning = false, union_by_name = ${isGrown})`;
  if (files.length > 0 && !isGrown) return `${view} ${read}`;
  const columns = SCHEMA_TABLES[table].columns.map(
    ({ name, type }) => `NULL::${type === 'ENUM' ? 'VARCHAR' : typeOf(table, name, type)} AS ${identifier(name)}`,
  );
  const empty = `SELECT ${columns.join(', ')} WHERE false`;
  return files.length === 0 ? `${view} ${empty}` : `${view} (${empty}) UNION ALL BY NAME (SELECT * ${read})`;
}

function columnsOf(table: TableName): string[] {
  return SCHEMA_TABLES[table].columns
    .filter(({ name }) => !HIDDEN.includes(name))
    .map(({ name, type }) => `${identifier(name)}::${typeOf(table, name, type)} AS ${identifier(name)}`);
}

/** Columns of `hops` that belong to a hop; the others are those of its report. */
function isOfHop(name: string): boolean {
  return SCHEMA_TABLES.hops.columns.some((column) => column.name === name && column.isOfRecord !== true);
}

/** SQL that defines the views. */
export function viewStatements(files: StoreFiles): string[] {
  const from = (table: TableName): string => identifier(`files of ${table}`);
  const ofReports = SCHEMA_TABLES.hops.columns
    .filter(({ name }) => !HIDDEN.includes(name) && !isOfHop(name))
    .map(({ name, type }) => `${identifier(name)}::${VIEW_TYPES[type]} AS ${identifier(name)}`);
  return [
    ...TABLE_NAMES.map((table) => filesView(table, files[table])),
    `CREATE OR REPLACE VIEW hops AS SELECT ${[ID, ...columnsOf('hops')].join(', ')} FROM ${from('hops')} WHERE hop IS NOT NULL`,
    `CREATE OR REPLACE VIEW reports AS SELECT ${[ID, ...ofReports].join(', ')} FROM ${from('hops')} WHERE coalesce(hop, 0) = 0`,
    `CREATE OR REPLACE VIEW events AS SELECT ${[ID, ...columnsOf('events')].join(', ')} FROM ${from('events')}`,
    `CREATE OR REPLACE VIEW flows AS SELECT ${[ID, ...columnsOf('flows')].join(', ')} FROM ${from('flows')}`,
    `CREATE OR REPLACE VIEW paths AS SELECT ${FLOW}, path::UINTEGER[] AS path, reports, "firstTime", "lastTime" FROM (
       SELECT ${FLOW}, path, count(*) AS reports, min(time) AS "firstTime", max(time) AS "lastTime"
       FROM reports GROUP BY ${FLOW}, path)`,
  ];
}
