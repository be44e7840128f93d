/** The network of `--topology FILE` and of `topology:` in int.yaml: YAML, GraphML, or the JSON of `int plan`. */
import { GpintError } from '@int/gpint';
import { NetworkError, Topology, type TopologySpec } from '@int/network';
import { Ajv, type ValidateFunction } from 'ajv';
import schema from '../../schema/topology.schema.json' with { type: 'json' };
import { ConfigDocument } from '../config/document.js';
import { schemaProblems } from '../config/schema-problems.js';
import { readRegular } from '../input/text-file.js';
import { CliError, EXIT, FileProblems, type Io } from '../io.js';
import { interruptedCode } from '../stopping.js';
import { graphmlSpec, type NetworkFile, planSpec } from './drawn-network.js';

const KIND = { name: 'topology', mostBytes: 1 << 26, tooLargeCode: EXIT.USAGE } as const;
/** Words and signs at most: those of some 30,000 ports. */
const MOST_LEXEMES = 1_000_000;
/** Most problems located in the text; further ones are only counted. */
const MOST_EXPLAINED = 200;

/**
 * Reads a topology. Nodes of GraphML or of a plan without a switch id are told and left out.
 * @throws FileProblems with exit code 2 and line and column if it is no topology; CliError if it cannot be opened or read
 */
export async function readTopologyFile(
  path: string,
  { env, signal }: Pick<Io, 'env' | 'signal'>,
  tell: (message: string) => void,
): Promise<Topology> {
  const text = (await readRegular(path, KIND, signal)).toString();
  if (signal.aborted) throw new CliError('interrupted before the topology was read', interruptedCode({ signal }));
  if (text.trimStart().startsWith('<')) return drawn(path, () => graphmlSpec(text), tell);
  const paths = text.trimStart().startsWith('{') ? pathsOf(text) : null;
  return paths === null ? fromYaml(path, text, env) : drawn(path, () => planSpec(paths), tell);
}

/** The paths of a plan; `null`: the text is something else, such as a topology as JSON, which is YAML, too. */
function pathsOf(text: string): readonly (readonly string[])[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { paths } = value as { readonly paths?: unknown };
  if (!Array.isArray(paths)) return null;
  const isPath = (path: unknown): boolean => Array.isArray(path) && path.every((name) => typeof name === 'string');
  return paths.every(isPath) ? (paths as string[][]) : null;
}

function drawn(name: string, read: () => NetworkFile, tell: (message: string) => void): Topology {
  let file: NetworkFile;
  try {
    file = read();
  } catch (error) {
    if (!GpintError.is(error)) throw error;
    const place = error.line === null || error.line === undefined || error.line === 0 ? '' : `:${error.line}:1`;
    throw new FileProblems([`${name}${place}: ${error.message.replace(/^line \d+: /, '')}`], error, EXIT.USAGE);
  }
  const { spec, nodes, nameless } = file;
  if (nameless.length === nodes) {
    const reason = `none of its ${nodes} nodes has a switch id, so telemetry cannot be joined with them`;
    throw new CliError(`${name}: ${reason}: write topology.yaml, or give nodes the key switchId`, EXIT.USAGE);
  }
  if (nameless.length > 0) {
    const some = nameless.slice(0, 3).join(', ');
    tell(`${name}: ${nameless.length} of ${nodes} nodes have no switch id and are left out: ${some}`);
  }
  try {
    return new Topology(spec);
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    throw new FileProblems(
      error.problems.map(({ message }) => `${name}: ${message}`),
      error,
      EXIT.USAGE,
    );
  }
}

function fromYaml(name: string, text: string, env: Io['env']): Topology {
  const document = new ConfigDocument(name, text, env, EXIT.USAGE, MOST_LEXEMES);
  const validate = validator();
  const value = document.value ?? {};
  if (!validate(value)) throw schemaProblems(document, validate.errors ?? []);
  try {
    return new Topology(specOf(value));
  } catch (error) {
    if (!NetworkError.is(error)) throw error;
    const problems = error.problems.slice(0, MOST_EXPLAINED);
    throw document.problems(problems.map(placed), error, error.problems.length);
  }
}

let compiled: ValidateFunction<RawTopology> | null = null;

function validator(): ValidateFunction<RawTopology> {
  compiled ??= new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile<RawTopology>(schema);
  return compiled;
}

/** What YAML makes of a topology: `to: 101` is a number, and `7:` without anything is null. */
interface RawTopology extends Pick<TopologySpec, 'hosts'> {
  readonly switches?: Readonly<Record<string, RawSwitch | null>>;
}

interface RawSwitch {
  readonly name?: string;
  readonly ports?: Readonly<Record<string, RawPort | null>>;
  readonly links?: readonly (string | number)[];
}

interface RawPort {
  readonly name?: string;
  readonly to?: string | number;
  readonly speed?: string | number;
}

function specOf({ switches = {}, hosts = {} }: RawTopology): TopologySpec {
  const mapped = <A, B>(object: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
  return {
    hosts,
    switches: mapped(switches, (each) => {
      const { name, ports = {}, links = [] } = each ?? {};
      return {
        ...(name !== undefined && { name }),
        links: links.map(String),
        ports: mapped(ports, (port) => {
          const { to, ...rest } = port ?? {};
          return { ...rest, ...(to !== undefined && { to: String(to) }) };
        }),
      };
    }),
  };
}

/** A problem at its key, where the value has nothing to do with it. */
function placed({ path, message }: NetworkError['problems'][number]) {
  const isId = path.length === 2 || (path.length === 4 && path[2] === 'ports');
  return { path, message, atKey: isId };
}
