import { parseAddress } from '@int/codec';
import type { ConnectionObservation } from '../observation.js';
import { ConnLogError } from './error.js';

/** Columns that are read; the others are passed over. */
const COLUMNS = ['ts', 'id.orig_h', 'id.orig_p', 'id.resp_h', 'id.resp_p', 'proto', 'conn_state'] as const;
const OPTIONAL = ['duration', 'history', 'orig_bytes', 'orig_ip_bytes', 'orig_pkts', 'resp_pkts'] as const;
type Column = (typeof COLUMNS)[number] | (typeof OPTIONAL)[number];

const PROTOCOLS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17 };
const ICMP = 1;
const TCP = 6;
/** Types of ICMP and ICMPv6 that ask for something; the log has them in place of a port. */
const ECHO_REQUESTS = [8, 128];
/** States in which the other side has answered, and in which it has not; of the others the log does not tell. */
const ANSWERED = new Set(['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR']);
const UNANSWERED = new Set(['S0', 'REJ', 'RSTOS0', 'SH']);
/** In a history: the other side took the connection or sent data; the side that began acknowledged, sent data or ended it. */
const HAS_TAKEN = /[hd]/;
const HAS_COMPLETED = /[ADF]/;
const IS_ONE_SIDED = /^S[^a-z]*[AD][^a-z]*$/;
/** Longest line that is read. */
const LINE = 65_536;
const MOST_PACKETS = 1e9;
/** Zeek writes times in seconds, or as whole milliseconds: the latter are larger since 1973, and the former until 5138. */
const LEAST_MS = 1e11;
const MOST_MS = 1e14;

/**
 * Reads the lines of a `conn.log` of Zeek: tab-separated with its `#fields`, or one JSON object per line, with times in
 * seconds, milliseconds or as text of ISO 8601. Lines may come in any order; a log is in the order in which connections
 * ended. With the column `history` it knows an answer from a refusal, and a half-open connection from a whole one, where
 * the state alone does not tell.
 *
 * @example
 * const log = new ConnLog();
 * for (const line of lines) {
 *   const connection = log.read(line);
 *   if (connection !== null) plane.connection(connection);
 * }
 */
export class ConnLog {
  /** Connections of protocols other than TCP, UDP and ICMP, which are passed over. */
  passedOver = 0;
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
    const record = value as Record<string, unknown>;
    return (column) => {
      const cell = Object.hasOwn(record, column) ? record[column] : null;
      return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : null;
    };
  }

  #connection(cell: (column: Column) => string | null): ConnectionObservation | null {
    const proto = cell('proto');
    if (proto === null) throw this.#error('proto is missing');
    const protocol = Object.hasOwn(PROTOCOLS, proto) ? PROTOCOLS[proto]! : null;
    if (protocol === null) {
      this.passedOver++;
      return null;
    }
    const number = (column: Column, most: number): number => {
      const text = cell(column);
      if (text === null) return 0;
      const value = text.trim() === '' ? Number.NaN : Number(text);
      if (!(value >= 0 && value <= most)) throw this.#error(`${column} is ${JSON.stringify(text.slice(0, 64))}`);
      return value;
    };
    const type = number('id.orig_p', 65_535);
    // Of ICMP these are type and code, and what is no request is no contact.
    const isRequest = protocol !== ICMP || ECHO_REQUESTS.includes(type);
    const answered = isRequest ? answeredOf(protocol, cell) : null;
    return {
      timeMs: this.#time(cell('ts')),
      source: this.#address(cell('id.orig_h'), 'id.orig_h'),
      destination: this.#address(cell('id.resp_h'), 'id.resp_h'),
      sourcePort: protocol === ICMP ? 0 : type,
      destinationPort: protocol === ICMP ? 0 : number('id.resp_p', 65_535),
      protocol,
      answered,
      established:
        protocol === TCP && answered !== false && (answered || cell('history') !== null) && isCompleted(cell),
      packetsOut: number('orig_pkts', MOST_PACKETS),
      packetsIn: number('resp_pkts', MOST_PACKETS),
      bytesOut: number('orig_ip_bytes', 1e15) || number('orig_bytes', 1e15),
      durationMs: 1000 * number('duration', 1e10),
    };
  }

  #time(text: string | null): number {
    if (text === null) throw this.#error('ts is missing');
    const value = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) / 1000 : Number(text.trim() || Number.NaN);
    if (!(value >= 0 && value <= MOST_MS)) throw this.#error(`ts is ${JSON.stringify(text.slice(0, 64))}`);
    return value > LEAST_MS ? value : value * 1000;
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

/** Whether the other side has answered; `null`: the log does not tell. */
function answeredOf(protocol: number, cell: (column: Column) => string | null): boolean | null {
  const packetsIn = cell('resp_pkts');
  // Zeek has no states of ICMP.
  if (protocol === ICMP) return packetsIn === null ? null : Number(packetsIn) > 0;
  const state = cell('conn_state') ?? '';
  const history = cell('history');
  // A client that acknowledges or sends data without an answer in the log: that direction was not seen.
  if (protocol === TCP && history !== null && IS_ONE_SIDED.test(history)) return null;
  if (UNANSWERED.has(state)) return false;
  // What resets a connection that it has never taken refuses it: so a probe without SYN is answered by a closed port.
  const isReset = state === 'RSTR' || state === 'RSTRH';
  if (protocol === TCP && isReset && history !== null && !history.startsWith('^') && !HAS_TAKEN.test(history)) {
    return false;
  }
  return ANSWERED.has(state) ? true : null;
}

/** Whether the side that began has completed the handshake: of a flood with a SYN, its state is S1 as well. */
function isCompleted(cell: (column: Column) => string | null): boolean {
  const history = cell('history');
  if (history !== null) return HAS_COMPLETED.test(history);
  const packetsOut = cell('orig_pkts');
  return packetsOut === null || Number(packetsOut) !== 1;
}

function characterOf(text: string): string {
  const code = /^\\x([0-9a-fA-F]{2})$/.exec(text)?.[1];
  return code === undefined ? text : String.fromCharCode(Number.parseInt(code, 16));
}
