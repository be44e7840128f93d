import { formatIpv4, formatIpv6, METRIC_NAMES, type MetricName } from '@int/codec';
import fc from 'fast-check';
import { PROTOCOLS } from '../../../src/rules/address.js';
import type { Match, Prefix } from '../../../src/rules/model.js';
import type { DetectSpec, MatchSpec, QuantitySpec, RuleSpec, RulesSpec, UnitsSpec } from '../../../src/rules/spec.js';

const uint32 = fc.integer({ min: 0, max: 0xffffffff });

/** A key that may be left out. */
function optional<K extends string, T>(key: K, value: fc.Arbitrary<T>): fc.Arbitrary<Partial<Record<K, T>>> {
  return fc
    .option(value, { nil: undefined })
    .map((each) => (each === undefined ? {} : { [key]: each })) as fc.Arbitrary<Partial<Record<K, T>>>;
}

function merged<T>(...parts: readonly fc.Arbitrary<Partial<T>>[]): fc.Arbitrary<Partial<T>> {
  return fc.tuple(...parts).map((each) => Object.assign({}, ...each) as Partial<T>);
}

function masked(words: readonly number[], length: number): number[] {
  return words.map((word, i) => {
    const bits = Math.min(32, Math.max(0, length - 32 * i));
    return bits === 0 ? 0 : (word & (0xffffffff << (32 - bits))) >>> 0;
  });
}

/** Few different bits, so that prefixes meet. */
const addressWord = fc.oneof(fc.constantFrom(0, 0x0a000000, 0x0a000001, 0x0a0a0000, 0x20010db8, 0xffffffff), uint32);

export function prefixes(version: 4 | 6): fc.Arbitrary<Prefix> {
  const words = version === 4 ? 1 : 4;
  const bits = 32 * words;
  return fc
    .record({
      words: fc.array(addressWord, { minLength: words, maxLength: words }),
      length: fc.oneof(fc.constantFrom(0, 1, 8, 31, 32, bits - 1, bits), fc.integer({ min: 0, max: bits })),
    })
    .map((each) => ({ version, words: masked(each.words, each.length), length: each.length }));
}

const portRanges = fc
  .tuple(
    fc.oneof(fc.constantFrom(0, 80, 443, 0xffff), fc.integer({ min: 0, max: 0xffff })),
    fc.integer({ min: 0, max: 0xffff }),
    fc.boolean(),
  )
  .map(([a, b, single]) => (single ? { from: a, to: a } : { from: Math.min(a, b), to: Math.max(a, b) }));

const macs = fc.oneof(fc.constantFrom(0, 1, 0x020000000001), fc.integer({ min: 0, max: 2 ** 48 - 1 }));
const withPorts = [6, 17, 132, 136];

/** Matches that a rule can have; also empty ones if `anyProtocol`: ports of a protocol without ports. */
export function matches(anyProtocol = false): fc.Arbitrary<Match> {
  return fc.constantFrom(4 as const, 6 as const).chain((version) =>
    fc
      .record({
        protocol: fc.option(fc.oneof(fc.constantFrom(1, 6, 17, 58), fc.integer({ min: 0, max: 255 }))),
        source: fc.option(prefixes(version)),
        destination: fc.option(prefixes(version)),
        sourcePort: fc.option(portRanges, { freq: 1 }),
        destinationPort: fc.option(portRanges, { freq: 1 }),
        sourceMac: fc.option(macs, { freq: 1 }),
        destinationMac: fc.option(macs, { freq: 1 }),
      })
      .map((match) =>
        anyProtocol || match.protocol === null || withPorts.includes(match.protocol)
          ? match
          : { ...match, sourcePort: null, destinationPort: null },
      ),
  );
}

function prefixSpec({ version, words, length }: Prefix): string {
  const text = version === 4 ? formatIpv4(words[0]!) : formatIpv6(words[0]!, words[1]!, words[2]!, words[3]!);
  return length === 32 * words.length ? text : `${text}/${length}`;
}

function macSpec(mac: number): string {
  return (mac.toString(16).padStart(12, '0').match(/../g) ?? []).join(':');
}

function matchSpec(match: Match): MatchSpec {
  const name = Object.keys(PROTOCOLS).find((each) => PROTOCOLS[each] === match.protocol);
  const ports = (range: Match['sourcePort']): Record<string, string> | string =>
    range === null ? 'any' : `${range.from}-${range.to}`;
  return {
    protocol: match.protocol === null ? 'any' : (name ?? match.protocol),
    ...(match.source === null ? {} : { source: prefixSpec(match.source) }),
    destination: match.destination === null ? 'any' : prefixSpec(match.destination),
    ...(match.sourcePort === null
      ? {}
      : {
          sourcePort:
            match.sourcePort.from === match.sourcePort.to ? match.sourcePort.from : String(ports(match.sourcePort)),
        }),
    ...(match.destinationPort === null ? {} : { destinationPort: String(ports(match.destinationPort)) }),
    ...(match.sourceMac === null ? {} : { sourceMac: macSpec(match.sourceMac) }),
    ...(match.destinationMac === null
      ? {}
      : { destinationMac: macSpec(match.destinationMac).toUpperCase().replaceAll(':', '-') }),
  };
}

/** Units whose scales are alike everywhere (`same`), or not. */
const unitsSpecs: fc.Arbitrary<{ readonly units: UnitsSpec; readonly same: boolean }> = fc.oneof(
  fc.constant({
    same: true,
    units: { hopLatency: 'ns', queueOccupancy: { cell: '80B' }, egressUtilization: { full: 10_000 } },
  }),
  fc.constant({ same: true, units: { hopLatency: '10 ns', queueOccupancy: 'B', egressUtilization: '0.01%' } }),
  fc.constant({
    same: false,
    units: {
      hopLatency: { default: 'ns', switches: { '0': 'us', '4294967295': '10ns' } },
      queueOccupancy: { default: { cell: 80 }, switches: { '7': 'KiB' } },
      egressUtilization: { default: '%', switches: { '1': { full: 255 } } },
    },
  }),
);
const UNIT_TEXTS: Readonly<Partial<Record<MetricName, readonly string[]>>> = {
  hopLatency: ['us', 'ns', ' us', '\u00b5s', 'ps'],
  queueOccupancy: ['KB', 'KiB', 'B', ' kB'],
  egressUtilization: ['%', ' %'],
};

function thresholds(metric: MetricName, withUnits: boolean): fc.Arbitrary<QuantitySpec> {
  const plain = fc.oneof(uint32, fc.constantFrom(0, 0xffffffff, 0.5, '17', '4294967295'));
  const texts = UNIT_TEXTS[metric];
  if (!withUnits || texts === undefined) return plain;
  const numbers = fc.oneof(fc.integer({ min: 0, max: 1000 }).map(String), fc.constantFrom('0.5', '12.75'));
  return fc.oneof(
    plain,
    fc.tuple(numbers, fc.constantFrom(...texts)).map((parts) => parts.join('')),
  );
}

const metricNames = fc.oneof(
  fc.constantFrom('hopLatency', 'queueOccupancy', 'egressUtilization' as const),
  fc.constantFrom(...METRIC_NAMES),
);

function detectSpecs(withUnits: boolean, same: boolean): fc.Arbitrary<DetectSpec> {
  return metricNames.chain((metric): fc.Arbitrary<DetectSpec> => {
    const hop = thresholds(metric, withUnits);
    const sum = thresholds(metric, withUnits && same);
    const perSwitch = fc.record({
      default: hop,
      switches: fc.dictionary(uint32.map(String), hop, { minKeys: 1, maxKeys: 3 }),
    });
    const hopThreshold = fc.oneof({ weight: 3, arbitrary: hop }, { weight: 1, arbitrary: perSwitch });
    const smoothing = fc.oneof(
      fc.record({ weight: fc.integer({ min: 0, max: 15 }) }),
      fc.record({ alpha: fc.constantFrom(1, 0.125, 1e-9) }),
    );
    const scoped = fc.oneof(
      fc
        .tuple(hopThreshold, optional('scope', fc.constant('hop' as const)))
        .map(([threshold, scope]) => ({ metric, threshold, ...scope })),
      sum.map((threshold) => ({ metric, threshold, scope: 'endToEnd' as const })),
    );
    const condition = fc.tuple(
      fc.constantFrom('any', 'all', 'sum', 'max', 'min', 'last', 'delta'),
      fc.constantFrom('>', '<=', '<', '>='),
      sum.filter((each) => !/[eE]/.test(String(each))),
    );
    return fc.oneof(
      fc.constant({ noop: {} }),
      fc.constant({ pathChange: {} }),
      hopThreshold.map((threshold) => ({ perHop: { metric, threshold } })),
      sum.map((threshold) => ({ perFlow: { metric, threshold } })),
      fc.tuple(sum, smoothing).map(([threshold, each]) => ({ movingAverage: { metric, threshold, ...each } })),
      scoped.map((threshold) => ({ threshold })),
      scoped.map((change) => ({ change })),
      fc.array(condition, { minLength: 1, maxLength: 4 }).map((conditions) => ({
        complex: conditions
          .map(([aggregate, operator, text]) => `${aggregate}(${metric}) ${operator} ${text}`)
          .join(' or '),
      })),
    );
  });
}

const ADAPTABLE = ['perHop', 'perFlow', 'movingAverage', 'threshold', 'change'];

/** The threshold of a detector if one number in device units; else `null`. */
function plainThreshold(detect: DetectSpec): number | null {
  const [kind, parameters] = Object.entries(detect)[0] as [string, { readonly threshold?: unknown }];
  if (!ADAPTABLE.includes(kind)) return null;
  return typeof parameters.threshold === 'number' ? Math.floor(parameters.threshold) : null;
}

/** Names of all kinds, also those of properties that every object has. */
const names = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
    fc.constantFrom('__proto__', 'constructor', 'web-latency', '*', '5'),
  )
  .map((name) => name.replaceAll(/\p{Cc}/gu, '').trim())
  .filter((name) => name !== '');

function ruleSpecs(units: { readonly same: boolean } | null): fc.Arbitrary<Omit<RuleSpec, 'name' | 'priority'>> {
  return detectSpecs(units !== null, units?.same ?? true).chain((detect) => {
    const threshold = plainThreshold(detect);
    const adapt =
      threshold === null
        ? fc.constant({})
        : optional(
            'adapt',
            fc.record({
              target: fc.oneof(fc.constantFrom('1000/s', '0.5 / s', '7'), fc.integer({ min: 1, max: 1e9 })),
              min: fc.integer({ min: 0, max: threshold }),
              max: fc.integer({ min: threshold, max: 0xffffffff }),
            }),
          );
    return merged<Omit<RuleSpec, 'name' | 'priority'>>(
      fc.oneof(fc.constant('any' as const), matches().map(matchSpec)).map((match) => ({ match })),
      fc.constant({ detect }),
      optional(
        'sample',
        fc.oneof(
          fc.record({ oneIn: fc.integer({ min: 1, max: 0xffffffff }) }),
          fc.record({ every: fc.constantFrom('1ms', '0.5 s', '1ns', '1000ps', '9007199254740991ns') }),
        ),
      ) as fc.Arbitrary<Partial<RuleSpec>>,
      adapt as fc.Arbitrary<Partial<RuleSpec>>,
    ) as fc.Arbitrary<Omit<RuleSpec, 'name' | 'priority'>>;
  });
}

/** Rule sets that can be compiled: no two rules have the same priority. */
export const validSpecs: fc.Arbitrary<RulesSpec> = fc.option(unitsSpecs).chain((units) =>
  fc
    .record({
      head: merged<RulesSpec>(
        fc.constant({ version: 1 as const }),
        optional('default', fc.constantFrom('report' as const, 'drop' as const)),
        optional('adapt', fc.record({ target: fc.constantFrom(1000, '1000/s') })),
        optional('$schema', fc.constant('./rules.schema.json')),
        fc.constant(units === null ? {} : { units: units.units }),
      ),
      rules: fc.array(ruleSpecs(units), { maxLength: 5 }),
      names: fc.uniqueArray(names, { minLength: 5, maxLength: 5 }),
      priorities: fc.uniqueArray(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { minLength: 5, maxLength: 5 }),
    })
    .map(
      ({ head, rules, names: named, priorities }) =>
        ({
          ...head,
          rules: rules.map((rule, i) => ({ name: named[i]!, priority: priorities[i]!, ...rule })),
        }) as RulesSpec,
    ),
);

/** A value that may stand anywhere by mistake. */
const mistakes: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    [],
    {},
    '',
    'any',
    '10us',
    '5KB',
    '90%',
    -1,
    0,
    1.5,
    2 ** 32,
    '-3',
    '1e3',
    'hop',
    '::1',
    '10.0.0.0/8',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** All mappings and lists in a value, outermost first. */
function containers(value: unknown): (Record<string, unknown> | unknown[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Record<string, unknown> | unknown[];
  return [container, ...Object.values(container).flatMap(containers)];
}

/** Valid rule sets in which one to three values were changed, removed, added or renamed. Many are not valid any more. */
export const mutatedSpecs: fc.Arbitrary<unknown> = fc
  .tuple(
    validSpecs,
    fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(3), mistakes, fc.string({ maxLength: 8 })), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([spec, edits]) => {
    const copy = JSON.parse(JSON.stringify(spec)) as unknown;
    for (const [where, which, how, mistake, name] of edits) {
      // A copy of its own: a later edit may reach into it.
      const value = structuredClone(mistake);
      const all = containers(copy);
      const container = all[where % all.length]!;
      const keys = Object.keys(container);
      const key = keys[which % Math.max(1, keys.length)];
      if (Array.isArray(container)) {
        if (how === 0 && key !== undefined) container.splice(Number(key), 1);
        else if (key !== undefined) container[Number(key)] = value;
        else container.push(value);
      } else if (how === 0 && key !== undefined) delete container[key];
      else if (how === 1 && key !== undefined) {
        container[name] = container[key];
        delete container[key];
      } else if (how === 2) container[name] = value;
      else if (key !== undefined) container[key] = value;
    }
    return copy;
  });
