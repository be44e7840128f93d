import {
  AddressProblem,
  hasPorts,
  parseMacNumber,
  parsePorts,
  parsePrefix,
  parseProtocol,
  protocolName,
} from './address.js';
import type { Match } from './model.js';
import { described, type Findings, type Path, type Shape } from './problems.js';

/** Matches every report, those without a known flow included. */
export const MATCH_ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

const SHAPE: Shape = {
  what: 'a match',
  keys: {
    protocol: 'protocol: tcp',
    source: 'source: 10.0.0.0/8',
    destination: 'destination: 10.1.2.3',
    sourcePort: 'sourcePort: any',
    destinationPort: 'destinationPort: 80-443',
    sourceMac: 'sourceMac: 02:00:00:00:00:01',
    destinationMac: 'destinationMac: 02:00:00:00:00:01',
  },
  aliases: {
    proto: 'protocol',
    src: 'source',
    srcIp: 'source',
    sourceIp: 'source',
    sourceAddress: 'source',
    dst: 'destination',
    dest: 'destination',
    dstIp: 'destination',
    destinationIp: 'destination',
    destinationAddress: 'destination',
    sport: 'sourcePort',
    srcPort: 'sourcePort',
    dport: 'destinationPort',
    dstPort: 'destinationPort',
    destPort: 'destinationPort',
    port: 'destinationPort',
    srcMac: 'sourceMac',
    dstMac: 'destinationMac',
  },
};

/** A match as people write it; `null` and findings if it is wrong. */
export function readMatch(value: unknown, path: Path, findings: Findings): Match | null {
  if (value === 'any') return MATCH_ANY;
  const before = findings.all.length;
  const mapping = findings.shaped(value, path, SHAPE, '{ protocol: tcp, destination: 10.1.2.3 }, or any');
  if (mapping === null) return null;

  /** The value of a key, read from text (or a number); `null`: any. */
  function field<T>(
    key: keyof Match,
    example: string,
    numbers: boolean,
    read: (value: string | number) => T,
  ): T | null {
    const each = mapping?.get(key);
    if (each === undefined || each === 'any') return null;
    if (typeof each !== 'string' && !(numbers && typeof each === 'number')) {
      const type = numbers ? 'a number or text' : 'text';
      findings.add('WRONG_TYPE', [...path, key], `${key} is ${type}, as ${example}, or any, not ${described(each)}`);
      return null;
    }
    try {
      return read(each);
    } catch (error) {
      if (!(error instanceof AddressProblem)) throw error;
      findings.add(error.code, [...path, key], error.message);
      return null;
    }
  }

  const match: Match = {
    protocol: field('protocol', 'tcp', true, parseProtocol),
    source: field('source', '10.0.0.0/8', false, (text) => parsePrefix(String(text))),
    destination: field('destination', '10.0.0.0/8', false, (text) => parsePrefix(String(text))),
    sourcePort: field('sourcePort', '80-443', true, parsePorts),
    destinationPort: field('destinationPort', '80-443', true, parsePorts),
    sourceMac: field('sourceMac', '02:00:00:00:00:01', false, (text) => parseMacNumber(String(text))),
    destinationMac: field('destinationMac', '02:00:00:00:00:01', false, (text) => parseMacNumber(String(text))),
  };
  if (match.source !== null && match.destination !== null && match.source.version !== match.destination.version) {
    findings.add(
      'BAD_ADDRESS',
      [...path, 'destination'],
      `the source is IPv${match.source.version} and the destination IPv${match.destination.version}: no packet has both; ` +
        `write an IPv${match.source.version} destination, or any`,
    );
  }
  for (const key of ['sourcePort', 'destinationPort'] as const) {
    if (match.protocol === null || match[key] === null || hasPorts(match.protocol)) continue;
    findings.add(
      'BAD_PORT',
      [...path, key],
      `flows of ${protocolName(match.protocol)} have no ports: leave ${key} out, or match tcp, udp, sctp or udplite`,
    );
  }
  return findings.all.length === before ? match : null;
}
