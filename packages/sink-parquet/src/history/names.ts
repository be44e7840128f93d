import type { Topology } from '@int/network';
import { literal } from '../engine/sql.js';

/** Rows of one statement: a longer text takes the engine long to read. */
const MOST_ROWS = 1000;

function inserts(table: string, rows: readonly string[]): string[] {
  const statements: string[] = [];
  for (let at = 0; at < rows.length; at += MOST_ROWS) {
    statements.push(`INSERT INTO ${table} VALUES ${rows.slice(at, at + MOST_ROWS).join(', ')}`);
  }
  return statements;
}

const text = (value: string | null): string => (value === null ? 'NULL' : literal(value));
const number = (value: number | null): string => (value === null ? 'NULL' : String(value));

/**
 * SQL that makes the tables `switches` (nodeId, nodeName) and `ports` (nodeId, port, portName, peerId, peerPort, speedBps) of a
 * topology.
 */
export function nameStatements(topology: Topology): string[] {
  const switches = [...topology.switches.values()];
  const ports = switches.flatMap(({ id, ports: all }) =>
    [...all.values()].map(({ number: port, to, speedBps }) => {
      const peer = to?.kind === 'switch' ? to : null;
      const name = text(topology.portName(id, port));
      return `(${id}, ${port}, ${name}, ${number(peer?.switchId ?? null)}, ${number(peer?.port ?? null)}, ${number(speedBps)})`;
    }),
  );
  return [
    'CREATE TABLE switches ("nodeId" BIGINT, "nodeName" VARCHAR)',
    'CREATE TABLE ports ("nodeId" BIGINT, port BIGINT, "portName" VARCHAR, "peerId" BIGINT, "peerPort" BIGINT, "speedBps" DOUBLE)',
    ...inserts(
      'switches',
      switches.map(({ id, name }) => `(${id}, ${text(name)})`),
    ),
    ...inserts('ports', ports),
  ];
}

/** Most bytes of the names in a file: each file has them. */
const MOST_BYTES = 1 << 18;

/** Names of switches by id as JSON, for the metadata of files; `null`: there are none, or too many. */
export function namesJson(topology: Topology | undefined): string | null {
  const named = [...(topology?.switches.values() ?? [])].filter(({ name }) => name !== null);
  if (named.length === 0) return null;
  const json = JSON.stringify(Object.fromEntries(named.map(({ id, name }) => [id, name])));
  return Buffer.byteLength(json) > MOST_BYTES ? null : json;
}
