import { isInPrefix, type Prefix, prefixOf } from '../device/prefix.js';
import { NetworkError, type NetworkProblem } from '../errors.js';
import { idOf } from '../ids.js';
import { quoted } from '../units/quantity.js';
import type { TopologySpec } from './spec.js';

/** Where a link ends. */
export type LinkEnd =
  | { readonly kind: 'switch'; readonly switchId: number; readonly port: number | null }
  | { readonly kind: 'host'; readonly host: string };

export interface Port {
  readonly number: number;
  readonly name: string | null;
  readonly to: LinkEnd | null;
  /** Bits a second; `null`: nobody said. */
  readonly speedBps: number | null;
}

export interface Switch {
  readonly id: number;
  readonly name: string | null;
  /** By number. */
  readonly ports: ReadonlyMap<number, Port>;
}

/** A host, or a group of hosts. */
export interface Host {
  readonly name: string;
  readonly prefixes: readonly Prefix[];
  readonly level: number;
}

const SPEED = /^(\d{1,15}(?:\.\d{1,6})?)\s*([kMGT]?)(?:bps|bit\/s)?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what a name has none of
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const POWERS: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** Names are shown in terminals, where control characters are commands. */
function checkName(name: string, path: readonly string[], problems: NetworkProblem[]): void {
  if (name === '') problems.push({ path, message: 'a name has at least one character' });
  else if (CONTROL.test(name)) problems.push({ path, message: `${quoted(name)} has a control character` });
}

/**
 * What is known of the switches and their links. Ids that nobody named stay numbers.
 *
 * @example
 * const topology = new Topology({ switches: { 1: { name: 'leaf-1', ports: { 3: { to: 'spine-1:1', speed: '10G' } } }, 101: { name: 'spine-1' } } });
 * topology.switchName(1); // 'leaf-1'
 * topology.peer(1, 3); // { kind: 'switch', switchId: 101, port: 1 }
 */
export class Topology {
  /** Nothing is known. */
  static readonly NONE: Topology = new Topology();

  /** By id. */
  readonly switches: ReadonlyMap<number, Switch>;
  /** By name. */
  readonly hosts: ReadonlyMap<string, Host>;
  readonly #idOfName = new Map<string, number>();
  readonly #neighbours = new Map<number, Set<number>>();

  /** @throws NetworkError with all problems of the description */
  constructor(spec: TopologySpec = {}) {
    const problems: NetworkProblem[] = [];
    const given = Object.entries(spec.switches ?? {});
    const ids = new Map<string, number>();
    for (const [key, { name }] of given) {
      const path = ['switches', key];
      const id = idOf(key);
      if (id === null) problems.push({ path, message: `${quoted(key)} is no switch id: write 0 to 4294967295` });
      else ids.set(key, id);
      if (name === undefined || id === null) continue;
      checkName(name, [...path, 'name'], problems);
      if (idOf(name) !== null)
        problems.push({ path: [...path, 'name'], message: `${quoted(name)} is a number: a name is none` });
      else if (this.#idOfName.has(name))
        problems.push({ path: [...path, 'name'], message: `two switches are called ${quoted(name)}` });
      else this.#idOfName.set(name, id);
    }
    this.hosts = new Map(
      Object.entries(spec.hosts ?? {}).map(([name, { addresses, level = 1 }]) => {
        checkName(name, ['hosts', name], problems);
        const prefixes = addresses.flatMap((text, index) => {
          const prefix = prefixOf(text);
          if (prefix !== null) return [prefix];
          problems.push({
            path: ['hosts', name, 'addresses', index],
            message: `${quoted(text)} is no address or prefix: write 10.0.1.0/24`,
          });
          return [];
        });
        if (!(level >= 0 && Number.isFinite(level))) {
          problems.push({ path: ['hosts', name, 'level'], message: `${level} is no level: write a number from 0` });
        }
        return [name, { name, prefixes, level }];
      }),
    );
    this.switches = new Map(
      given.flatMap(([key, { name = null, ports = {} }]) => {
        const id = ids.get(key);
        if (id === undefined) return [];
        const path = ['switches', key, 'ports'];
        const read = Object.entries(ports).flatMap(([number, port]) => {
          const found = this.#readPort(number, port, [...path, number], problems);
          return found === null ? [] : [[found.number, found] as const];
        });
        return [[id, { id, name, ports: new Map(read) }] as const];
      }),
    );
    for (const [key, { links = [] }] of given) {
      for (const [index, text] of links.entries()) {
        const [a, b] = [ids.get(key), this.switchId(text)];
        if (b === null) {
          const message = `${quoted(text)} is no switch that is named here: write its name or its id`;
          problems.push({ path: ['switches', key, 'links', index], message });
        } else if (a !== undefined) this.#join(a, b);
      }
    }
    for (const { id, ports } of this.switches.values()) {
      for (const { to } of ports.values()) if (to?.kind === 'switch') this.#join(id, to.switchId);
    }
    if (problems.length > 0) throw new NetworkError(problems);
  }

  #join(a: number, b: number): void {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const known = this.#neighbours.get(from);
      if (known === undefined) this.#neighbours.set(from, new Set([to]));
      else known.add(to);
    }
  }

  #readPort(
    key: string,
    { name = null, to, speed }: { name?: string | null; to?: string; speed?: string | number },
    path: readonly string[],
    problems: NetworkProblem[],
  ): Port | null {
    const number = idOf(key);
    if (number === null) {
      problems.push({ path, message: `${quoted(key)} is no port number` });
      return null;
    }
    if (name !== null) checkName(name, [...path, 'name'], problems);
    const [, amount = '', power = ''] = SPEED.exec(String(speed ?? '').trim()) ?? [];
    if (speed !== undefined && amount === '') {
      problems.push({ path: [...path, 'speed'], message: `${quoted(String(speed))} is no speed: write 10G or 400M` });
    }
    const end = to === undefined ? null : this.#endOf(to);
    if (to !== undefined && end === null) {
      problems.push({
        path: [...path, 'to'],
        message: `${quoted(to)} is nothing that is named here: write SWITCH:PORT, or host NAME`,
      });
    }
    return { number, name, to: end, speedBps: amount === '' ? null : Number(amount) * POWERS[power]! };
  }

  #endOf(text: string): LinkEnd | null {
    const host = /^host\s+(.+)$/.exec(text.trim())?.[1];
    if (host !== undefined) return this.hosts.has(host) ? { kind: 'host', host } : null;
    const colon = text.lastIndexOf(':');
    const port = colon < 0 ? null : idOf(text.slice(colon + 1).trim());
    const switchId = this.switchId((colon < 0 ? text : text.slice(0, colon)).trim());
    return switchId === null || (colon >= 0 && port === null) ? null : { kind: 'switch', switchId, port };
  }

  /** The id of a switch by its name, or by its number as text; `null`: there is none of that name. */
  switchId(name: string): number | null {
    return this.#idOfName.get(name) ?? idOf(name);
  }

  /** The name of a switch; `null`: nobody named it. */
  switchName(id: number): string | null {
    return this.switches.get(id)?.name ?? null;
  }

  /** A switch for people: its name, or its number. */
  switchText(id: number): string {
    return this.switchName(id) ?? String(id);
  }

  /** The name of a port; without a name of its own what is at its other end; `null`: nothing is known. */
  portName(switchId: number, port: number): string | null {
    const found = this.switches.get(switchId)?.ports.get(port);
    if (found === undefined) return null;
    if (found.name !== null) return found.name;
    if (found.to === null) return null;
    return found.to.kind === 'host' ? found.to.host : `to ${this.switchText(found.to.switchId)}`;
  }

  /** What is at the other end of a port. */
  peer(switchId: number, port: number): LinkEnd | null {
    return this.switches.get(switchId)?.ports.get(port)?.to ?? null;
  }

  /** The switches that a link joins with a switch, whichever end names it, in ascending order. */
  neighbours(switchId: number): readonly number[] {
    return [...(this.#neighbours.get(switchId) ?? [])].sort((a, b) => a - b);
  }

  /** The host or group that an address belongs to: the one with the longest prefix. @param size 4 or 16 bytes */
  hostOf(address: Uint8Array, offset = 0, size: number = address.length): Host | null {
    let best: Host | null = null;
    let longest = -1;
    for (const host of this.hosts.values()) {
      for (const prefix of host.prefixes) {
        if (prefix.length > longest && isInPrefix(prefix, address, offset, size)) {
          best = host;
          longest = prefix.length;
        }
      }
    }
    return best;
  }
}
