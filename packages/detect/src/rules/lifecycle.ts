import type { Lifecycle, Severity, WatchKey } from '../watch/config.js';
import type { ReadDetector } from './detector.js';
import { readDurationMs } from './duration.js';
import type { Given, Mapping } from './given.js';
import type { DetectorConfig } from './model.js';

const SEVERITIES: readonly Severity[] = ['info', 'warning', 'critical'];
const WATCH_KEYS: readonly WatchKey[] = ['switch', 'queue', 'link', 'flow', 'all'];

/** The keys beside `detect` that make events with a beginning and an end. */
export const LIFECYCLE_KEYS: Readonly<Record<string, string>> = {
  for: 'for: 10s',
  clear: 'clear: 40',
  every: 'every: 5s',
  severity: 'severity: critical',
  key: 'key: switch',
};

const WATCHES: readonly DetectorConfig['kind'][] = ['baseline', 'rate', 'absent', 'burst'];

/** Whether the findings of a detector are of hops. */
export function findsHops(config: DetectorConfig): boolean {
  return config.kind === 'perHop' || ('scope' in config && config.scope === 'hop');
}

/** What a rule says of the beginning and the end of its events; `null`: nothing, or it is wrong. */
export function readLifecycle(rule: Mapping, detector: ReadDetector | null): Lifecycle | null {
  const isWatch = detector !== null && WATCHES.includes(detector.config.kind);
  const isGiven = Object.keys(LIFECYCLE_KEYS).some((key) => rule.has(key));
  if (!isGiven && !isWatch) return null;
  const severity = rule.read('severity', (each) => each.choice('severity', SEVERITIES));
  const key = rule.read('key', (each) => readKey(each, detector));
  const forMs = rule.read('for', (each) => readDurationMs(each, 'for', '10s'));
  const everyMs = rule.read('every', (each) => readDurationMs(each, 'every', '5s'));
  const clear = rule.read('clear', (each) => readClear(each, detector));
  return { severity: severity ?? 'warning', key, forMs: forMs ?? 0, clear, everyMs };
}

function readKey(given: Given, detector: ReadDetector | null): WatchKey | null {
  const key = given.choice('key', WATCH_KEYS);
  if (key === null || detector === null) return null;
  const { config } = detector;
  if (WATCHES.includes(config.kind)) {
    return given.refuse(
      'BAD_VALUE',
      `${config.kind} has a key of its own: write key into ${config.kind}, not beside detect`,
    );
  }
  if (findsHops(config) || key === 'flow' || key === 'all') return key;
  return given.refuse('BAD_VALUE', `what ${config.kind} finds here has no ${key}: write key: flow, or key: all`);
}

function readClear(given: Given, detector: ReadDetector | null): number | null {
  if (detector === null) return null;
  const { config, bound } = detector;
  if (config.kind !== 'threshold' || bound === null) {
    return given.refuse(
      'BAD_VALUE',
      `${config.kind} has no level that an event could end at: leave clear out, or use threshold`,
    );
  }
  const clear = bound(given);
  if (clear === null || clear <= config.threshold) return clear;
  const message = `clear is above the threshold (${clear} and ${config.threshold} device units): write a lower clear`;
  return given.refuse('BAD_VALUE', message);
}
