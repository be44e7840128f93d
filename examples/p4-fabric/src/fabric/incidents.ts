/** Faults that happen to a fabric on purpose, one after the other, so that there is something to find. */
import type { Wakeable } from '@int/netsim';
import { NODE_IDS, PORTS } from './commands.js';
import { type Fabric, linkOf } from './network.js';
import type { Traffic } from './traffic.js';

/** What happens, for whoever looks at the network. */
export interface Incident {
  readonly text: string;
  /** What it is about, as the dashboard names it. */
  readonly entity: string;
  readonly durationMs: number;
}

interface Fault extends Incident {
  begin(): void;
  end?(): void;
  /** Goes on: called every {@link STEP_NS} while it lasts. */
  step?(): void;
}

const FIRST_NS = 10e9;
const EVERY_NS = 30e9;
const STEP_NS = 20e6;
/** Arguments of {@link Incidents.wake}. */
const WAKE = { BEGIN: 0, STEP: 1 } as const;

/** Places of the fabric that the faults are at: leaf and spine indices from 0. */
const VICTIM = { leaf: 1, host: 0 } as const;

/** A burst, a failing link, a loop and a noisy neighbour in turn, one every half minute of the network's time. */
export class Incidents implements Wakeable {
  readonly #fabric: Fabric;
  readonly #tell: (incident: Incident) => void;
  readonly #faults: readonly Fault[];
  #next = 0;
  #endNs = 0;

  constructor(fabric: Fabric, traffic: Traffic, tell: (incident: Incident) => void) {
    this.#fabric = fabric;
    this.#tell = tell;
    this.#faults = [burst(fabric, traffic), failingLink(fabric), loop(fabric), noisyNeighbour(fabric, traffic)];
    fabric.network.schedule(FIRST_NS, this, WAKE.BEGIN);
  }

  /** The network calls this. */
  wake(argument: number): void {
    const { network } = this.#fabric;
    const fault = this.#faults[this.#next % this.#faults.length]!;
    if (argument === WAKE.BEGIN) {
      this.#endNs = network.nowNs + fault.durationMs * 1e6;
      fault.begin();
      this.#tell({ text: fault.text, entity: fault.entity, durationMs: fault.durationMs });
    } else fault.step?.();
    if (network.nowNs + STEP_NS < this.#endNs) {
      network.schedule(network.nowNs + STEP_NS, this, WAKE.STEP);
      return;
    }
    fault.end?.();
    this.#next++;
    network.schedule(FIRST_NS + this.#next * EVERY_NS, this, WAKE.BEGIN);
  }
}

/** Hosts of all other leaves send to one at the same time. */
function burst(fabric: Fabric, traffic: Traffic): Fault {
  const to = fabric.hosts[VICTIM.leaf]![VICTIM.host]!;
  const senders = fabric.hosts.filter((_, leaf) => leaf !== VICTIM.leaf).map((hosts) => hosts[1]!);
  const send = (): void => {
    for (const from of senders) traffic.add({ from, to, sourcePort: 20_000, packets: 60 });
  };
  return {
    text: `A burst: hosts of ${senders.length} leaves send to host ${VICTIM.host + 1} of leaf 2 at once. Queues on the way fill; an event tells who shared them.`,
    entity: `switch:${NODE_IDS.leaf(VICTIM.leaf)}`,
    durationMs: 1000,
    begin: send,
    step: send,
  };
}

function failingLink(fabric: Fabric): Fault {
  const link = linkOf(fabric, 'leaf3:spine2')!;
  return {
    text: 'The link between leaf 3 and spine 2 fails for six seconds. The flows that use it stop; the map shows it red.',
    entity: `link:${NODE_IDS.leaf(2)}:${PORTS.up(1)}-${NODE_IDS.spine(1)}:${PORTS.down(2)}`,
    durationMs: 6000,
    begin: () => link.fail(),
    end: () => link.repair(),
  };
}

/** A spine sends what is for leaf 2 to leaf 3, which sends a half of it back. */
function loop(fabric: Fabric): Fault {
  const spine = fabric.spines[0]!;
  // The route of each leaf is the entry with its number.
  const route = (leaf: number): void => {
    const line = `table_modify IntIngress.forward_ipv4 IntIngress.forward ${VICTIM.leaf} => ${PORTS.down(leaf)}`;
    const { error } = spine.machine.command(line);
    if (error !== undefined) throw new Error(`${line}: ${error.message}`);
  };
  return {
    text: 'A loop: spine 1 sends what is for leaf 2 to leaf 3, which sends a half of it back until it dies. The rest takes a detour.',
    entity: `switch:${NODE_IDS.spine(0)}`,
    durationMs: 1000,
    begin: () => route(2),
    end: () => route(VICTIM.leaf),
  };
}

/** One host fills a queue every few milliseconds, and all that share it wait. */
function noisyNeighbour(fabric: Fabric, traffic: Traffic): Fault {
  const from = fabric.hosts[0]![2]!;
  const to = fabric.hosts[3]![2]!;
  const send = (): void => traffic.add({ from, to, sourcePort: 30_000, packets: 50 });
  return {
    text: 'A noisy neighbour: host 3 of leaf 1 fills the queue towards spine 2 again and again. Others wait behind it.',
    entity: `queue:${NODE_IDS.leaf(0)}/0`,
    durationMs: 5000,
    begin: send,
    step: send,
  };
}
