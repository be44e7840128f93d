/** Reading int.yaml, and checking it against its schema and further rules. */
import { dirname, resolve } from 'node:path';
import { isMetricName, METRIC_NAMES } from '@int/codec';
import { DeviceProfile, NetworkError, prefixOf } from '@int/network';
import { Ajv, type ValidateFunction } from 'ajv';
import schema from '../../schema/int.schema.json' with { type: 'json' };
import { readText } from '../input/text-file.js';
import { EXIT, type FileProblems, type Io } from '../io.js';
import { type IntConfig, nameOf } from './config.js';
import { ConfigDocument, type Problem, type ValuePath } from './document.js';
import { schemaProblems } from './schema-problems.js';

/** A valid configuration, with functions for later errors about it. */
export interface ReadConfig {
  readonly config: IntConfig;
  /** What the switches are like. */
  readonly device: DeviceProfile;
  /** The file, for messages. */
  readonly file: string;
  /** Resolves a path in the configuration to a path of the process. */
  readonly path: (relative: string) => string;
  /** Makes the error for the value at a path. */
  readonly problem: (path: ValuePath, message: string, cause?: unknown) => FileProblems;
}

const CONFIGURATION = { name: 'configuration', mostBytes: 1 << 20, tooLargeCode: EXIT.USAGE } as const;

let compiled: ValidateFunction<IntConfig> | null = null;

/** The validator, made at first use, because most commands need none. */
function validator(): ValidateFunction<IntConfig> {
  compiled ??= new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile<IntConfig>(schema);
  return compiled;
}

/** Problems that the schema cannot express. */
function inconsistencies(config: IntConfig): Problem[] {
  const found: Problem[] = [];
  const { sources, detect, flows, sinks = [], dart } = config;
  const xdp = sources.flatMap(({ afxdp }, index) => (afxdp === undefined ? [] : [{ afxdp, index }]));
  if (xdp.length > 1) {
    found.push({ path: ['sources', xdp[1]!.index, 'afxdp'], message: 'there is one AF_XDP source at most' });
  }
  for (const { afxdp, index } of xdp) {
    if (afxdp.prefilter !== true) continue;
    const path = ['sources', index, 'afxdp', 'prefilter'];
    if (detect === undefined) found.push({ path, message: 'a pre-filter goes with detect: rules' });
    if ((config.device?.profile ?? config.decode?.profile ?? 'spec') !== 'spec') {
      found.push({
        path,
        message: 'a pre-filter reads reports as the specifications have them: leave out the profile',
      });
    }
    if (sources.length > 1) found.push({ path, message: 'a pre-filter goes with its source alone' });
  }
  for (const [index, { udp, afxdp, pcap }] of sources.entries()) {
    for (const [kind, source] of Object.entries({ udp, afxdp, pcap })) {
      for (const [at, text] of source?.from?.entries() ?? []) {
        const path: ValuePath = ['sources', index, kind, 'from', at];
        if (prefixOf(text) === null)
          found.push({ path, message: `'${text}' is no address or prefix: write 10.9.0.0/16` });
      }
    }
  }
  if (config.keepUnknownSwitches !== undefined && config.topology === undefined) {
    found.push({
      path: ['keepUnknownSwitches'],
      message: 'keepUnknownSwitches goes with topology: without one all are taken',
    });
  }
  const metric = (name: string, path: ValuePath): void => {
    if (!isMetricName(name)) found.push({ path, message: `'${name}' is none of ${METRIC_NAMES.join(', ')}` });
  };
  for (const [index, name] of flows?.metrics?.entries() ?? []) metric(name, ['flows', 'metrics', index]);
  if (dart?.values !== undefined && typeof dart.values !== 'string') {
    for (const [index, name] of dart.values.entries()) metric(name, ['dart', 'values', index]);
  } else if (dart?.values !== undefined && dart.values !== 'path') {
    found.push({ path: ['dart', 'values'], message: 'give path, or a list of metrics' });
  }
  if (detect?.idle !== undefined && detect.state !== 'exact') {
    found.push({ path: ['detect', 'idle'], message: 'idle goes with state: exact; registers are never idle' });
  }
  for (const kind of ['redis', 'prometheus'] as const) {
    const places = sinks.flatMap((sink, index) => (sink[kind] === undefined ? [] : [index]));
    if (places.length > 1) found.push({ path: ['sinks', places[1]!], message: `there is one ${kind} sink at most` });
  }
  if (config.workers !== undefined) {
    const redis = sinks.findIndex((sink) => sink.redis !== undefined);
    const message = 'Redis takes what one flow cache has, and each worker has its own: leave out one of them';
    if (redis >= 0) found.push({ path: ['sinks', redis, 'redis'], message });
    if (flows?.thresholds !== undefined) {
      found.push({ path: ['flows', 'thresholds'], message: 'thresholds of the flow cache go without workers' });
    }
  }
  const names = new Map<string, number>();
  sinks.forEach((sink, index) => {
    const name = nameOf(sink);
    const before = names.get(name);
    if (before !== undefined && sink.redis === undefined && sink.prometheus === undefined) {
      const message = `this sink is called '${name}', as that at sinks[${before}]: give it another name`;
      found.push({ path: ['sinks', index], message });
    }
    names.set(name, index);
    if (sink.kafka?.durability === 'spool' && sink.kafka.spool === undefined) {
      const path: ValuePath = ['sinks', index, 'kafka', 'durability'];
      found.push({ path, message: 'durability: spool needs a spool' });
    }
    if (sink.redis !== undefined && flows === undefined) {
      found.push({ path: ['sinks', index, 'redis'], message: 'Redis takes what a flow cache has: it goes with flows' });
    }
  });
  return found;
}

/** The device profile of a configuration: what `device` says, and what `decode` says beside it. @param found receives problems */
export function deviceOf({ device = {}, decode = {} }: IntConfig, found: Problem[] = []): DeviceProfile {
  for (const name of Object.keys(decode)) {
    if (name in device)
      found.push({ path: ['decode', name], atKey: true, message: `${name} stands in device, too: leave out one` });
  }
  try {
    return new DeviceProfile({ ...decode, ...device });
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    for (const { path, message } of error.problems) {
      found.push({ path: [path[0]! in device ? 'device' : 'decode', ...path], message });
    }
    return DeviceProfile.NONE;
  }
}

/**
 * Reads and checks a configuration.
 * @throws FileProblems with exit code 2 if it is invalid; CliError with exit code 3 if it cannot be read
 */
export async function readConfig(file: string, io: Io): Promise<ReadConfig> {
  const document = new ConfigDocument(file, await readText(file, CONFIGURATION, io), io.env, EXIT.USAGE);
  const validate = validator();
  const { value } = document;
  if (!validate(value)) {
    throw schemaProblems(document, validate.errors ?? []);
  }
  const found = inconsistencies(value);
  const device = deviceOf(value, found);
  if (found.length > 0) throw document.problems(found);
  const folder = dirname(resolve(file));
  return {
    config: value,
    device,
    file,
    path: (relative) => resolve(folder, relative),
    problem: (path, message, cause) => document.problems([{ path, message }], cause),
  };
}
