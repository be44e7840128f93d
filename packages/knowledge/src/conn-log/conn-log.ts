import { parseAddress } from '@int/codec';
import type { ConnectionObservation } from '../observation.js';
import { ConnLogError } from './error.js';

/** Columns that are read; the others are passed over. */
const COLUMNS = ['ts', 'id.orig_h', 'id.orig_p', 'id.resp_h', 'id.resp_p', 'proto', 'conn_state'] as const;
const OPTIONAL = ['orig_bytes', 'orig_ip_bytes', 'orig_pkts', 'resp_pkts'] as const;
type Column = (typeof COLUMNS)[number] | (typeof OPTIONAL)[number];

const PROTOCOLS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17 };
/** States in which the other side has answered, and in which it has not; of the others the log does not tell. */
const ANSWERED = new Set(['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR']);
const UNANSWERED = new Set(['S0', 'REJ', 'RSTOS0', 'SH']);
/** Longest line that is read. */
const LINE = 65_536;
const MOST_PACKETS = 1e9;

/**
 * Reads the lines of a `conn.log` of Zeek: tab-separated with its `#fields`, or one JSON object per line. Lines may come
 * in any order; a log is in the order in which connections ended.
 *
 * @example
 * const log = new ConnLog();
 * for (const line of lines) {
 *   const connection = log.read(line);
 *   if (connection !== null) plane.connection(connection);
 * }
 */
export class ConnLog {
  #lines = 0;
  #separator = '\t';
  #unset = '-';
  #indices: Partial<Record<Column, number>> | null = null;

  /**
   * @returns the connection of a line; `null` for a comment, an empty line, or a protocol other than TCP, UDP and ICMP
   * @throws ConnLogError with the number of the line for one that is no connection
   */
  read(line: string): ConnectionObservation | null {
    this.#lines++;
    if (line.length > LINE) throw this.#error(`the line has more than ${LINE} characters`);
    if (line === '') return null;
    if (line.startsWith('#')) {
      this.#comment(line);
      return null;
    }
    return this.#connection(line.startsWith('{') ? this.#json(line) : this.#columns(line));
  }

  #comment(line: string): void {
    const [name = '', ...values] = line.split(line.startsWith('#separator') ? ' ' : this.#separator);
    if (name === '#separator') this.#separator = characterOf(values[0] ?? '\\x09');
    else if (name === '#unset_field') this.#unset = values[0] ?? '-';
    else if (name === '#fields') {
      const indices: Partial<Record<Column, number>> = {};
      for (const column of [...COLUMNS, ...OPTIONAL]) {
        const index = values.indexOf(column);
        if (index >= 0) indices[column] = index;
      }
      const missing = COLUMNS.filter((column) => indices[column] === undefined);
      if (missing.length > 0) throw this.#error(`#fields lacks ${missing.join(', ')}`);
      this.#indices = indices;
    }
  }

  #columns(line: string): (column: Column) => string | null {
    const indices = this.#indices;
    if (indices === null) throw this.#error('there is no #fields line before it');
    const cells = line.split(this.#separator);
    return (column) => {
      const index = indices[column];
      const cell = index === undefined ? undefined : cells[index];
      return cell === undefined || cell === this.#unset ? null : cell;
    };
  }

  #json(line: string): (column: Column) => string | null {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw this.#error('it is no JSON');
    }
    const cells = new Map(Object.entries(value as object));
    return (column) => {
      const cell = cells.get(column);
      return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : null;
    };
  }

  #connection(cell: (column: Column) => string | null): ConnectionObservation | null {
    const protocol = PROTOCOLS[cell('proto') ?? ''];
    if (protocol === undefined) return null;
    const state = cell('conn_state') ?? '';
    const number = (column: Column, most: number): number => {
      const text = cell(column);
      if (text === null) return 0;
      const value = Number(text);
      if (!(value >= 0 && value <= most)) throw this.#error(`${column} is ${JSON.stringify(text.slice(0, 64))}`);
      return value;
    };
    const timeMs = number('ts', 1e11) * 1000;
    return {
      timeMs,
      source: this.#address(cell('id.orig_h'), 'id.orig_h'),
      destination: this.#address(cell('id.resp_h'), 'id.resp_h'),
      // Of ICMP these are type and code.
      sourcePort: protocol === 1 ? 0 : number('id.orig_p', 65_535),
      destinationPort: protocol === 1 ? 0 : number('id.resp_p', 65_535),
      protocol,
      answered: ANSWERED.has(state) ? true : UNANSWERED.has(state) ? false : null,
      established: protocol === 6 && ANSWERED.has(state),
      packetsOut: number('orig_pkts', MOST_PACKETS),
      packetsIn: number('resp_pkts', MOST_PACKETS),
      bytesOut: number('orig_ip_bytes', 1e15) || number('orig_bytes', 1e15),
    };
  }

  #address(text: string | null, column: string): string {
    try {
      parseAddress(text ?? '');
    } catch {
      throw this.#error(`${column} is no address: ${JSON.stringify((text ?? '').slice(0, 64))}`);
    }
    return text!;
  }

  #error(message: string): ConnLogError {
    return new ConnLogError(message, this.#lines);
  }
}

function characterOf(text: string): string {
  const code = /^\\x([0-9a-fA-F]{2})$/.exec(text)?.[1];
  return code === undefined ? text : String.fromCharCode(Number.parseInt(code, 16));
}
