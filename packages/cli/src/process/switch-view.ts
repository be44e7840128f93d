import type { FlowWindow, LinkWindow, NetworkWindow, SwitchWindow } from '@int/stream-kafka';
import type { KnownNetwork } from '../network/known-network.js';
import { measured } from '../network/measured-text.js';
import { compact } from '../output/numbers.js';

/** Time without windows after which a switch's row is removed, in the time of the reports. */
const FORGET_NS = 30_000_000_000n;
const WIDTHS = [12, 9, 9, 9, 9, 9, 12, 11] as const;
const HEADINGS = ['switch', 'reports', 'lat mean', 'p50', 'p99', 'max', 'queue mean', 'max'] as const;

function row(cells: readonly string[]): string {
  return cells.map((cell, index) => cell.padStart(WIDTHS[index] ?? 0)).join(' ');
}

/** The latest window of each switch, as a table. */
export class SwitchView {
  readonly #network: KnownNetwork;
  readonly #latest = new Map<number, SwitchWindow>();
  #latestStart = 0n;

  /** @param network units and names */
  constructor(network: KnownNetwork) {
    this.#network = network;
  }

  take(window: FlowWindow | NetworkWindow | LinkWindow): void {
    if (window.type !== 'switchWindow') return;
    const start = BigInt(window.startNs);
    const before = this.#latest.get(window.nodeId);
    if (before !== undefined && BigInt(before.startNs) > start) return;
    this.#latest.set(window.nodeId, window);
    if (start <= this.#latestStart) return;
    this.#latestStart = start;
    for (const [node, { startNs }] of this.#latest) if (BigInt(startNs) < start - FORGET_NS) this.#latest.delete(node);
  }

  /** A heading and a line per switch; empty without switches. */
  lines(): string[] {
    const switches = [...this.#latest.values()].sort((a, b) => a.nodeId - b.nodeId);
    return switches.length === 0 ? [] : [row(HEADINGS), ...switches.map((one) => switchLine(one, this.#network))];
  }
}

function switchLine({ nodeId, reports, latency, queues }: SwitchWindow, network: KnownNetwork): string {
  const { device, topology } = network;
  const mean = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);
  const occupancies = queues.flatMap(({ occupancy }) => occupancy ?? []);
  const sum = occupancies.reduce((total, one) => total + one.sum, 0);
  const count = occupancies.reduce((total, one) => total + one.count, 0);
  const time = (value: number | null): string => measured(device, 'hopLatency', value, nodeId);
  const queue = (value: number | null): string => measured(device, 'queueOccupancy', value, nodeId);
  const persistent = queues.filter(({ status }) => status === 'persistent').map(({ queueId }) => queueId);
  const line = row([
    topology.switchText(nodeId),
    compact(reports),
    time(latency === null ? null : mean(latency.sum, latency.count)),
    time(latency?.p50 ?? null),
    time(latency?.p99 ?? null),
    time(latency?.max ?? null),
    queue(mean(sum, count)),
    queue(occupancies.length === 0 ? null : Math.max(...occupancies.map(({ max }) => max))),
  ]);
  return persistent.length === 0 ? line : `${line}  congested: queue ${persistent.join(', ')}`;
}
