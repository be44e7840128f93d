/** Network namespaces for hosts, with a cable to a switch each: made by `ip`, gone with the command. */
import { isIPv6 } from 'node:net';
import type { NamespaceHost } from './fabric.js';
import { command } from './ip-command.js';
import { ownerMark, removeLeftovers } from './leftovers.js';

/** The hosts' namespaces, as long as the command runs. */
export class HostNamespaces {
  readonly #made: string[] = [];
  /** Ends of cables on this side: they go with their namespaces, unless one could not be made. */
  readonly #cables: string[] = [];

  /** Name of the interface on the switch's side of a host's cable. */
  static cableOf({ name }: NamespaceHost): string {
    return `p4-${name}`;
  }

  /**
   * Makes a namespace per host, joined to this one by a cable. Those of runs that were killed are removed before.
   * @param tell prints a message
   * @throws CliError (rejects) if that is not possible; what was made is then removed
   */
  async make(hosts: readonly NamespaceHost[], tell: (message: string) => void): Promise<void> {
    if (hosts.length === 0) return;
    for (const name of await removeLeftovers(hosts.map(({ namespace }) => namespace))) {
      tell(`removed namespace ${name}, which a run that was killed had left`);
    }
    try {
      for (const host of hosts) await this.#make(host);
      for (const host of hosts) if (host.knowsNeighbours) await this.#introduce(host, hosts);
    } catch (error) {
      await this.remove();
      throw error;
    }
  }

  async #make(host: NamespaceHost): Promise<void> {
    const { namespace, interface: name, address, mac, mtu } = host;
    const cable = HostNamespaces.cableOf(host);
    if (!this.#made.includes(namespace)) {
      await command('ip', 'netns', 'add', namespace);
      this.#made.push(namespace);
      await command('ip', '-n', namespace, 'link', 'set', 'lo', 'alias', ownerMark(namespace));
      await command('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
    }
    const peer = ['peer', 'name', name, 'address', mac, 'mtu', String(mtu), 'netns', namespace];
    await command('ip', 'link', 'add', cable, 'mtu', String(Math.max(1500, mtu)), 'type', 'veth', ...peer);
    this.#cables.push(cable);
    await command('ip', 'link', 'set', cable, 'alias', ownerMark(namespace));
    const family = isIPv6(address.split('/')[0]!) ? ['nodad'] : [];
    await command('ip', '-n', namespace, 'address', 'add', address, 'dev', name, ...family);
    await command('ip', '-n', namespace, 'link', 'set', name, 'up');
    await command('ip', 'link', 'set', cable, 'up');
    // A switch sees what is on the wire: whole checksums, and no segments that a card was to cut.
    const offloads = ['tx', 'off', 'tso', 'off', 'gso', 'off', 'gro', 'off'];
    await command('ip', 'netns', 'exec', namespace, 'ethtool', '-K', name, ...offloads);
  }

  /** Writes down the MAC addresses of all other hosts of the same family. */
  async #introduce(
    { namespace, interface: name, address }: NamespaceHost,
    hosts: readonly NamespaceHost[],
  ): Promise<void> {
    const [own] = address.split('/') as [string];
    for (const other of hosts) {
      const [there] = other.address.split('/') as [string];
      if (there === own || isIPv6(there) !== isIPv6(own)) continue;
      const entry = ['neighbour', 'replace', there, 'lladdr', other.mac, 'dev', name, 'nud', 'permanent'];
      await command('ip', '-n', namespace, ...entry);
    }
  }

  /** Removes what was made. Never fails: what is gone already is gone. */
  async remove(): Promise<void> {
    for (const namespace of this.#made.splice(0)) await command('ip', 'netns', 'delete', namespace).catch(() => {});
    for (const cable of this.#cables.splice(0)) await command('ip', 'link', 'delete', cable).catch(() => {});
  }
}
