import type { Incident, Phase } from '../incident/incident.js';

const HOSTS = 4096;
const WEEK_MS = 7 * 86_400_000;
/** The order in which an attack goes through them. */
const ORDER: readonly Phase[] = [
  'reconnaissance',
  'discovery',
  'initial-access',
  'lateral-movement',
  'command-and-control',
  'exfiltration',
  'impact',
];

/** What speaks for a phase at a host. */
export interface PhaseEvidence {
  readonly phase: Phase;
  /** The strongest confidence of the last seven days. */
  readonly evidence: number;
  readonly incident: string;
  readonly timeMs: number;
  readonly otherwise: readonly string[];
}

/** Phases seen at one host: a hypothesis, no proof. */
export interface HostPhases {
  readonly host: string;
  /** In the order of time. */
  readonly phases: readonly PhaseEvidence[];
  /** Sum of the evidence; a phase that follows an earlier one in order counts twice. Times the level of the host. */
  readonly score: number;
  readonly level: number;
}

/** Phases by host, from incidents of the last seven days. */
export class HostsByPhase {
  /** Hosts for which there was no room. */
  untracked = 0;
  readonly #hosts = new Map<string, Map<Phase, PhaseEvidence>>();
  readonly #levelOf: (host: string) => number;

  /** @param levelOf the security level of a host: its weight */
  constructor(levelOf: (host: string) => number) {
    this.#levelOf = levelOf;
  }

  add(incident: Incident): void {
    const { phase, entity } = incident;
    if (phase === null || !entity.startsWith('host:')) return;
    const host = entity.slice('host:'.length);
    let phases = this.#hosts.get(host);
    if (phases === undefined) {
      if (this.#hosts.size >= HOSTS && !this.#forgetOld(incident.from)) {
        this.untracked++;
        return;
      }
      phases = new Map();
      this.#hosts.set(host, phases);
    }
    const known = phases.get(phase);
    if (known !== undefined && known.evidence >= incident.confidence && incident.from - known.timeMs <= WEEK_MS) return;
    const { confidence: evidence, id, from: timeMs, otherwise } = incident;
    phases.set(phase, { phase, evidence, incident: id, timeMs, otherwise });
  }

  /** Hosts with phases, the highest score first. */
  hosts(timeMs: number): readonly HostPhases[] {
    return Array.from(this.#hosts, ([host, phases]) => this.#rate(host, phases, timeMs))
      .filter(({ phases }) => phases.length > 0)
      .sort((a, b) => b.score - a.score);
  }

  #rate(host: string, all: ReadonlyMap<Phase, PhaseEvidence>, timeMs: number): HostPhases {
    const phases = [...all.values()]
      .filter((each) => timeMs - each.timeMs <= WEEK_MS)
      .sort((a, b) => a.timeMs - b.timeMs);
    const level = this.#levelOf(host);
    let score = 0;
    phases.forEach(({ phase, evidence }, index) => {
      const before = phases.slice(0, index);
      const isInOrder = before.some((each) => ORDER.indexOf(each.phase) < ORDER.indexOf(phase));
      score += isInOrder ? 2 * evidence : evidence;
    });
    return { host, phases, score: score * level, level };
  }

  #forgetOld(timeMs: number): boolean {
    for (const [host, phases] of this.#hosts) {
      if ([...phases.values()].every((each) => timeMs - each.timeMs > WEEK_MS)) this.#hosts.delete(host);
    }
    return this.#hosts.size < HOSTS;
  }
}
