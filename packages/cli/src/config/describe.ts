/** The output of `int collect --check`: the parts that a configuration would run. */

import { deviceJson, deviceLines } from '../network/describe-device.js';
import { DRAIN_MS } from '../stopping.js';
import { nameOf } from './config.js';
import { sourceText } from './inputs.js';
import { millisecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { sinkText } from './sinks.js';

export function checkJson({ config, file, device }: ReadConfig): Record<string, unknown> {
  return {
    type: 'config',
    file,
    sources: config.sources.map(sourceText),
    device: deviceJson(device),
    topology: config.topology ?? null,
    rules: config.detect?.rules ?? null,
    flows: config.flows !== undefined,
    workers: config.workers ?? 0,
    dart: config.dart?.store ?? null,
    dashboard: config.dashboard === undefined ? null : (config.dashboard.listen ?? '127.0.0.1:8800'),
    sinks: (config.sinks ?? []).map((sink) => ({ name: nameOf(sink), what: sinkText(sink) })),
    drainMs: drainOf(config.drain),
  };
}

export function checkLines({ config, file, device }: ReadConfig): string[] {
  const { topology, keepUnknownSwitches, detect, flows, dart, workers, dashboard, sinks = [] } = config;
  return [
    ...config.sources.map((source) => `receive: ${sourceText(source)}`),
    ...deviceLines(device),
    ...(topology === undefined
      ? []
      : [`topology: names of ${topology}${keepUnknownSwitches === true ? ', unknown switches are kept' : ''}`]),
    ...(detect === undefined ? [] : [`detect: rules of ${detect.rules}, state ${detect.state ?? 'register'}`]),
    ...(flows === undefined
      ? []
      : [`flows: a cache of ${flows.rows ?? 524_288} rows, idle after ${flows.idle ?? '30s'}`]),
    ...(dart === undefined ? [] : [`dart: ${dart.values ?? 'path'} into the store ${dart.store}`]),
    ...(workers === undefined ? [] : [`workers: ${workers}, each with the flows that fall to it`]),
    ...(dashboard === undefined ? [] : [`dashboard: on ${dashboard.listen ?? '127.0.0.1:8800'}`]),
    ...sinks.map((sink) => `sink ${nameOf(sink)}: ${sinkText(sink)}`),
    `${file}: good`,
  ];
}

export function drainOf(drain: number | string | undefined): number {
  return drain === undefined ? DRAIN_MS : millisecondsOf(drain);
}
