/** Reading control.yaml, and checking it against its schema, the topology and further rules. */
import { dirname, resolve } from 'node:path';
import type { Intent } from '@int/control';
import { DeviceProfile, NetworkError, prefixOf, type Topology } from '@int/network';
import { Ajv, type ValidateFunction } from 'ajv';
import schema from '../../schema/control.schema.json' with { type: 'json' };
import intSchema from '../../schema/int.schema.json' with { type: 'json' };
import { ConfigDocument, type Problem, type ValuePath } from '../config/document.js';
import type { ReadConfig } from '../config/read-config.js';
import { schemaProblems } from '../config/schema-problems.js';
import { readText } from '../input/text-file.js';
import { EXIT, type FileProblems, type Io } from '../io.js';
import { readTopology } from '../network/topology-option.js';
import type { ControlConfig, SwitchConfig } from './config.js';
import { IntentReader } from './intents.js';

export interface ReadControl {
  readonly config: ControlConfig;
  readonly topology: Topology;
  /** By id. */
  readonly switches: ReadonlyMap<number, SwitchConfig>;
  readonly intents: readonly Intent[];
  /** The part about telemetry, in the form of int.yaml. */
  readonly telemetry: ReadConfig;
  readonly problem: (path: ValuePath, message: string, cause?: unknown) => FileProblems;
}

const CONFIGURATION = { name: 'configuration', mostBytes: 1 << 20, tooLargeCode: EXIT.USAGE } as const;

let compiled: ValidateFunction<ControlConfig> | null = null;

function validator(): ValidateFunction<ControlConfig> {
  compiled ??= new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true })
    .addSchema(intSchema, 'int.schema.json')
    .compile<ControlConfig>(schema);
  return compiled;
}

/**
 * Reads and checks a configuration.
 * @param fromMs since when an intent of a name is there
 * @throws FileProblems with exit code 2 if it is invalid; CliError with exit code 3 if it cannot be read
 */
export async function readControl(file: string, io: Io, fromMs: (id: string) => number): Promise<ReadControl> {
  const document = new ConfigDocument(file, await readText(file, CONFIGURATION, io), io.env, EXIT.USAGE);
  const validate = validator();
  const { value } = document;
  if (!validate(value)) throw schemaProblems(document, validate.errors ?? []);
  const config = value;
  const folder = dirname(resolve(file));
  const path = (relative: string): string => resolve(folder, relative);
  const found: Problem[] = [];
  const device = deviceOf(config, found);
  const topology = await readTopology(path(config.topology), io);
  const switches = new Map<number, SwitchConfig>();
  for (const [name, each] of Object.entries(config.switches)) {
    const id = topology.switchId(name);
    if (id === null || !topology.switches.has(id)) {
      found.push({ path: ['switches', name], atKey: true, message: `the topology has no switch '${name}'` });
    } else if (switches.has(id)) {
      found.push({ path: ['switches', name], atKey: true, message: `switch ${id} stands here twice` });
    } else switches.set(id, each);
    if ((each.tls?.cert === undefined) !== (each.tls?.key === undefined)) {
      found.push({ path: ['switches', name, 'tls'], message: 'cert and key go together' });
    }
  }
  for (const id of topology.switches.keys()) {
    if (switches.has(id)) continue;
    const message = `switch '${topology.switchText(id)}' of the topology is missing: routes over it would be made by nobody`;
    found.push({ path: ['switches'], atKey: true, message });
  }
  const { collector, inside = [] } = config;
  if (collector !== undefined && prefixOf(collector.address) === null) {
    found.push({ path: ['collector', 'address'], message: `'${collector.address}' is no address` });
  }
  for (const [index, text] of inside.entries()) {
    if (prefixOf(text) === null) {
      found.push({ path: ['inside', index], message: `'${text}' is no address or prefix: write 10.9.0.0/16` });
    }
  }
  for (const [index, { pcap }] of config.sources.entries()) {
    if (pcap !== undefined) {
      found.push({ path: ['sources', index, 'pcap'], message: 'a capture is over: what it tells cannot be acted on' });
    }
  }
  const reader = new IntentReader(topology, fromMs);
  const intents = reader.all(config.intents ?? []);
  found.push(...reader.problems);
  if (found.length > 0) throw document.problems(found);
  const problem = (at: ValuePath, message: string, cause?: unknown): FileProblems =>
    document.problems([{ path: at, message }], cause);
  const { version, sources, dashboard, topology: topologyFile } = config;
  const part = { version, sources, topology: topologyFile, ...(dashboard !== undefined && { dashboard }) };
  const telemetry = { config: part, device, file, path, problem };
  return { config, topology, switches, intents, telemetry, problem };
}

function deviceOf({ device = {} }: ControlConfig, found: Problem[]): DeviceProfile {
  try {
    return new DeviceProfile(device);
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    for (const { path, message } of error.problems) found.push({ path: ['device', ...path], message });
    return DeviceProfile.NONE;
  }
}
