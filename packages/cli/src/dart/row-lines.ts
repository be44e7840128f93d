/** NDJSON as rows of a store: keys or flows, values or paths. */
import type { Flow } from '@int/codec';
import { pathValue } from '@int/dart';
import { MAX_KEY_BYTES } from '@int/dart/internals';
import { bytesOfHex } from '../output/bad-lines.js';
import { keyOfFlow, parseFlow } from './flow-key.js';

export interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** The switches that the line names. */
  readonly nodes: readonly number[];
}

/** A line of untrusted input: every member may be missing or of another type. */
interface RowJson {
  readonly key?: unknown;
  readonly flow?: unknown;
  readonly switch?: unknown;
  readonly value?: unknown;
  readonly path?: unknown;
}

function uint(value: unknown, most: number, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new TypeError(`${name} is no whole number from 0 to ${most}`);
}

function flowOf(value: unknown): Flow {
  if (typeof value === 'string') return parseFlow(value);
  if (typeof value !== 'object' || value === null) throw new TypeError('flow is neither text nor an object');
  const { source, destination, protocol, sourcePort = 0, destinationPort = 0 } = value as Record<string, unknown>;
  if (typeof source !== 'string' || typeof destination !== 'string') {
    throw new TypeError('flow has no source or no destination');
  }
  return {
    source,
    destination,
    protocol: uint(protocol, 0xff, 'flow.protocol'),
    sourcePort: uint(sourcePort, 0xffff, 'flow.sourcePort'),
    destinationPort: uint(destinationPort, 0xffff, 'flow.destinationPort'),
  };
}

function keyOf(json: RowJson): Uint8Array {
  if (json.key !== undefined) {
    const key = bytesOfHex(json.key, 'key');
    if (key.length === 0 || key.length > MAX_KEY_BYTES) throw new TypeError(`a key has 1 to ${MAX_KEY_BYTES} bytes`);
    return key;
  }
  if (json.flow === undefined || json.flow === null) throw new TypeError('there is neither a key nor a flow');
  const node = json.switch === undefined ? undefined : uint(json.switch, 0xffff_ffff, 'switch');
  return keyOfFlow(flowOf(json.flow), node);
}

function bytesOf(json: RowJson, valueBytes: number): Uint8Array {
  if (json.value !== undefined) {
    const given = bytesOfHex(json.value, 'value');
    if (given.length > valueBytes) throw new TypeError(`the value has ${given.length} bytes, slots hold ${valueBytes}`);
    if (given.length === valueBytes) return given;
    const padded = new Uint8Array(valueBytes);
    padded.set(given);
    return padded;
  }
  if (!Array.isArray(json.path) || json.path.length === 0) throw new TypeError('there is neither a value nor a path');
  if (valueBytes % 4 !== 0) throw new TypeError(`a path needs values of a multiple of 4 bytes, not ${valueBytes}`);
  const nodes = json.path.map((node: unknown) =>
    node === null ? null : uint(node, 0xffff_ffff, 'a node of the path'),
  );
  if (nodes.every((node) => node === null)) throw new TypeError('no node of the path is named');
  return pathValue(nodes, valueBytes);
}

/**
 * Reads a line: `{"key":HEX | "flow":TEXT or as in int decode, with "switch":ID, "value":HEX | "path":[ID,...]}`. A
 * short value is padded with zeros at its end.
 * @throws SyntaxError, TypeError, FlowTextError with a description of the problem
 */
export function readRow(line: string, valueBytes: number): Row {
  const json: unknown = JSON.parse(line);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new TypeError('not a JSON object');
  const { switch: node, path } = json as RowJson;
  const named: unknown[] = [node, ...(Array.isArray(path) ? path : [])];
  const nodes = named.filter((one) => typeof one === 'number');
  return { key: keyOf(json), value: bytesOf(json, valueBytes), nodes };
}
