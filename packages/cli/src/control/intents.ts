/** The intents of control.yaml. */
import type { FlowMatch, Intent, PortRange } from '@int/control';
import { inOrder, instructionsOf } from '@int/control/internals';
import { prefixOf, type Topology } from '@int/network';
import type { Problem } from '../config/document.js';
import { millisecondsOf } from '../config/quantities.js';
import type { IntentConfig, MatchConfig } from './config.js';

const PROTOCOLS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17 };
const POWERS: Readonly<Record<string, number>> = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
/** INT 2.1: node id, interfaces, hop latency, queue. */
const INSTRUCTIONS = 0xf000;
/** What each kind needs beside its name. */
const NEEDS: Readonly<Record<IntentConfig['kind'], readonly (keyof IntentConfig)[]>> = {
  watch: ['match'],
  block: ['match'],
  limit: ['match', 'rate'],
  avoid: ['link'],
  path: ['match', 'via'],
  protect: ['destination'],
  keep: ['below'],
  detect: ['match', 'metric', 'target'],
};
const OPTIONAL: Readonly<Partial<Record<IntentConfig['kind'], readonly (keyof IntentConfig)[]>>> = {
  watch: ['instructions', 'fields', 'oneIn'],
  block: ['reportOneIn'],
  protect: ['level'],
  detect: ['switches', 'algorithm', 'scope', 'band'],
};
const TERMS: readonly string[] = ['id', 'kind', 'owner', 'reason', 'priority', 'ttl'];

/** Reads intents and notes what is wrong with them. */
export class IntentReader {
  readonly problems: Problem[] = [];
  readonly #topology: Topology;
  readonly #fromMs: (id: string) => number;

  /** @param fromMs since when an intent of this name is there */
  constructor(topology: Topology, fromMs: (id: string) => number) {
    this.#topology = topology;
    this.#fromMs = fromMs;
  }

  all(configs: readonly IntentConfig[]): readonly Intent[] {
    const ids = new Set<string>();
    return configs.flatMap((config, index) => {
      const path = ['intents', index];
      if (ids.has(config.id)) this.#wrong([...path, 'id'], `two intents are called '${config.id}'`);
      ids.add(config.id);
      const intent = this.#intent(config, path);
      return intent === null ? [] : [intent];
    });
  }

  #wrong(path: readonly (string | number)[], message: string): null {
    this.problems.push({ path, message });
    return null;
  }

  #intent(config: IntentConfig, path: readonly (string | number)[]): Intent | null {
    const { id, kind, owner = 'operator', reason = '', priority = 500, ttl } = config;
    const needs = NEEDS[kind];
    const missing = needs.find((name) => config[name] === undefined);
    if (missing !== undefined) return this.#wrong(path, `${kind} needs ${missing}`);
    const known = [...TERMS, ...needs, ...(OPTIONAL[kind] ?? [])];
    const foreign = Object.keys(config).find((name) => !known.includes(name));
    if (foreign !== undefined) return this.#wrong([...path, foreign], `${foreign} does not go with ${kind}`);
    if (config.match !== undefined && kind !== 'watch' && kind !== 'detect' && Object.keys(config.match).length === 0) {
      return this.#wrong([...path, 'match'], `${kind} of everything is not meant: name a source or a destination`);
    }
    const ttlMs = ttl === undefined ? null : millisecondsOf(ttl);
    const terms = { id, owner, priority, fromMs: this.#fromMs(id), ttlMs, reason };
    switch (kind) {
      case 'watch': {
        const { fields, oneIn = 1 } = config;
        if (fields !== undefined && config.instructions !== undefined) {
          return this.#wrong([...path, 'fields'], 'give fields or instructions, not both');
        }
        const { instructions = fields === undefined ? INSTRUCTIONS : instructionsOf(fields) } = config;
        const named = fields === undefined ? {} : { fields: inOrder(fields) };
        const match = this.#match(config.match!, path);
        return { ...terms, kind, match, instructions: Number(instructions), ...named, oneIn };
      }
      case 'block':
        return { ...terms, kind, match: this.#match(config.match!, path), reportOneIn: config.reportOneIn ?? 100 };
      case 'limit':
        return { ...terms, kind, match: this.#match(config.match!, path), bitsPerSecond: rateOf(config.rate!) };
      case 'avoid': {
        const link = this.#link(config.link!, [...path, 'link']);
        return link === null ? null : { ...terms, kind, link };
      }
      case 'path': {
        const via = config.via!.map((name, index) => this.#switch(String(name), [...path, 'via', index]));
        return { ...terms, kind, match: this.#match(config.match!, path), via };
      }
      case 'protect': {
        const destination = this.#address(config.destination!, [...path, 'destination']);
        return { ...terms, kind, destination, level: config.level ?? 2 };
      }
      case 'detect': {
        const { metric, algorithm = 'threshold', scope = 'hop', target, band, switches } = config;
        if (band !== undefined && band[0] > band[1]) this.#wrong([...path, 'band'], 'the minimum is above the maximum');
        return {
          ...{ ...terms, kind, match: this.#match(config.match!, path), algorithm, scope },
          ...{
            metric: metric!,
            target: target!,
            band: band === undefined ? null : { minimum: band[0], maximum: band[1] },
          },
          switches: switches?.map((name, index) => this.#switch(String(name), [...path, 'switches', index])) ?? null,
        };
      }
      case 'keep':
        return { ...terms, kind, metric: 'link-load', below: config.below! };
    }
  }

  #match(config: MatchConfig, intent: readonly (string | number)[]): FlowMatch {
    const path = [...intent, 'match'];
    const { source, destination, protocol, sourcePort, destinationPort } = config;
    return {
      ...(source !== undefined && { source: this.#address(source, [...path, 'source']) }),
      ...(destination !== undefined && { destination: this.#address(destination, [...path, 'destination']) }),
      ...(protocol !== undefined && { protocol: PROTOCOLS[protocol] ?? Number(protocol) }),
      ...(sourcePort !== undefined && { sourcePort: this.#ports(sourcePort, [...path, 'sourcePort']) }),
      ...(destinationPort !== undefined && {
        destinationPort: this.#ports(destinationPort, [...path, 'destinationPort']),
      }),
    };
  }

  #address(text: string, path: readonly (string | number)[]): string {
    if (prefixOf(text) === null) this.#wrong(path, `'${text}' is no address or prefix: write 10.0.1.0/24`);
    return text;
  }

  #ports(text: number | string, path: readonly (string | number)[]): PortRange {
    const [low = 0, high = low] = String(text).split('-').map(Number);
    if (low > high || high > 65_535) this.#wrong(path, `'${text}' is no range of ports`);
    return [low, high];
  }

  #switch(name: string, path: readonly (string | number)[]): number {
    const id = this.#topology.switchId(name);
    if (id !== null && this.#topology.switches.has(id)) return id;
    this.#wrong(path, `the topology has no switch '${name}'`);
    return 0;
  }

  #link(text: string, path: readonly (string | number)[]): { switchId: number; port: number } | null {
    const [, name = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
    if (port === '') return this.#wrong(path, `'${text}' is no link: write SWITCH:PORT`);
    const switchId = this.#switch(name, path);
    if (this.#topology.switches.get(switchId)?.ports.has(Number(port)) === false) {
      return this.#wrong(path, `the topology has no port ${port} of switch '${name}'`);
    }
    return { switchId, port: Number(port) };
  }
}

function rateOf(rate: number | string): number {
  const [, amount = '', power = ''] = /^([\d.]+)([kMGT]?)$/.exec(String(rate)) ?? [];
  return Math.round(Number(amount) * (POWERS[power] ?? 1));
}
