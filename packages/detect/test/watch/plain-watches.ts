/**
 * The watches a second time, written to be read: objects and Maps, one report at a time, times in BigInt. Only the judgement of a
 * window is that of @int/baseline, whose tests hold it to what it promises.
 */
import { Baseline, type Judgement } from '@int/baseline';
import type { Flow, Hop, TelemetryRecord } from '@int/codec';
import type { Rule, WatchConfig } from '@int/detect';
import { SECOND, type Timed } from './streams.js';

/** What a finding says. */
export interface PlainFinding {
  readonly rule: string;
  readonly state: string;
  readonly timeNs: bigint;
  readonly key: string;
  readonly value: number | null;
  readonly evidence: Readonly<Record<string, number>>;
}

type Of<K extends WatchConfig['kind']> = Extract<WatchConfig, { readonly kind: K }>;

const flowText = ({ source, destination, protocol, sourcePort, destinationPort }: Flow): string =>
  `${source} ${destination} ${protocol} ${sourcePort} ${destinationPort}`;

/** The key of a hop; `null`: it does not name it. */
function hopKey(key: WatchConfig['key'], hop: Hop): string | null {
  const { nodeId = null, queueId = null, l1EgressInterface = null } = hop;
  if (nodeId === null) return null;
  if (key === 'switch') return `switch ${nodeId}`;
  const second = key === 'queue' ? queueId : l1EgressInterface;
  return second === null ? null : `${key} ${nodeId} ${second}`;
}

const metricValue = (hop: Hop, metric: Of<'baseline'>['metric']): number | null => hop[metric] ?? null;

/** The values of a report, by key. */
function valuesOf(config: Of<'baseline'> | Of<'burst'>, { hops, flow }: TelemetryRecord): [string, number][] {
  if (config.key === 'flow') {
    const values = hops.flatMap((hop) => metricValue(hop, config.metric) ?? []);
    if (flow === null || values.length === 0) return [];
    const sum = values.reduce((all, value) => all + value, 0);
    return [[flowText(flow), Math.min(sum, 2 ** 32 - 1)]];
  }
  return hops.flatMap((hop): [string, number][] => {
    const key = hopKey(config.key, hop);
    const value = metricValue(hop, config.metric);
    return key === null || value === null ? [] : [[key, value]];
  });
}

/** The keys that a report counts for. */
function keysOf(key: WatchConfig['key'], { hops, flow }: TelemetryRecord): string[] {
  if (key === 'all') return ['all'];
  if (key === 'flow') return flow === null ? [] : [flowText(flow)];
  return hops.flatMap((hop) => hopKey(key, hop) ?? []);
}

interface PlainWatch {
  look(record: TelemetryRecord, timeNs: bigint): PlainFinding[];
  /** The stream's time is now this. */
  pass(timeNs: bigint): PlainFinding[];
}

const milliseconds = (timeNs: bigint): number => Number(timeNs / 1_000_000n);

function baseline(rule: string, config: Of<'baseline'>): PlainWatch {
  const { above, below, learnMs, season } = config;
  const ones = new Map<string, { baseline: Baseline; isUnusual: boolean }>();
  const tell = (key: string, one: { isUnusual: boolean }, judged: Judgement): PlainFinding[] => {
    const { usualness, value, usual, deviation } = judged;
    const isUnusual = usualness !== 'usual' && usualness !== 'learning';
    const was = one.isUnusual;
    if (!isUnusual && (!was || value === null)) return [];
    one.isUnusual = isUnusual;
    const state = isUnusual ? (was ? 'on' : 'open') : 'close';
    const rounded = Math.round(usual ?? 0);
    const evidence =
      value === null
        ? { usual: rounded }
        : { median: Math.round(value), usual: rounded, deviation: Math.round(Math.abs(deviation ?? 0)) };
    const timeNs = BigInt(judged.timeMs) * 1_000_000n;
    return [{ rule, state, timeNs, key, value: value === null ? null : Math.round(value), evidence }];
  };
  return {
    look: (record, timeNs) => {
      for (const [key, value] of valuesOf(config, record)) {
        let one = ones.get(key);
        if (one === undefined) {
          const options = { learnMs, season, ...(above !== null && { above }), ...(below !== null && { below }) };
          one = { baseline: new Baseline(options), isUnusual: false };
          ones.set(key, one);
        }
        one.baseline.observe(milliseconds(timeNs), value);
      }
      return [];
    },
    pass: (timeNs) =>
      [...ones].flatMap(([key, one]) =>
        one.baseline.advance(milliseconds(timeNs)).flatMap((judged) => tell(key, one, judged)),
      ),
  };
}

function rate(rule: string, config: Of<'rate'>): PlainWatch {
  let end: bigint | null = null;
  const counts = new Map<string, { count: number; isAbove: boolean }>();
  const close = (timeNs: bigint): PlainFinding[] =>
    [...counts].flatMap(([key, one]) => {
      const { count } = one;
      const was = one.isAbove;
      one.isAbove = count > config.above;
      one.count = 0;
      if (!one.isAbove && !was) return [];
      const state = one.isAbove ? (was ? 'on' : 'open') : 'close';
      return [{ rule, state, timeNs, key, value: count, evidence: { rate: count } }];
    });
  return {
    look: (record) => {
      const dropping = record.hops.slice(-1);
      const counted = config.of === 'drops' ? { ...record, hops: dropping } : record;
      if (config.of === 'drops' && record.report?.dropped !== true) return [];
      for (const key of keysOf(config.key, counted)) {
        const one = counts.get(key) ?? { count: 0, isAbove: false };
        one.count++;
        counts.set(key, one);
      }
      return [];
    },
    pass: (timeNs) => {
      end ??= (timeNs / SECOND + 1n) * SECOND;
      const found: PlainFinding[] = [];
      for (; timeNs >= end; end += SECOND) found.push(...close(end));
      return found;
    },
  };
}

function absent(rule: string, config: Of<'absent'>): PlainWatch {
  const forNs = BigInt(config.forMs) * 1_000_000n;
  const keys = new Map<string, { last: bigint; isAbsent: boolean }>();
  const finding = (state: string, key: string, timeNs: bigint, silence: bigint): PlainFinding => {
    const silenceMs = Math.round(Number(silence) / 1e6);
    return { rule, state, timeNs, key, value: silenceMs, evidence: { silenceMs } };
  };
  return {
    look: (record, timeNs) =>
      keysOf(config.key, record).flatMap((key) => {
        const one = keys.get(key) ?? { last: timeNs, isAbsent: false };
        const found = one.isAbsent ? [finding('close', key, timeNs, timeNs - one.last)] : [];
        one.isAbsent = false;
        one.last = timeNs;
        keys.set(key, one);
        return found;
      }),
    pass: (timeNs) =>
      [...keys].flatMap(([key, one]) => {
        if (one.isAbsent || timeNs - one.last < forNs) return [];
        one.isAbsent = true;
        return [finding('open', key, one.last + forNs, forNs)];
      }),
  };
}

function burst(rule: string, config: Of<'burst'>): PlainWatch {
  const rises = new Map<string, { since: bigint; peak: number }>();
  return {
    look: (record, timeNs) =>
      valuesOf(config, record).flatMap(([key, value]) => {
        const rise = rises.get(key);
        if (value > config.above) {
          rises.set(key, { since: rise?.since ?? timeNs, peak: Math.max(rise?.peak ?? 0, value) });
          return [];
        }
        rises.delete(key);
        if (rise === undefined || timeNs - rise.since > BigInt(config.withinNs)) return [];
        const lengthUs = Math.round(Number(timeNs - rise.since) / 1000);
        const { peak } = rise;
        return [{ rule, state: 'once', timeNs, key, value: peak, evidence: { peak, lengthUs } }];
      }),
    pass: () => [],
  };
}

function watchOf({ name, detector }: Rule): PlainWatch {
  switch (detector.kind) {
    case 'baseline':
      return baseline(name, detector);
    case 'rate':
      return rate(name, detector);
    case 'absent':
      return absent(name, detector);
    case 'burst':
      return burst(name, detector);
    default:
      throw new Error(`${detector.kind} is no watch`);
  }
}

/** What the rule finds in a stream. Its time is the latest one of all reports, and does not go back. */
export function plainFindings(rule: Rule, stream: readonly Timed[]): PlainFinding[] {
  const watch = watchOf(rule);
  const found: PlainFinding[] = [];
  let now = 0n;
  for (const { timeNs, record } of stream) {
    if (timeNs > now) now = timeNs;
    found.push(...watch.pass(now));
    if (record !== null) found.push(...watch.look(record, now));
  }
  return found;
}
