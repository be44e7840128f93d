import { hasPorts, parseMacNumber, parsePorts, parsePrefix, parseProtocol, protocolName } from './address.js';
import { described, type Given, type Shape } from './given.js';
import { HOP_KEYS, isGroup, readDscp, readGroup, readHopMatch } from './hops.js';
import { type Known, laterKeys } from './known.js';
import { MATCH_ANY, type Match, type Prefix } from './model.js';

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
  aliases: /* @__PURE__ */ Object.fromEntries(
    Object.entries({
      protocol: ['proto'],
      source: ['src', 'srcIp', 'sourceIp', 'sourceAddress'],
      destination: ['dst', 'dest', 'dstIp', 'destinationIp', 'destinationAddress'],
      sourcePort: ['sport', 'srcPort'],
      destinationPort: ['dport', 'dstPort', 'destPort', 'port'],
      sourceMac: ['srcMac'],
      destinationMac: ['dstMac'],
    }).flatMap(([key, aliases]) => aliases.map((alias) => [alias, key])),
  ),
  elsewhere: /* @__PURE__ */ laterKeys(HOP_KEYS),
};

const SHAPE_2: Shape = {
  ...SHAPE,
  keys: { ...SHAPE.keys, ...HOP_KEYS },
  aliases: {
    ...SHAPE.aliases,
    switchId: 'switch',
    nodeId: 'switch',
    queueId: 'queue',
    egress: 'egressInterface',
    egressPort: 'egressInterface',
    tos: 'dscp',
  },
  elsewhere: {},
};

/** A match as people write it; `null` if it is wrong. */
export function readMatch(given: Given, { version, topology }: Known): Match | null {
  if (given.value === 'any') return MATCH_ANY;
  const { findings } = given;
  const before = findings.length;
  const mapping = given.shaped(version === 1 ? SHAPE : SHAPE_2, '{ protocol: tcp, destination: 10.1.2.3 }, or any');
  if (mapping === null) return null;

  /** The value of a key, read from text (or a number); `null`: any. */
  const field = <T>(
    key: keyof Match,
    example: string,
    numbers: boolean,
    read: (value: string | number) => T,
  ): T | null =>
    mapping.read(key, (each) => {
      const { value } = each;
      if (value === 'any') return null;
      if (typeof value === 'string' || (numbers && typeof value === 'number')) return each.attempt(() => read(value));
      const type = numbers ? 'a number or text' : 'text';
      return each.refuse('WRONG_TYPE', `${key} is ${type}, as ${example}, or any, not ${described(value)}`);
    });

  const end = (key: 'source' | 'destination'): Prefix | null =>
    version > 1 && isGroup(mapping.get(key)?.value, topology)
      ? null
      : field(key, '10.0.0.0/8', false, (text) => parsePrefix(String(text)));
  const group = (key: string): readonly Prefix[] | null => {
    const each = mapping.get(key);
    return version > 1 && each !== undefined && (key === 'group' || isGroup(each.value, topology))
      ? readGroup(each, topology)
      : null;
  };
  const flow: Match = {
    protocol: field('protocol', 'tcp', true, parseProtocol),
    source: end('source'),
    destination: end('destination'),
    sourcePort: field('sourcePort', '80-443', true, parsePorts),
    destinationPort: field('destinationPort', '80-443', true, parsePorts),
    sourceMac: field('sourceMac', '02:00:00:00:00:01', false, (text) => parseMacNumber(String(text))),
    destinationMac: field('destinationMac', '02:00:00:00:00:01', false, (text) => parseMacNumber(String(text))),
  };
  const more = {
    sourceGroup: group('source'),
    destinationGroup: group('destination'),
    group: group('group'),
    dscp: version > 1 ? readDscp(mapping) : null,
    hops: version > 1 ? readHopMatch(mapping, topology) : null,
  };
  const named = Object.entries(more).filter(([, value]) => value !== null);
  const match: Match = named.length === 0 ? flow : { ...flow, ...Object.fromEntries(named) };
  const { source, destination, protocol } = match;
  if (source !== null && destination !== null && source.version !== destination.version) {
    const message =
      `the source is IPv${source.version} and the destination IPv${destination.version}: no packet has both; ` +
      `write an IPv${source.version} destination, or any`;
    mapping.get('destination')!.refuse('BAD_ADDRESS', message);
  }
  for (const key of ['sourcePort', 'destinationPort'] as const) {
    if (protocol === null || match[key] === null || hasPorts(protocol)) continue;
    const message = `flows of ${protocolName(protocol)} have no ports: leave ${key} out, or match tcp, udp, sctp or udplite`;
    mapping.get(key)!.refuse('BAD_PORT', message);
  }
  return findings.length === before ? match : null;
}
