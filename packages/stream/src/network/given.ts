/** Windows of the network that were emitted, and are kept to be corrected. */
import type { NetworkPartial } from '../model/partial.js';
import type { LinkWindow, NetworkWindow, QueueWindow, SwitchWindow } from '../model/window.js';
import { nanosecondText } from '../time.js';
import { LinkCounts, QueueCounts, SwitchCounts } from './counts.js';

/** A queue in one window. */
export interface GivenQueue {
  readonly queueId: number;
  readonly counts: QueueCounts;
  readonly status: QueueWindow['status'];
}

/** Prefix of the ids of a switch's windows. */
export function switchName(nodeId: number): string {
  return `switch-${nodeId}`;
}

/** Prefix of the ids of a link's windows. */
export function linkName(from: number, to: number): string {
  return `link-${from}-${to}`;
}

interface GivenSwitch {
  readonly nodeId: number;
  readonly counts: SwitchCounts;
  readonly late: number;
  readonly queues: Map<number, GivenQueue>;
  /** How often it was emitted. */
  revision: number;
}

interface GivenLink {
  readonly link: readonly [number, number];
  readonly counts: LinkCounts;
  readonly late: number;
  revision: number;
}

/** One window of time. */
interface Given {
  complete: boolean;
  readonly switches: Map<number, GivenSwitch>;
  readonly links: Map<string, GivenLink>;
  readonly changed: Set<GivenSwitch | GivenLink>;
}

/**
 * The windows that were emitted last. Late contents are added to them, and they are emitted again. They are in memory
 * only: a restored side has none.
 */
export class GivenWindows {
  readonly #windowUs: number;
  readonly #capacity: number;
  readonly #give: (window: NetworkWindow) => void;
  readonly #windows = new Map<number, Given>();
  #count = 0;

  /**
   * @param capacity most switches, links and queues in all windows together; beyond it, the earliest windows are
   *   dropped
   */
  constructor(windowUs: number, capacity: number, give: (window: NetworkWindow) => void) {
    this.#windowUs = windowUs;
    this.#capacity = capacity;
    this.#give = give;
  }

  /** Begins a window. Windows begin in ascending order, and each is filled before the next one begins. */
  begin(window: number, complete: boolean): void {
    this.#windows.set(window, { complete, switches: new Map(), links: new Map(), changed: new Set() });
  }

  addSwitch(window: number, nodeId: number, counts: SwitchCounts, late: number, queues: readonly GivenQueue[]): void {
    const given = this.#windows.get(window)!;
    const one = this.#switchOf(given, nodeId, counts, late);
    for (const queue of queues) one.queues.set(queue.queueId, queue);
    this.#count += queues.length;
    this.#show(window, given, one);
  }

  addLink(window: number, link: readonly [number, number], counts: LinkCounts, late: number): void {
    const given = this.#windows.get(window)!;
    this.#show(window, given, this.#linkOf(given, link, counts, late));
  }

  /** Drops windows before `window`, and the earliest ones if there are too many. Their changes are emitted before. */
  keepFrom(window: number): void {
    for (const [number, given] of this.#windows) {
      if (number >= window && this.#count <= this.#capacity) break;
      const { switches, links } = given;
      this.#reviseOne(number, given);
      this.#windows.delete(number);
      this.#count -= links.size;
      for (const { queues } of switches.values()) this.#count -= 1 + queues.size;
    }
  }

  /** Whether a window is kept. */
  has(window: number): boolean {
    return this.#windows.has(window);
  }

  /** Marks the windows from `from` to `to - 1` as incomplete. Those emitted as complete are to be emitted again. */
  break(from: number, to: number): void {
    for (const [window, given] of this.#windows) {
      if (window < from || window >= to || !given.complete) continue;
      given.complete = false;
      for (const one of [...given.switches.values(), ...given.links.values()]) given.changed.add(one);
    }
  }

  /** Adds late contents to a kept window. */
  merge(window: number, partial: NetworkPartial): void {
    const given = this.#windows.get(window)!;
    for (const part of partial.switches) {
      const one = this.#switchOf(given, part.nodeId);
      one.counts.merge(part);
      given.changed.add(one);
    }
    for (const part of partial.queues) {
      const one = this.#switchOf(given, part.nodeId);
      let queue = one.queues.get(part.queueId);
      if (queue === undefined) {
        queue = { queueId: part.queueId, counts: new QueueCounts(), status: 'clear' };
        one.queues.set(part.queueId, queue);
        this.#count++;
      }
      queue.counts.merge(part);
      given.changed.add(one);
    }
    for (const part of partial.links) {
      const one = this.#linkOf(given, [part.from, part.to]);
      one.counts.merge(part);
      one.counts.flows = Math.max(one.counts.flows, part.flows.length / 2);
      given.changed.add(one);
    }
  }

  #switchOf(given: Given, nodeId: number, counts = new SwitchCounts(), late = 0): GivenSwitch {
    let one = given.switches.get(nodeId);
    if (one === undefined) {
      one = { nodeId, counts, late, queues: new Map(), revision: 0 };
      given.switches.set(nodeId, one);
      this.#count++;
    }
    return one;
  }

  #linkOf(given: Given, link: readonly [number, number], counts = new LinkCounts(), late = 0): GivenLink {
    let one = given.links.get(link.join());
    if (one === undefined) {
      one = { link, counts, late, revision: 0 };
      given.links.set(link.join(), one);
      this.#count++;
    }
    return one;
  }

  /** Emits the changed windows again. */
  revise(): void {
    for (const [window, given] of this.#windows) this.#reviseOne(window, given);
  }

  #reviseOne(window: number, given: Given): void {
    for (const one of given.changed) this.#show(window, given, one);
    given.changed.clear();
  }

  #show(window: number, { complete }: Given, one: GivenSwitch | GivenLink): void {
    const startUs = window * this.#windowUs;
    const [startNs, endNs] = [nanosecondText(startUs), nanosecondText(startUs + this.#windowUs)];
    const base = { revision: one.revision++, complete, startNs, endNs };
    this.#give('link' in one ? linkWindow(one, startUs, base) : switchWindow(one, startUs, base));
  }
}

type Base = Pick<NetworkWindow, 'revision' | 'complete' | 'startNs' | 'endNs'>;

function switchWindow({ nodeId, counts, late, queues }: GivenSwitch, startUs: number, base: Base): SwitchWindow {
  return {
    type: 'switchWindow',
    id: `${switchName(nodeId)}-${startUs}`,
    ...base,
    nodeId,
    reports: counts.reports,
    late,
    lastSeenNs: nanosecondText(counts.lastSeenUs || startUs),
    latency: counts.latency(),
    queues: [...queues.values()]
      .map(({ queueId, counts: queue, status }) => ({
        queueId,
        occupancy: queue.occupancy(),
        congested: queue.congested,
        status,
      }))
      .sort((a, b) => a.queueId - b.queueId),
  };
}

function linkWindow({ link, counts, late }: GivenLink, startUs: number, base: Base): LinkWindow {
  return {
    type: 'linkWindow',
    id: `${linkName(...link)}-${startUs}`,
    ...base,
    link,
    packets: counts.packets,
    late,
    flows: counts.flows,
    lastSeenNs: nanosecondText(counts.lastSeenUs || startUs),
  };
}
