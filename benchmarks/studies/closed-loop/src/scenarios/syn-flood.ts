/** A SYN flood from a prefix, beside clients that are welcome; one of them, in half of the seeds, with an address of that prefix. */
import { browse, synFlood as flood, HOSTS, type HostName, type VirtualLoop } from '@int/example-closed-loop';
import { msToNote, playScene, type Scene, type Values } from './scenario.js';

const KINDS = ['block', 'limit'];
const CALM_SECONDS = 2;
const FLOOD_SECONDS = 8;
const AFTER_SECONDS = 7;
const WINDOW_MS = 250;
const BOUND = 0.1;
/** Ends of the addresses of clients in the prefix: no source of the flood. */
const GUEST = '203.0.113.252';
const MOST_SOURCES = 250;

export const synFlood = (seed: number): Promise<Values> => playScene('syn-flood', seed, 4, play);

async function play({ loop, random }: Scene): Promise<Values> {
  const { fabric } = loop;
  const victim: HostName = random.integer(2) === 0 ? 'web' : 'files';
  if (random.integer(2) === 0) browse(fabric, 'outside', victim, 2e8, GUEST);
  await loop.seconds(CALM_SECONDS);
  const counts = new Counts(loop, victim);
  const beganMs = loop.nowMs;
  const stop = flood(fabric, victim, 150 + 650 * random.uniform(), 20 + random.integer(MOST_SOURCES - 20));
  await loop.seconds(FLOOD_SECONDS);
  stop();
  const endedMs = loop.nowMs;
  const shares = counts.harmfulShares();
  await loop.seconds(AFTER_SECONDS);
  const lastHarmful = shares.findLastIndex((share) => share >= BOUND);
  const isInForce = loop.controller.loop.intents.some(({ kind }) => KINDS.includes(kind));
  const removed = loop.notes.findLast(
    ({ proposal, what }) => what === 'expired' && KINDS.some((kind) => proposal?.startsWith(`${kind}-`) === true),
  );
  return {
    blocked: msToNote(loop, beganMs, KINDS, 'installed'),
    harmfulBelow: lastHarmful === shares.length - 1 ? null : (lastHarmful + 1) * WINDOW_MS,
    benignLoss: counts.benignLoss(),
    renewed: loop.notes.filter(({ atMs, what }) => what === 'renewed' && atMs < endedMs).length,
    removed: isInForce || removed === undefined ? null : Math.max(0, removed.atMs - endedMs),
  };
}

/** Packets to the victim, at the link that they come in by and at the victim's. */
class Counts {
  readonly #sent: number[] = [];
  readonly #harmful: number[] = [];
  #benignSent = 0;
  #benignReceived = 0;

  constructor({ fabric: { network, links } }: VirtualLoop, victim: HostName) {
    const fromNs = network.nowNs;
    const [address] = HOSTS[victim].addresses;
    const isHarmful = (frame: Uint8Array): boolean =>
      sourceOf(frame).startsWith('203.0.113.') && sourceOf(frame) !== GUEST;
    const count = (windows: number[], timeNs: number): void => {
      const window = Math.floor((timeNs - fromNs) / (1e6 * WINDOW_MS));
      windows[window] = (windows[window] ?? 0) + 1;
    };
    for (const [name, { leaf }] of Object.entries(HOSTS)) {
      if (name === 'collector') continue;
      network.tap(links.get(`leaf${leaf}:${name}`)!, 'ba', (frame, timeNs) => {
        if (destinationOf(frame) !== address) return;
        if (isHarmful(frame)) count(this.#sent, timeNs);
        else this.#benignSent++;
      });
    }
    network.tap(links.get(`leaf${HOSTS[victim].leaf}:${victim}`)!, 'ab', (frame, timeNs) => {
      if (isHarmful(frame)) count(this.#harmful, timeNs);
      else this.#benignReceived++;
    });
  }

  /** Of the harmful packets of each window, the share that reaches the victim. */
  harmfulShares(): number[] {
    return this.#sent.map((sent, window) => (this.#harmful[window] ?? 0) / sent);
  }

  /** A packet that is on its way when one looks is no loss worth mentioning: it counts as one. */
  benignLoss(): number {
    return 1 - this.#benignReceived / this.#benignSent;
  }
}

const addressAt = (frame: Uint8Array, at: number): string => frame.subarray(at, at + 4).join('.');
const sourceOf = (frame: Uint8Array): string => addressAt(frame, 26);
const destinationOf = (frame: Uint8Array): string => addressAt(frame, 30);
