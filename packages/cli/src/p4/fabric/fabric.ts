/** A fabric: switches, links and hosts, as a file describes them. */
import { dirname, resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import schema from '../../../schema/fabric.schema.json' with { type: 'json' };
import { ConfigDocument, type Problem, type ValuePath } from '../../config/document.js';
import { schemaProblems } from '../../config/schema-problems.js';
import { readText } from '../../input/text-file.js';
import { EXIT, type Io } from '../../io.js';
import { MOST_PORT, type PortSpec, parsePortSpec, SPEC_HELP } from '../serve/port-spec.js';

/** A port of a switch by names. */
export interface FabricEnd {
  readonly switch: string;
  readonly port: number;
}

export interface FabricSwitch {
  readonly name: string;
  readonly program: string | null;
  readonly commands: string | null;
  readonly include: readonly string[];
  readonly define: Readonly<Record<string, string>>;
  readonly deviceId: bigint;
  readonly cpuPort: number | undefined;
  readonly priorityQueues: number | undefined;
  /** Bits per second by port; those that are not listed have no limit. */
  readonly rates: Readonly<Record<number, number>>;
  /** Packets by port. */
  readonly queues: Readonly<Record<number, number>>;
}

export interface FabricLink {
  readonly ends: readonly [FabricEnd, FabricEnd];
  readonly delayMs: number;
}

/** A host in a network namespace. */
export interface NamespaceHost {
  readonly name: string;
  readonly at: FabricEnd;
  readonly namespace: string;
  readonly interface: string;
  readonly address: string;
  readonly mac: string;
  readonly mtu: number;
  readonly port: 'packet' | 'xdp';
  readonly knowsNeighbours: boolean;
}

export interface Fabric {
  readonly switches: readonly FabricSwitch[];
  readonly links: readonly FabricLink[];
  readonly hosts: readonly NamespaceHost[];
  /** Ports of other kinds, tunnels to hosts among them. */
  readonly ports: readonly { readonly at: FabricEnd; readonly spec: PortSpec }[];
}

interface RawQueueing {
  readonly rate?: string | number;
  readonly queue?: number;
}

interface RawSwitch extends RawQueueing {
  readonly program?: string;
  readonly commands?: string;
  readonly include?: readonly string[];
  readonly define?: Readonly<Record<string, string | number>>;
  readonly deviceId?: number;
  readonly cpuPort?: number;
  readonly priorityQueues?: number;
}

interface RawHost extends RawQueueing {
  readonly at: string;
  readonly address?: string;
  readonly mac?: string;
  readonly mtu?: number;
  readonly namespace?: string;
  readonly interface?: string;
  readonly port?: 'packet' | 'xdp';
  readonly neighbours?: boolean;
  readonly udp?: string;
}

interface RawFabric {
  readonly switches: Readonly<Record<string, RawSwitch | null>>;
  readonly links?: readonly (RawQueueing & { readonly ends: readonly string[]; readonly delay?: string })[];
  readonly hosts?: Readonly<Record<string, RawHost>>;
  readonly ports?: Readonly<Record<string, string>>;
}

const KIND = { name: 'fabric', mostBytes: 1 << 20, tooLargeCode: EXIT.USAGE } as const;
const RATES: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9 };
const DELAYS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3 };

let compiled: ValidateFunction<RawFabric> | null = null;

function validator(): ValidateFunction<RawFabric> {
  compiled ??= new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile<RawFabric>(schema);
  return compiled;
}

function scaled(text: string | number, units: Readonly<Record<string, number>>): number {
  const [, value = '', unit = ''] = /^([\d.]+)([A-Za-z]*)$/.exec(String(text)) ?? [];
  return Number(value) * (units[unit] ?? Number.NaN);
}

/** Reads the parts of a file, and collects what the schema cannot express. */
class Reader {
  readonly problems: Problem[] = [];
  readonly #raw: RawFabric;
  readonly #folder: string;
  /** What is at each port, to find two things at one. */
  readonly #taken = new Map<string, string>();
  readonly #rates = new Map<string, Record<number, number>>();
  readonly #queues = new Map<string, Record<number, number>>();

  constructor(raw: RawFabric, folder: string) {
    this.#raw = raw;
    this.#folder = folder;
  }

  read(): Fabric {
    for (const [name, each] of Object.entries(this.#raw.switches)) {
      this.#rates.set(name, {});
      this.#queues.set(name, {});
      if (each?.cpuPort !== undefined) this.#taken.set(`${name}:${each.cpuPort}`, 'the CPU port');
    }
    const links = (this.#raw.links ?? []).flatMap((link, at): FabricLink[] => {
      const path: ValuePath = ['links', at];
      if (link.ends.length !== 2) {
        this.problems.push({ path: [...path, 'ends'], message: 'a link has two ends: [s1:2, s2:1]' });
        return [];
      }
      const [left, right] = link.ends.map((end, side) => this.#end(end, [...path, 'ends', side], 'a link', link));
      return [{ ends: [left!, right!], delayMs: link.delay === undefined ? 0 : scaled(link.delay, DELAYS) }];
    });
    const { hosts, tunnels } = this.#hosts();
    const ports = Object.entries(this.#raw.ports ?? {}).flatMap(([end, text]) => {
      const path: ValuePath = ['ports', end];
      const at = this.#end(end, path, 'a port', {}, true);
      const spec = parsePortSpec(text);
      if (spec !== null) return [{ at, spec: this.#placed(spec) }];
      this.problems.push({ path, message: `'${text}' is no port: give ${SPEC_HELP}` });
      return [];
    });
    // The switches come last: links and hosts say what their ports are like.
    return { switches: this.#switches(), links, hosts, ports: [...tunnels, ...ports] };
  }

  #switches(): FabricSwitch[] {
    const ids = new Map<bigint, string>();
    return Object.entries(this.#raw.switches).map(([name, given], at) => {
      const each = given ?? {};
      const deviceId = BigInt(each.deviceId ?? at + 1);
      const other = ids.get(deviceId);
      const path: ValuePath = ['switches', name];
      if (other !== undefined) {
        this.problems.push({ path, atKey: true, message: `device ${deviceId} is ${other} already` });
      }
      ids.set(deviceId, name);
      if (each.commands !== undefined && each.program === undefined) {
        this.problems.push({ path: [...path, 'commands'], message: 'commands go with a program' });
      }
      const whole = <T>(value: T | undefined, of: Record<number, T>): Record<number, T> => {
        if (value === undefined) return of;
        return { ...Object.fromEntries(Array.from({ length: MOST_PORT + 1 }, (_, port) => [port, value])), ...of };
      };
      return {
        name,
        program: each.program === undefined ? null : this.#path(each.program),
        commands: each.commands === undefined ? null : this.#path(each.commands),
        include: (each.include ?? []).map((folder) => this.#path(folder)),
        define: Object.fromEntries(Object.entries(each.define ?? {}).map(([macro, value]) => [macro, String(value)])),
        deviceId,
        cpuPort: each.cpuPort,
        priorityQueues: each.priorityQueues,
        rates: whole(each.rate === undefined ? undefined : scaled(each.rate, RATES), this.#rates.get(name)!),
        queues: whole(each.queue, this.#queues.get(name)!),
      };
    });
  }

  #hosts(): { readonly hosts: NamespaceHost[]; readonly tunnels: Fabric['ports'] } {
    const hosts: NamespaceHost[] = [];
    const tunnels: { at: FabricEnd; spec: PortSpec }[] = [];
    for (const [number, [name, host]] of Object.entries(this.#raw.hosts ?? {}).entries()) {
      const path: ValuePath = ['hosts', name];
      const at = this.#end(host.at, [...path, 'at'], `host ${name}`, host);
      const { address, udp } = host;
      if ((address === undefined) === (udp === undefined)) {
        this.problems.push({ path, atKey: true, message: `give host ${name} either an address or udp` });
      } else if (udp !== undefined) {
        const spec = parsePortSpec(`udp:${udp}`);
        if (spec === null) this.problems.push({ path: [...path, 'udp'], message: 'give HOST:PORT-HOST:PORT' });
        else tunnels.push({ at, spec });
      } else {
        hosts.push({
          name,
          at,
          namespace: host.namespace ?? name,
          interface: host.interface ?? 'eth0',
          address: address!,
          mac: host.mac ?? `02:00:00:00:${hex((number + 1) >> 8)}:${hex(number + 1)}`,
          mtu: host.mtu ?? 1400,
          port: host.port ?? 'packet',
          knowsNeighbours: host.neighbours ?? true,
        });
      }
    }
    const names = new Set<string>();
    for (const { name, namespace, interface: own } of hosts) {
      const key = `${namespace}/${own}`;
      const path: ValuePath = ['hosts', name];
      if (names.has(key)) this.problems.push({ path, atKey: true, message: `another host has ${own} in ${namespace}` });
      names.add(key);
    }
    return { hosts, tunnels };
  }

  /** Reads `SWITCH:PORT`, and notes what is there. */
  #end(text: string, path: ValuePath, what: string, { rate, queue }: RawQueueing, atKey = false): FabricEnd {
    const [, name = '', port = ''] = /^(.+):(\d{1,3})$/.exec(text) ?? [];
    const problem = (message: string): void => void this.problems.push({ path, atKey, message });
    if (port === '' || Number(port) > MOST_PORT) {
      problem(`'${text}' is no port of a switch: write SWITCH:PORT with a port from 0 to ${MOST_PORT}`);
    } else if (!this.#rates.has(name)) problem(`there is no switch ${name}`);
    else {
      const other = this.#taken.get(`${name}:${Number(port)}`);
      if (other !== undefined) problem(`${other} is at port ${port} of ${name} already`);
      this.#taken.set(`${name}:${Number(port)}`, what);
      if (rate !== undefined) this.#rates.get(name)![Number(port)] = scaled(rate, RATES);
      if (queue !== undefined) this.#queues.get(name)![Number(port)] = queue;
    }
    return { switch: name, port: Number(port) };
  }

  /** Paths of captures count from the file's folder. */
  #placed(spec: PortSpec): PortSpec {
    if (spec.kind !== 'pcap') return spec;
    const of = (path: string | null): string | null => (path === null ? null : this.#path(path));
    return { ...spec, input: of(spec.input), output: of(spec.output) };
  }

  #path(relative: string): string {
    return resolve(this.#folder, relative);
  }
}

function hex(byte: number): string {
  return (byte & 255).toString(16).padStart(2, '0');
}

/**
 * Reads a fabric.
 * @throws FileProblems with exit code 2, line and column if it is no fabric; CliError if it cannot be opened
 */
export async function readFabric(path: string, io: Io): Promise<Fabric> {
  const document = new ConfigDocument(path, await readText(path, KIND, io), io.env, EXIT.USAGE);
  const validate = validator();
  const value = document.value ?? {};
  if (!validate(value)) throw schemaProblems(document, validate.errors ?? []);
  const reader = new Reader(value, path === '-' ? '.' : dirname(resolve(path)));
  const fabric = reader.read();
  if (reader.problems.length > 0) throw document.problems(reader.problems);
  return fabric;
}
