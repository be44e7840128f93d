import { spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { limit, requires } from './requires.js';
import { addNamespace, PairRefused, removeNamespace, uniqueName } from './veth-pair.js';

/** One end of a virtual cable. */
export interface CableEnd {
  /** Label of its namespace. */
  readonly at: string;
  readonly interface: string;
  readonly mac?: string;
  /** With its prefix, such as `10.0.1.1/24`. */
  readonly address?: string;
  readonly mtu?: number;
  /** Queues in each direction; 1 by default. */
  readonly queues?: number;
}

const IP = 'ip';

/**
 * Namespaces joined by virtual cables, for the running test: nothing outside is touched, and all of it goes with the test.
 * What hosts send has whole checksums and no segments for a card to cut, as on a wire.
 */
export class WiredNetwork {
  readonly #names = new Map<string, string>();

  /**
   * Makes the namespaces. Without the `ip` and `ethtool` commands, or the right to make namespaces, the test is skipped.
   *
   * @param labels of the namespaces
   */
  static make(labels: readonly string[]): WiredNetwork {
    requires('ip', 'npm run setup:system');
    requires('ethtool', 'npm run setup:system');
    const network = new WiredNetwork();
    onTestFinished(() => network.remove());
    try {
      for (const label of labels) network.#add(label);
    } catch (error) {
      if (error instanceof PairRefused) limit(error.message);
      throw error;
    }
    return network;
  }

  #add(label: string): void {
    const name = uniqueName(label);
    addNamespace(name);
    this.#names.set(label, name);
    this.run(label, IP, 'link', 'set', 'lo', 'up');
  }

  /** The full name of a namespace. */
  namespace(label: string): string {
    const name = this.#names.get(label);
    if (name === undefined) throw new TypeError(`there is no namespace ${label}`);
    return name;
  }

  /** Joins two interfaces. Addresses are given to ends that have one; these ends get all checksums from software. */
  cable(left: CableEnd, right: CableEnd): void {
    const [from, to] = [left, right].map((end) => ({ ...end, namespace: this.namespace(end.at) }));
    const of = (end: CableEnd): string[] => [
      end.interface,
      ...(end.mac === undefined ? [] : ['address', end.mac]),
      'mtu',
      String(end.mtu ?? 1500),
      ...(end.queues === undefined ? [] : ['numtxqueues', `${end.queues}`, 'numrxqueues', `${end.queues}`]),
    ];
    this.#ip([
      '-n',
      from!.namespace,
      'link',
      'add',
      ...of(left),
      'type',
      'veth',
      'peer',
      'name',
      ...of(right),
      'netns',
      to!.namespace,
    ]);
    for (const end of [left, right]) {
      if (end.address !== undefined) this.run(end.at, IP, 'address', 'add', end.address, 'dev', end.interface);
      this.run(end.at, IP, 'link', 'set', end.interface, 'up');
      this.run(end.at, 'ethtool', '-K', end.interface, 'tx', 'off', 'gso', 'off', 'gro', 'off');
    }
  }

  /** The command line that runs something in a namespace. */
  at(label: string, ...command: readonly string[]): string[] {
    return [IP, 'netns', 'exec', this.namespace(label), ...command];
  }

  /** Runs a command in a namespace. @returns what it prints @throws Error with what it says */
  run(label: string, ...command: readonly string[]): string {
    return this.#ip(['netns', 'exec', this.namespace(label), ...command]);
  }

  #ip(args: readonly string[]): string {
    const { status, stdout, stderr, error } = spawnSync(IP, args, { encoding: 'utf8', timeout: 30_000 });
    if (status === 0) return stdout;
    const text = `${args.join(' ')}: ${stderr}${error?.message ?? ''}`;
    if (/not permitted|denied|Unknown device type|not supported/i.test(stderr) && args.includes('link')) {
      throw new PairRefused(`network interfaces cannot be made here (${stderr.split('\n')[0]})`);
    }
    throw new Error(text);
  }

  remove(): void {
    for (const name of this.#names.values()) removeNamespace(name);
  }
}
