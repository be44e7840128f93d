/** Switches, queues, egress interfaces, DSCP and groups of hosts, as rules of version 2 write them. */
import type { Prefix as BytePrefix, Topology } from '@int/network';
import { nearestName, quoted } from '@int/network/internals';
import { described, type Given, type Mapping } from './given.js';
import type { HopMatch, IdRange, Prefix } from './model.js';

/** Keys of a match beside the flow. */
export const HOP_KEYS: Readonly<Record<string, string>> = {
  switch: 'switch: 3',
  queue: 'queue: 0',
  egressInterface: 'egressInterface: 7',
  dscp: 'dscp: 46',
  group: 'group: servers',
};

const MOST_IDS = 0xffffffff;
const RANGE = /^\s*(\d{1,10}|0x[\da-f]{1,8})(?:\s*-\s*(\d{1,10}))?\s*$/i;

/** A number, a range `3-5`, or a list of both; names where there are some. `null`: any, or it is wrong. */
function readIds(given: Given, what: string, most: number, idOf: (name: string) => number | null): IdRange[] | null {
  const { value } = given;
  if (value === 'any') return null;
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (list.length === 0) return given.refuse('BAD_VALUE', `${what} names none: leave it out, or write any`);
  const ranges: IdRange[] = [];
  for (const [index, each] of list.entries()) {
    const place = Array.isArray(value) ? given.at(index, each) : given;
    const range = readIdRange(place, what, most, idOf);
    if (range !== null) ranges.push(range);
  }
  return ranges.length === list.length ? ranges : null;
}

function readIdRange(given: Given, what: string, most: number, idOf: (name: string) => number | null): IdRange | null {
  const { value } = given;
  if (typeof value !== 'number' && typeof value !== 'string') {
    return given.refuse(
      'WRONG_TYPE',
      `${what} is a number, a range as 3-5, or a list of them, not ${described(value)}`,
    );
  }
  const named = typeof value === 'string' ? idOf(value.trim()) : null;
  if (named !== null) return { from: named, to: named };
  const [, first, last = first] = RANGE.exec(String(value)) ?? [];
  if (first === undefined) {
    const hint = what === 'switch' ? ', or a name of the topology' : '';
    return given.refuse(
      'BAD_VALUE',
      `${quoted(String(value))} is no ${what}: write a number from 0 to ${most}, a range as 3-5${hint}`,
    );
  }
  const [from, to] = [Number(first), Number(last)];
  if (to > most || from > most) return given.refuse('BAD_VALUE', `${what} is a number from 0 to ${most}, not ${value}`);
  if (from > to)
    return given.refuse('BAD_VALUE', `${quoted(String(value))} ends before it starts: write ${to}-${from}`);
  return { from, to };
}

const noName = (): null => null;

/** The hops that a match names; `null`: all. */
export function readHopMatch(mapping: Mapping, topology: Topology | null): HopMatch | null {
  const switches = mapping.read('switch', (each) =>
    readIds(each, 'switch', MOST_IDS, (name) => (/^\d/.test(name) ? null : (topology?.switchId(name) ?? null))),
  );
  const queues = mapping.read('queue', (each) => readIds(each, 'queue', MOST_IDS, noName));
  const egressInterfaces = mapping.read('egressInterface', (each) =>
    readIds(each, 'egressInterface', MOST_IDS, noName),
  );
  return switches === null && queues === null && egressInterfaces === null
    ? null
    : { switches, queues, egressInterfaces };
}

const MOST_DSCP = 63;
/** RFC 2474, RFC 2597, RFC 3246, RFC 5865, RFC 8622. */
const CODE_POINTS: Readonly<Record<string, number>> = /* @__PURE__ */ Object.fromEntries([
  ...Array.from({ length: 8 }, (_, each) => [`cs${each}`, 8 * each]),
  ...[1, 2, 3, 4].flatMap((each) => [1, 2, 3].map((drop) => [`af${each}${drop}`, 8 * each + 2 * drop])),
  ['ef', 46],
  ['va', 44],
  ['le', 1],
]);

/** DSCP values or names (`46`, `0x2e`, `ef`, `8-15`); `null`: any. */
export function readDscp(mapping: Mapping): IdRange[] | null {
  return mapping.read('dscp', (each) =>
    readIds(each, 'dscp', MOST_DSCP, (name) => CODE_POINTS[name.toLowerCase()] ?? null),
  );
}

/** A prefix of bytes as one of words. */
function wordsOf({ bytes, length }: BytePrefix): Prefix {
  const words = Array.from({ length: bytes.length / 4 }, (_, index) =>
    [0, 1, 2, 3].reduce((word, each) => word * 256 + bytes[4 * index + each]!, 0),
  );
  return { version: words.length === 1 ? 4 : 6, words, length };
}

const GROUP = /^group:\s*(.+)$/;

/** The prefixes of a host, or a group of hosts, of the topology: `group: servers`, and `source: group:servers`. */
export function readGroup(given: Given, topology: Topology | null): readonly Prefix[] | null {
  const { value } = given;
  if (value === 'any') return null;
  if (typeof value !== 'string')
    return given.refuse('WRONG_TYPE', `a group is the name of hosts of the topology, not ${described(value)}`);
  const name = GROUP.exec(value.trim())?.[1] ?? value.trim();
  const host = topology?.hosts.get(name);
  if (host !== undefined) {
    if (host.prefixes.length > 0) return host.prefixes.map(wordsOf);
    return given.refuse('BAD_VALUE', `${quoted(name)} has no addresses in the topology: give it some`);
  }
  if (topology === null) {
    return given.refuse(
      'BAD_VALUE',
      `nothing says who ${quoted(name)} is: give a topology with such hosts, or write addresses`,
    );
  }
  const names = [...topology.hosts.keys()];
  const near = nearestName(name, names);
  const hint = near === null ? '' : `; did you mean ${near}?`;
  return given.refuse('BAD_VALUE', `the topology has no hosts called ${quoted(name)}${hint}`);
}

/** Whether an address of a match is a group: named as one, or a name of the topology. */
export function isGroup(value: unknown, topology: Topology | null): boolean {
  return typeof value === 'string' && (GROUP.test(value.trim()) || topology?.hosts.has(value.trim()) === true);
}
