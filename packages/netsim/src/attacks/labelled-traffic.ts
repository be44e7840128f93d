import { Random } from '@int/random';
import { ATTACKS } from './attacks.js';
import { background } from './background.js';
import { Conversations } from './conversation.js';
import type { AttackKind, LabelledPacket, Truth } from './packet.js';

const MINUTE_MS = 60_000;
/** One way through the network. */
const DELAY_MS = 0.8;

/** How {@link labelledTraffic} is set up. */
export interface LabelledTrafficOptions {
  readonly kind: AttackKind;
  readonly seed: number;
  /** Length of it all. Default 300 s. */
  readonly seconds?: number;
  /** When the attack begins. Default: after two fifths. */
  readonly attackFrom?: number;
  /** How long it goes on, in seconds. Default: a fifth. */
  readonly attackSeconds?: number;
  /** Connections a second of harmless hosts. Default 20. */
  readonly connectionsPerSecond?: number;
  /** Whether they are fewer at night. Default false. */
  readonly isSeasonal?: boolean;
  /** Of a beacon: share of its period by which it varies, 0 to 1. Default 0.1. */
  readonly jitter?: number;
  /** Milliseconds since the epoch at which it begins. Default 1,700,000,000,000. */
  readonly startMs?: number;
}

/** A scenario: its truth, and its packets in the order of time. */
export interface LabelledTraffic {
  readonly truth: readonly Truth[];
  /** Made while they are read, a minute at a time. */
  readonly packets: Iterable<LabelledPacket>;
}

/**
 * Packets of an office with an attack in it, or with something harmless that looks like one. The same seed gives the
 * same packets. Times are as at a switch in front of the servers, which sees both directions.
 */
export function labelledTraffic(options: LabelledTrafficOptions): LabelledTraffic {
  const { kind, seed, seconds = 300, connectionsPerSecond = 20, isSeasonal = false, jitter = 0.1 } = options;
  const { startMs = 1_700_000_000_000, attackFrom = 0.4 * seconds, attackSeconds = 0.2 * seconds } = options;
  const random = new Random(seed).derive(kind);
  const attack = new Conversations(random.derive('attack-delays'), DELAY_MS);
  const fromMs = startMs + 1000 * attackFrom;
  const truth = ATTACKS[kind](attack, random.derive('attack'), fromMs, fromMs + 1000 * attackSeconds, jitter);
  attack.packets.sort((a, b) => a.timeMs - b.timeMs);
  const office = random.derive('office');
  const endMs = startMs + 1000 * seconds;
  return {
    truth,
    packets: {
      *[Symbol.iterator]() {
        let rest: LabelledPacket[] = attack.packets;
        for (let minute = 0, at = startMs; at < endMs; minute++, at += MINUTE_MS) {
          const until = Math.min(endMs, at + MINUTE_MS);
          const into = new Conversations(office.derive('delays', minute), DELAY_MS);
          background(into, office.derive('minute', minute), at, until, connectionsPerSecond, isSeasonal);
          rest = merge(
            rest,
            into.packets.sort((a, b) => a.timeMs - b.timeMs),
          );
          let count = rest.findIndex(({ timeMs }) => timeMs >= until);
          if (count < 0) count = rest.length;
          yield* rest.slice(0, count);
          rest = rest.slice(count);
        }
        yield* rest;
      },
    },
  };
}

function merge(a: readonly LabelledPacket[], b: readonly LabelledPacket[]): LabelledPacket[] {
  const all: LabelledPacket[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (j >= b.length || (i < a.length && a[i]!.timeMs <= b[j]!.timeMs)) all.push(a[i++]!);
    else all.push(b[j++]!);
  }
  return all;
}
